"""The answer of a turn: its texts, its calls with their results, what went wrong."""

from collections.abc import Iterator

from ...run.detail import Detail
from ...run.rows import Rows
from ...wire.values import Emission, ToolCall
from ..text.number_format import several
from .markup import Html, span, tag
from .pictures import pictures
from .text_blocks import arguments, block, folded, result_block
from .tool_runs import runs_of_call

ANSWER = 6_000
"""An answer with at most this many characters is never folded."""


def answer(detail: Detail, rows: Rows, place: int) -> Html:
    """What came back for the request of the turn at `place`."""
    row, emission = detail.row, detail.reading.emission
    parts = [*_emitted(detail, emission, rows, place)] if emission is not None else []
    parts += _problems(detail)
    note = span("dim", "streamed" if row.streamed else "")
    return tag("section", tag("h3", "Answer ", note), *(parts or [tag("p", "no answer", class_="bad")]))


def _emitted(detail: Detail, emission: Emission, rows: Rows, place: int) -> Iterator[Html]:
    yield from _texts(emission)
    after = rows.after(place)
    for number, call in enumerate(emission.calls):
        yield _call(detail, number, call, after, rows)
    for call in emission.server_calls:
        head = [span("api", "⚙ "), call.name, span("dim", " run by the API itself")]
        yield tag("div", tag("div", *head), arguments(call), class_="call")
    names = {call.id: call.name for call in emission.server_calls}
    for result in emission.server_results:
        yield result_block(result, result.name or names.get(result.call_id) or "", " from the API itself")
    for part in emission.content:
        yield from pictures(part.raw)
    for choice in emission.choices[1:]:
        note = span("dim", f" of {len(emission.choices)}: {choice.finish_raw or 'no finish word'}")
        shown = "\n\n".join(text for text in (choice.reasoning, choice.refusal or choice.text) if text)
        yield folded([span("role", f"choice {choice.index + 1}"), note], block(shown, whole=True))
    if emission.emitted in ("empty", "none"):
        failure = detail.round_trip.failure
        error = None if failure is not None and failure.message == detail.row.error else detail.row.error
        yield tag("p", error or "nothing was emitted", class_="bad" if error else "warn")


def _texts(emission: Emission) -> Iterator[Html]:
    if emission.reasoning:
        note = span("dim", f" {several(len(emission.reasoning), 'character')}")
        yield folded([span("role", "reasoning"), note], block(emission.reasoning, whole=True))
    if emission.refusal:
        yield tag("div", span("warn", "refusal"), block(emission.refusal))
    if emission.text:
        yield tag("div", block(emission.text, whole=len(emission.text) <= ANSWER), class_="said")


def _problems(detail: Detail) -> Iterator[Html]:
    """How the answer ended, according to the API and the recording."""
    finish, failure = detail.reading.finish, detail.round_trip.failure
    if finish is not None and finish.detail and (failure is None or failure.message != finish.detail):
        yield tag("p", f"why: {finish.detail}", class_="dim")
    for problem in (*detail.reading.problems, *detail.reading.usage_problems):
        yield tag("p", f"! {problem}", class_="warn")
    if failure is not None:
        yield tag("p", f"{failure.kind}: {failure.message}", class_="bad")


def _call(detail: Detail, number: int, call: ToolCall, after: int | None, rows: Rows) -> Html:
    head = [span("model", "→ "), span("name", call.name), span("dim", f" {call.id or ''}")]
    if not call.complete:
        head.append(span("bad", " incomplete"))
    result = detail.results.get(number)
    if result is not None and after is not None:
        joint = result_block(result, call.name, f" in turn {rows.all[after].turn}")
    elif after is not None:
        joint = tag("p", f"← no result in turn {rows.all[after].turn}", class_="bad result")
    else:
        joint = tag("p", "← no later turn was recorded", class_="dim result")
    runs = runs_of_call(detail.row, number, call.id)
    return tag("div", tag("div", *head), arguments(call), joint, *runs, class_="call")
