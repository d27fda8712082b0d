"""One turn in full, as `turntape show --turn` prints it."""

from collections.abc import Iterator, Mapping

from ...analysis.pictures import pictures_in, without_data
from ...run.label_costs import is_unpriced
from ...run.labels import LabelledRoundTrip
from ...wire.json_value import as_object, compact
from ...wire.printable import safe
from ...wire.socket_turn import SOCKET
from ...wire.values import Emission, Part, RequestReading, Tool, ToolCall
from .picture_words import kind_words
from .terminal_text import Line, Span, Style, clip, flow, folded, wrap
from .tool_text import turn_runs
from .turn_lines import (
    ANY,
    UNDER,
    call_text,
    dispatch_line,
    finding_lines,
    finish_line,
    picture_lines,
    title_line,
    tokens_line,
)


def _paragraphs(text: str, indent: str, width: int, style: Style = "plain") -> Iterator[Line]:
    for paragraph in safe(text).split("\n"):
        for line in wrap(paragraph, max(20, width - len(indent))):
            yield [(indent, "plain"), (line, style)]


def _tool(tool: Tool, width: int) -> Iterator[Line]:
    properties = ", ".join(as_object(as_object(tool.schema).get("properties")))
    said: Span = (f"  {clip(tool.description or '', 400)}", "dim")
    yield from folded([("    ", "plain"), (safe(f"{tool.name}({properties})"), "plain"), said], width, "        ")


def whole_turn(one: LabelledRoundTrip, width: int) -> Iterator[Line]:
    """One turn in full."""
    yield from flow(title_line(one.label, is_unpriced(one.label), ANY), width, "    ")
    trip = one.round_trip
    socket = trip.response is not None and trip.response.http_version == SOCKET
    asked = safe(f"{SOCKET if socket else trip.request.method} {trip.request.url}")
    yield from folded([(asked, "dim")], width, "    ")
    yield from _whole_request(one.reading.request, width)
    yield []
    yield [("answer", "bold")]
    if one.reading.emission is not None:
        yield from _whole_answer(one.reading.emission, width)
    yield from folded(finish_line(one), width, UNDER)
    yield from folded(dispatch_line(one.label), width, UNDER)
    yield from folded(tokens_line(one), width, "      ")
    yield from turn_runs(one.tool_runs, width)
    yield from finding_lines(one.label, width, fix=True)


def _whole_request(request: RequestReading, width: int) -> Iterator[Line]:
    if request.parameters:
        line: Line = [("  parameters  ", "dim"), (clip(compact(request.parameters), 2000), "plain")]
        yield from folded(line, width, "    ")
    if request.tools:
        yield []
        yield [(f"tools ({len(request.tools)})", "bold")]
        for tool in request.tools:
            yield from _tool(tool, width)
    if request.system:
        yield []
        yield [("system", "bold")]
        for part in request.system:
            yield from _paragraphs(part.text, "    ", width)
    names = {part.call.id: part.call.name for m in request.messages for part in m.parts if part.call}
    for message in request.messages:
        yield []
        yield [(message.role, "bold"), (f"  {message.pointer}", "dim")]
        for part in message.parts:
            yield from _part(part, names, width)


def _whole_answer(emission: Emission, width: int) -> Iterator[Line]:
    if emission.reasoning:
        yield from _paragraphs(emission.reasoning, "    ", width, "dim")
    if emission.text:
        yield from _paragraphs(emission.text, "    ", width)
    calls = (*emission.calls, *emission.server_calls)
    for call in calls:
        yield from _call_lines(call, width)
    names = {call.id: call.name for call in calls}
    for part in emission.content:
        if part.result is not None or part.kind == "other":
            yield from _part(part, names, width)
    for line in picture_lines(part for part in emission.content if part.kind != "other"):
        yield [("    ", "plain"), *line]


def _call_lines(call: ToolCall, width: int) -> Iterator[Line]:
    *lines, last = wrap(safe(call_text(call)), max(20, width - 8))
    head: Span = ("    → ", "model")
    for line in lines:
        yield [head, (line, "plain")]
        head = ("        ", "plain")
    yield from flow([head, (last, "plain"), *([(f"  {safe(call.id)}", "dim")] if call.id else [])], width, " " * 8)


def _part(part: Part, names: Mapping[str | None, str], width: int) -> Iterator[Line]:
    if part.call is not None:
        yield from _call_lines(part.call, width)
    elif part.result is not None:
        name = part.result.name or names.get(part.result.call_id) or ""
        giver: Style = "api" if part.result.server else "client"
        head: Line = [("    ← ", giver), (safe(name), "plain"), (f"  {safe(part.result.call_id or '')}", "dim")]
        yield from folded(head, width, "        ")
        yield from _paragraphs(part.result.text, "        ", width, "bad" if part.result.is_error else "plain")
    elif part.kind in ("text", "reasoning", "refusal"):
        yield from _paragraphs(part.text, "    ", width, "plain" if part.kind == "text" else "dim")
    else:
        raw = without_data(part.raw, [*pictures_in(part.raw)])
        text = part.text if part.text and not part.text.startswith("[") else compact(raw)
        yield from folded(
            [("    ", "plain"), (f"{safe(kind_words(part))} {clip(text, 400)}", "dim")], width, "        "
        )
