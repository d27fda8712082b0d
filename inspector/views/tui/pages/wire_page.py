"""The page of the wire: headers, events with their times, and the bodies as they went over it."""

from collections.abc import Sequence
from typing import override

from turntape.cassettes.framing import Event
from turntape.cassettes.tape.model import Headers

from ....run.detail import Detail
from ....wire.printable import safe
from ...text.terminal_text import clip
from ..formatting import several, size
from .page import Block, Body, Lazily, Page, Spans, json_line, lines, pretty, prose
from .turn_page import rule

_PRETTY = 4_000_000
"""A body with more bytes is shown as it came."""


def wire_page(detail: Detail) -> Page:
    """Everything that was recorded of a round trip."""
    trip, exchange = detail.round_trip, detail.exchange
    request, response = trip.request, trip.response
    ended = f"{trip.ended_at / 1_000_000:.3f} s" if trip.ended_at is not None else "not ended"
    title = [(f"{request.method} ", "title"), (safe(request.url), "plain")]
    told: list[Spans] = [[(f"{request.http_version}  route {trip.route or 'unknown'}  {ended}", "dim")]]
    if trip.failure is not None:
        told.append([(f"{trip.failure.kind}: {safe(trip.failure.message)}", "bad")])
    if trip.closed_first is not None:
        told.append([(f"the {trip.closed_first} closed first", "warn")])
    told += [[(f"! {safe(fault)}", "warn")] for fault in trip.faults]
    blocks = [Block("head", title, lines(*told)), Block("gap", (), lines(()))]
    note = several(len(request.headers), "field")
    blocks.append(Block("request headers", rule("request headers", note), lines(*_headers(request.headers))))
    body = request.body
    note = _size(len(body), request.encoding)
    blocks.append(Block("request body", rule("request body", note), _body(exchange.body, body), open=False, preview=6))
    if response is None:
        blocks.append(Block("response", rule("response", "nothing came back", "bad")))
        return Page("wire", blocks)
    note = f"{response.status} {safe(response.reason)}  {several(len(response.headers), 'field')}"
    blocks.append(Block("response headers", rule("response headers", note), lines(*_headers(response.headers))))
    if exchange.framing is not None:
        events = exchange.events
        note = f"{several(len(events), 'event')} of {exchange.framing}"
        blocks.append(Block("events", rule("events", note), lambda width: _Events(events, width)))
        value: object = None
    else:
        value = exchange.answer
    note = f"{_size(len(response.body), response.encoding)} in {several(len(response.chunks), 'chunk')}"
    shut = exchange.framing is not None
    blocks.append(
        Block("response body", rule("response body", note), _body(value, response.body), open=not shut, preview=6)
    )
    if response.trailers:
        blocks.append(Block("trailers", rule("trailers"), lines(*_headers(response.trailers))))
    return Page("wire", blocks)


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


class _Events(Lazily):
    """One line for each event: when it arrived, how long after the one before, its name, its data."""

    def __init__(self, events: Sequence[Event], width: int) -> None:
        self._events, self._width = events, width

    @override
    def __len__(self) -> int:
        return len(self._events)

    @override
    def make(self, index: int) -> Spans:
        event = self._events[index]
        before = self._events[index - 1].at if index else 0
        look = "dim" if event.kind == "comment" else "bad" if event.problem or event.kind == "exception" else "plain"
        named = event.name or ("" if event.kind == "data" else event.kind)
        return [
            (f"  {event.at / 1_000_000:8.3f} s", "number"),
            (f" {'+' + format((event.at - before) / 1000, '.0f'):>6} ms  ", "dim"),
            (f"{safe(named):<22} " if named else "", "key"),
            (clip(event.data[:2000].decode("utf-8", "backslashreplace"), max(10, self._width - 24)), look),
            (f"  {event.problem}" if event.problem else "", "bad"),
        ]
