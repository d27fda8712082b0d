"""The answer of a turn as blocks: text, calls with their results, what went wrong."""

from collections.abc import Iterator

from turntape.cassettes.tape.model import Failure

from ....analysis.pictures import pictures_of
from ....analysis.schema_notes import schema_notes
from ....run.detail import Detail
from ....run.rows import Rows
from ....wire.printable import safe
from ....wire.values import Emission, ToolCall
from ...text.picture_words import picture_words
from ..formatting import several
from .blocks import Block
from .message_blocks import call_body, result_title
from .picture_lines import with_pictures
from .sections import gap, rule
from .text_lines import prose
from .tool_blocks import run_block, runs_of_call

CALL, RESULT = 16, 6
"""Lines of the arguments of a call, and of a result, that are shown before it is opened."""


def answer_blocks(
    detail: Detail, rows: Rows, place: int, *, joined: bool = True, whole: bool = True
) -> Iterator[Block]:
    """The answer; with `joined`, each call is followed by its result, which the next request contains.

    Without `whole` it is an answer that is still arriving: what it lacks is not a fault.
    """
    yield gap("answer")
    note = "streamed" if detail.row.streamed else ""
    yield Block("answer", rule("answer", note, "accent"), None, anchors=("answer", "/answer"))
    emission = detail.reading.emission
    if emission is None:
        return
    yield from _texts(emission)
    after = rows.after(place)
    for number, call in enumerate(emission.calls):
        yield _call_block(detail, number, call, whole=whole)
        if joined:
            yield _result_block(detail, number, call, after, rows)
            yield from (run_block(run, indent=4) for run in runs_of_call(detail.row, number, call.id))
    for number, call in enumerate(emission.server_calls):
        title = [("⚙ ", "api"), (safe(call.name), "bold"), ("  run by the API itself", "dim")]
        yield Block(f"server:{number}", title, call_body(call, {}), indent=2)
    names = {call.id: call.name for call in emission.server_calls}
    for number, result in enumerate(emission.server_results):
        body = prose(result.text, "bad" if result.is_error else "plain")
        title = result_title(result, names.get(result.call_id))
        yield Block(f"server-result:{number}", title, body, open=False, preview=RESULT, indent=4)
    for number, picture in enumerate(pictures_of(emission.content)):
        title = [("picture or file", "model"), (f"  {picture_words(picture)}", "dim")]
        yield Block(f"answer:picture:{number}", title, with_pictures([picture], lambda width: ()), indent=2)
    yield from _later_choices(emission)
    if whole:
        yield from _problems(detail, emission)


def _later_choices(emission: Emission) -> Iterator[Block]:
    """The texts of all choices but the first; their calls are among the calls of the answer."""
    for choice in emission.choices[1:]:
        name = f"choice {choice.index + 1} of {len(emission.choices)}"
        title = [(name, "bold"), (f"  {safe(choice.finish_raw or 'no finish word')}", "dim")]
        shown = "\n\n".join(text for text in (choice.reasoning, choice.refusal or choice.text) if text)
        yield Block(f"answer:choice:{choice.index}", title, prose(shown), open=False, preview=RESULT, indent=2)


def _texts(emission: Emission) -> Iterator[Block]:
    if emission.reasoning:
        title = [("reasoning", "reasoning"), (f"  {several(len(emission.reasoning), 'character')}", "dim")]
        yield Block("answer:reasoning", title, prose(emission.reasoning, "dim"), open=False, preview=3, indent=2)
    if emission.refusal:
        yield Block("answer:refusal", [("refusal", "warn")], prose(emission.refusal), indent=2)
    if emission.text:
        yield Block("answer:text", (), prose(emission.text), open=True, indent=2, anchors=("answer/text",))


def _problems(detail: Detail, emission: Emission) -> Iterator[Block]:
    """How the answer ended, according to the API and the recording."""
    reading, failure = detail.reading, detail.round_trip.failure
    if emission.emitted in ("empty", "none"):
        said = reading.error.message if reading.error else None
        what = said if said is not None and not _says(failure, said) else "nothing was emitted"
        yield Block("answer:nothing", (), prose(what, "bad" if reading.error else "warn"), indent=2)
    if reading.finish is not None and (detail_ := reading.finish.detail) and not _says(failure, detail_):
        yield Block("answer:detail", (), prose(f"why: {detail_}", "dim"), indent=2)
    for number, problem in enumerate((*reading.problems, *reading.usage_problems)):
        yield Block(f"problem:{number}", (), prose(f"! {problem}", "warn"), indent=2)
    if failure is not None:
        yield Block("answer:failure", (), prose(f"{failure.kind}: {failure.message}", "bad"), indent=2)


def _says(failure: Failure | None, text: str) -> bool:
    """Whether the line of the failure has that text."""
    return failure is not None and failure.message == text


def _call_block(detail: Detail, number: int, call: ToolCall, *, whole: bool) -> Block:
    title = [("→ ", "model"), (safe(call.name or "?"), "bold"), (f"  {call.id or ''}", "dim")]
    # Arguments that are not complete are never checked: what is missing may still come, or was cut.
    notes = schema_notes(call, detail.reading.request.tools) if whole and call.complete else {}
    if whole and (problem := _incomplete(detail, call)):
        title.append((f"  {problem}", "bad"))
    if any(wrong for _, wrong in notes.values()):
        title.append(("  breaks its schema", "bad"))
    anchors = (f"answer/call/{number}", f"call {call.id or call.name}")
    return Block(f"call:{number}", title, call_body(call, notes), open=False, preview=CALL, indent=2, anchors=anchors)


def _incomplete(detail: Detail, call: ToolCall) -> str:
    """What is wrong with the arguments of a call as text."""
    if not call.complete or (detail.row.emitted == "partial_call" and call.arguments is None):
        return "cut off"
    return "not valid JSON" if call.arguments is None and call.arguments_raw else ""


def _result_block(detail: Detail, number: int, call: ToolCall, after: int | None, rows: Rows) -> Block:
    """The result of a call in the next request."""
    result = detail.results.get(number)
    if result is not None and after is not None:
        where = [*result_title(result, call.name), (f"  in turn {rows.all[after].turn}", "dim")]
        body = prose(result.text, "bad" if result.is_error else "plain")
        return Block(f"result:{number}", where, body, open=False, preview=RESULT, indent=4)
    if after is not None:
        title = [(f"← no result in turn {rows.all[after].turn}", "bad")]
        return Block(f"result:{number}", title, None, indent=4)
    return Block(f"result:{number}", [("← no later turn was recorded", "dim")], None, indent=4)
