"""Tools about one turn, and about the difference between two runs."""

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

from turntape.inspector.compare.run_diff import compare
from turntape.inspector.run.detail import Detail
from turntape.inspector.run.row import Row
from turntape.inspector.run.turn_label import money
from turntape.inspector.tools.run_words import WHOLE
from turntape.inspector.views.text.number_format import NO_COST
from turntape.inspector.views.text.terminal_text import plain
from turntape.inspector.views.text.tool_diff import as_returned, as_seen, cut_note, diff_lines
from turntape.inspector.views.text.tool_text import call_of, run_spans
from turntape.inspector.wire.json_value import as_array, as_object, compact
from turntape.inspector.wire.values import Message, Part, Tool, ToolCall

from .pages import clipped, joined, piece
from .pages import compact as small_json
from .tape_folder import TapeFolder

TurnPart = Literal["overview", "new", "messages", "system", "tools", "answer", "tool_runs", "raw_request", "raw_answer"]

_SHORT, _LONG = 400, 2_000
"""Characters of a message and of an answer in an overview."""
_MOST_NEW = 12
"""How many new parts an overview shows, the last ones."""
_VALUE = 300
"""Characters of a value that differs between two runs."""


def read_turn(folder: TapeFolder, address: str, part: TurnPart, offset: int, limit: int) -> str:
    """One part of a round trip as text, from a character on."""
    _, run, place = folder.find(address)
    text = joined(_PARTS[part](run.detail(place)))
    return piece(text, offset=offset, limit=limit) if text else "(nothing)"


def _overview(detail: Detail) -> Iterator[str]:
    row, reading, trip = detail.row, detail.reading, detail.round_trip
    turn = f"turn {row.turn} of {row.thread}, attempt {row.attempt}" if row.is_turn else "not a turn"
    yield f"#{row.index}  {turn}  {row.method} {row.url}"
    yield f"model {row.model or 'unknown'}, protocol {row.protocol}, status {row.status or 'no answer'}"
    if row.is_turn:
        yield ""
        yield f"NEW IN THE REQUEST ({_parts_count(detail)}; part=new has all, part=messages the whole history)"
        shown = [line for message in detail.new for line in _message(message, _SHORT)]
        yield from shown[-_MOST_NEW:]
        yield ""
        yield "MODEL"
        yield from _answer(detail, _LONG)
        yield f"API     finish {row.finish}" + (f" (said {row.finish_raw!r})" if row.finish_raw else "")
        if row.error:
            yield f"        error: {clipped(row.error, _SHORT)}"
        if trip.failure is not None:
            closer = f", {trip.closed_first} closed first" if trip.closed_first else ""
            yield f"        {trip.failure.kind}{closer}: {clipped(trip.failure.message, _SHORT)}"
        yield f"CLIENT  {row.outcome}, history {row.history}, {row.results} results, {row.failed_results} failed"
        for call, result in ((call, detail.results.get(at)) for at, call in enumerate(_calls(detail))):
            if result is not None:
                yield f"        result of {call.name}: {clipped(result.text, _SHORT)}"
        for run in row.tool_runs:
            yield f"TOOL    {plain(run_spans(run, number=True))}"
        cost = _cost(row)
        usage = row.usage
        yield f"TOKENS  {usage.input} in ({usage.cache_read} cached), {usage.output} out, {cost}"
    elif row.is_billed:
        cost = _cost(row)
        yield f"TOKENS  {row.usage.input} in, {row.usage.output} out, {cost}"
    for finding in row.findings:
        yield f"FINDING {finding.severity}, layer {finding.layer}, {finding.id}: {finding.message}"
        yield f"        at {' · '.join(finding.evidence)}"
        yield f"        fix: {finding.fix}"
    yield ""
    yield (
        f"SIZES   {len(reading.request.messages)} messages, {len(reading.request.tools)} tools, "
        f"request {row.request_bytes:,} bytes, answer {row.response_bytes:,} bytes"
    )


def _parts_count(detail: Detail) -> str:
    return f"{len(detail.new)} of {len(detail.reading.request.messages)} messages"


def _calls(detail: Detail) -> tuple[ToolCall, ...]:
    return detail.reading.emission.calls if detail.reading.emission else ()


def _message(message: Message, most: int | None) -> Iterator[str]:
    for part in message.parts:
        text = _part(part)
        yield f"[{message.role} {part.pointer}] {text if most is None else clipped(text, most)}"


def _part(part: Part) -> str:
    if part.call is not None:
        return f"call {_call(part.call)}"
    if part.result is not None:
        failed = " (error)" if part.result.is_error else ""
        return f"result{failed} of {part.result.call_id or part.result.name}: {part.result.text}"
    return part.text if part.kind == "text" else f"({part.kind}) {part.text}"


def _call(call: ToolCall) -> str:
    arguments = compact(call.arguments) if call.arguments is not None else call.arguments_raw
    return f"{call.name}({arguments}) id={call.id}"


def _answer(detail: Detail, most: int | None) -> Iterator[str]:
    emission = detail.reading.emission
    if emission is None:
        yield "(no answer)"
        return

    def text(given: str) -> str:
        return given if most is None or len(given) <= most else given[:most] + f"… ({len(given):,} characters)"

    if emission.reasoning:
        yield f"(reasoning) {text(emission.reasoning)}"
    if emission.refusal:
        yield f"(refusal) {text(emission.refusal)}"
    if emission.text:
        yield text(emission.text)
    for call in emission.calls:
        yield f"call {text(_call(call))}"
    for call in emission.server_calls:
        yield f"call of the API's own tool {text(_call(call))}"
    for result in emission.server_results:
        yield f"its result: {text(result.text)}"
    if not (emission.text or emission.calls or emission.refusal):
        yield f"({emission.emitted})"


def _tool(tool: Tool) -> str:
    return small_json({"name": tool.name, "description": tool.description, "schema": tool.schema})


def _whole_answer(detail: Detail) -> Iterator[str]:
    return _answer(detail, None)


def _new(detail: Detail) -> Iterator[str]:
    return (line for message in detail.new for line in _message(message, None))


def _messages(detail: Detail) -> Iterator[str]:
    return (line for message in detail.reading.request.messages for line in _message(message, None))


def _system(detail: Detail) -> Iterator[str]:
    return (part.text for part in detail.reading.request.instructions)


def _tools(detail: Detail) -> Iterator[str]:
    return (_tool(tool) for tool in detail.reading.request.tools)


def _tool_runs(detail: Detail) -> Iterator[str]:
    """Each run with its arguments, and the result as returned against the result as seen."""
    for run in detail.row.tool_runs:
        yield f"{plain(run_spans(run, number=True))}"
        yield f"call {call_of(run)}"
        if run.seen_as in WHOLE:
            yield as_returned(run)
        else:
            yield "lines with - were returned and not seen, lines with + were seen and not returned:"
            marks = {"equal": " ", "removed": "-", "added": "+"}
            yield from (f"{marks[line.change]} {line.text}" for line in diff_lines(as_returned(run), as_seen(run)))
        if note := cut_note(run):
            yield f"({note}; part=raw_answer of #{run.index} has all)"
        yield ""


def _raw_request(detail: Detail) -> Iterator[str]:
    yield detail.round_trip.request.body.decode("utf-8", "replace")


def _raw_answer(detail: Detail) -> Iterator[str]:
    response = detail.round_trip.response
    yield response.body.decode("utf-8", "replace") if response else "(no answer)"


_PARTS: Mapping[TurnPart, Callable[[Detail], Iterator[str]]] = {
    "overview": _overview,
    "new": _new,
    "messages": _messages,
    "system": _system,
    "tools": _tools,
    "answer": _whole_answer,
    "tool_runs": _tool_runs,
    "raw_request": _raw_request,
    "raw_answer": _raw_answer,
}


def diff_runs(folder: TapeFolder, a: str, b: str) -> str:
    """Where two cassettes diverge first, which layer diverged, and what differs there."""
    compared = compare(folder.cassette(a), folder.cassette(b), (a, b)).as_json()
    threads = [_thread(as_object(thread), a, b) for thread in as_array(compared.pop("threads"))]
    first = as_object(compared.pop("first"))
    compared["first"] = _thread({"parting": first}, a, b)["parting"] if first else None
    return small_json({**compared, "threads": threads[:20]})


def _thread(thread: Mapping[str, object], a: str, b: str) -> dict[str, object]:
    """A pair of threads with addresses, and with long values cut."""
    shown = dict(thread)
    parting = as_object(shown.get("parting"))
    if parting:
        for side, file in (("a", a), ("b", b)):
            index = parting.get(f"{side}_index")
            parting[f"{side}_at"] = None if index is None else f"{file}#{index}"
        parting["differences"] = [_cut(as_object(one)) for one in as_array(parting.get("differences"))]
        shown["parting"] = parting
    return shown


def _cut(difference: Mapping[str, object]) -> dict[str, object]:
    words = [{side: clipped(str(text), _VALUE) for side, text in as_object(one).items()} for one in
             as_array(difference.get("words"))]  # fmt: skip
    if words:
        return {"pointer": difference.get("pointer"), "kind": difference.get("kind"), "words": words}
    return {key: _short(value) for key, value in difference.items() if key != "words"}


def _short(value: object) -> object:
    text = value if isinstance(value, str) else compact(value)
    return value if len(text) <= _VALUE else clipped(text, _VALUE)


def _cost(row: Row) -> str:
    """The exact cost; `≥` before it where it is not the whole."""
    if row.cost is None:
        return "unpriced" if row.unpriced else NO_COST
    return f"{'≥' if row.unpriced else ''}${money(row.cost)}"
