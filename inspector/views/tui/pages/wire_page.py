"""The page of the wire: headers, events with their times, and the bodies as they were sent."""

from collections.abc import Iterator, Sequence

from turntape.cassettes.tape.model import Headers, Request

from ....run.detail import Detail
from ....wire.printable import safe
from ....wire.sessions import SessionPart
from ...text.number_format import lasted
from ...text.terminal_text import wrap
from ..formatting import several, size
from .blocks import Block, Body, Spans
from .event_blocks import event_blocks
from .frame_blocks import frame_blocks
from .json_lines import json_line, pretty
from .page import Page
from .sections import gap, rule
from .text_lines import flowed, lines, prose

_PRETTY = 4_000_000
"""A body with more bytes is shown without indentation."""

_ROUTES = {
    "base_url": "to the base URL",
    "forward": "through the forward proxy",
    "import": "imported",
    "stdio": "over standard input and output",
    "process": "inside one process",
}
"""How a round trip came to the recorder."""


def wire_page(detail: Detail) -> Page:
    """Everything that was recorded of a round trip."""
    if detail.part is not None:
        return Page("wire", [*_session_head(detail.part), *frame_blocks(detail.part, detail)])
    response = detail.round_trip.response
    answer = [Block("response", rule("response", "nothing came back", "bad"))] if response is None else _answer(detail)
    return Page("wire", [*_head(detail), *_request(detail), *answer])


def _session_head(part: SessionPart) -> Iterator[Block]:
    """The handshake of a WebSocket session, of which this page shows one turn."""
    request, response = part.handshake.request, part.handshake.response
    status = "no answer" if response is None else f"{response.status} {safe(response.reason)}".rstrip()
    where = f"  turn {part.place + 1} of {part.turns};"
    facts: list[Spans] = [
        [(f"WebSocket session: {status}", "dim"), (where, "dim"), (" times since the session's start", "dim")]
    ]
    yield _first_line(request, facts)
    yield gap("head")
    for name, headers in (("request", request.headers), ("response", response.headers if response else ())):
        if headers:
            title = rule(f"{name} headers", several(len(headers), "field"))
            yield Block(f"{name} headers", title, lines(*_headers(headers)), open=False)


def _first_line(request: Request, facts: Sequence[Spans]) -> Block:
    """Method and URL, however long that is, then facts."""

    def body(width: int) -> Sequence[Spans]:
        method = safe(request.method)
        first, *more = wrap(f"{method} {safe(request.url)}", width)
        title: Spans = [(method, "title"), (first.removeprefix(method), "plain")]
        known = [line for fact in facts for line in flowed(fact, width)]
        return [title, *([(line, "plain")] for line in more), *known]

    return Block("head", (), body)


def _head(detail: Detail) -> Iterator[Block]:
    trip, request = detail.round_trip, detail.round_trip.request
    ended = lasted(trip.ended_at / 1000) if trip.ended_at is not None else "its end was not recorded"
    wire = trip.tool_wire
    route = f"  {_ROUTES[trip.route]}" if trip.route else ""
    how = f"message {wire.sequence} of session {safe(wire.session)}" if wire else request.http_version
    facts: list[Spans] = [[(f"{how}{route}  {ended}", "dim")]]
    if trip.failure is not None:
        look = "dim" if detail.whole else "bad"
        facts.append([(f"{trip.failure.kind}: {safe(trip.failure.message)}", look)])
    if trip.closed_first is not None and detail.whole:
        facts.append([(f"the {trip.closed_first} closed the connection when the whole answer was there", "dim")])
    elif trip.closed_first is not None:
        facts.append([(f"the {trip.closed_first} closed first", "warn")])
    facts += [[(f"! {safe(fault)}", "warn")] for fault in trip.faults]
    yield _first_line(request, facts)
    yield gap("head")


def _request(detail: Detail) -> Iterator[Block]:
    request = detail.round_trip.request
    if detail.round_trip.tool_wire is None:
        note = several(len(request.headers), "field")
        yield Block("request headers", rule("request headers", note), lines(*_headers(request.headers)))
    body = _body(detail.exchange.body, request.body)
    note = _size(len(request.body), request.encoding)
    yield Block("request body", rule("request body", note), body, open=False, preview=6)


def _answer(detail: Detail) -> Iterator[Block]:
    response, exchange = detail.round_trip.response, detail.exchange
    if response is None:
        return
    if detail.round_trip.tool_wire is None:
        note = f"{f'{response.status} {safe(response.reason)}'.rstrip()}  {several(len(response.headers), 'field')}"
        yield Block("response headers", rule("response headers", note), lines(*_headers(response.headers)))
    streamed = exchange.framing is not None
    if streamed:
        yield from event_blocks(exchange.events, exchange.framing or "")
    note = _size(len(response.body), response.encoding)
    if response.chunks:
        note += f" in {several(len(response.chunks), 'chunk')}"
    body = _body(None if streamed else exchange.answer, response.body)
    yield Block("response body", rule("response body", note), body, open=not streamed, preview=6)
    if response.trailers:
        yield Block("trailers", rule("trailers"), lines(*_headers(response.trailers)))


def _size(count: int, encoding: str | None) -> str:
    return size(count) + (f", {encoding} undone" if encoding else "")


def _headers(headers: Headers) -> list[Spans]:
    return [[("  ", "plain"), (safe(name), "key"), (": ", "dim"), (safe(value), "plain")] for name, value in headers]


def _body(value: object, body: bytes) -> Body:
    if value is not None and len(body) <= _PRETTY:
        return prose(pretty(value), json_line)
    if not body:
        return lines([("  empty", "dim")])
    return prose(body.decode("utf-8", "backslashreplace"))
