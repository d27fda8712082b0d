"""The events of a streamed answer: one line for each with its payload, which Enter opens."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import override

from turntape.cassettes.framing import Event

from ....wire.json_value import compact, is_object, parse_json
from ....wire.printable import safe
from ...text.terminal_text import clip, width_of
from ..formatting import several
from .blocks import Block, Body, Spans
from .json_lines import json_line, pretty
from .sections import rule
from .text_lines import LazyLines, prose

OPENABLE = 3_000
"""So many events can be opened one by one; of more, the rest are lines only."""
_LONG = 200_000
"""A payload with more bytes is not parsed for its line."""
_WIDEST = 28
"""Most cells of the names."""
_FRAMINGS = {"sse": "SSE", "ndjson": "NDJSON", "json-array": "a JSON array", "aws-event-stream": "an AWS event stream"}
TIMES = "when each came, and how long after the one before"
"""What the first columns of the lines are."""


def event_blocks(events: Sequence[Event], framing: str) -> Iterator[Block]:
    """A title, then the events."""
    note = f"{several(len(events), 'event')} of {_FRAMINGS.get(framing, framing)}: {TIMES}"
    yield Block("events", rule("events", note), group=True)
    names = min(_WIDEST, max((width_of(_name(event)) for event in events), default=0))
    for number in range(min(OPENABLE, len(events))):
        title = partial(_line, events, number, names)
        body = payload(events[number].data) if events[number].data else None
        yield Block(f"event:{number}", title, body, open=False, indent=2, parent="events", anchors=(f"event {number}",))
    if len(events) > OPENABLE:
        body = rest(len(events), lambda number, width: _line(events, number, names, width))
        yield Block("event:rest", (), body, indent=2, parent="events")


def _name(event: Event) -> str:
    return safe(event.name or ("" if event.kind == "data" else event.kind))


def payload(data: bytes) -> Body:
    """The whole payload of an event or a message."""
    value = parse_json(data)
    return prose(data.decode("utf-8", "backslashreplace")) if value is None else prose(pretty(value), json_line)


def rest(count: int, line: Callable[[int, int], Spans]) -> Body:
    """The lines of what comes after the first `OPENABLE`; `line` makes the one of a number for a width."""
    return lambda width: _Rest(count - OPENABLE, line, width)


class _Rest(LazyLines):
    """The lines of the events that cannot be opened."""

    def __init__(self, count: int, line: Callable[[int, int], Spans], width: int) -> None:
        self._count, self._line, self._width = count, line, width

    @override
    def __len__(self) -> int:
        return self._count

    @override
    def make(self, index: int) -> Spans:
        return self._line(OPENABLE + index, self._width)


def _line(events: Sequence[Event], number: int, names: int, width: int) -> Spans:
    """When an event arrived, how long after the one before, its name, its payload."""
    event = events[number]
    before = events[number - 1] if number else None
    names = min(names, max(8, width // 4))
    look = "dim" if event.kind == "comment" else "bad" if event.problem or event.kind == "exception" else "plain"
    name = clip(_name(event), names)
    lead: list[tuple[str, str]] = [
        *times(event.at, before.at if before else 0),
        (name + " " * (names - width_of(name)) + (" " if names else ""), "key"),
    ]
    room = max(8, width - sum(width_of(text) for text, _ in lead) - 4)
    problem = f"  {event.problem}" if event.problem else ""
    return [*lead, (clip(shown(event, before), room), look), (problem, "bad")]


def times(at: int, before: int) -> list[tuple[str, str]]:
    """When something arrived, and how long after the one before; both are given in microseconds."""
    return [
        (f"{at / 1_000_000:7.3f} s", "number"),
        (f" {'+' + format((at - before) / 1000, '.0f'):>5} ms ", "dim"),
    ]


def shown(event: Event, before: Event | None) -> str:
    """The payload of an event in one line, without the fields that the event before has with the same value."""
    value = parse_json(event.data) if len(event.data) <= _LONG else None
    if not is_object(value):
        return safe(event.data[:2000].decode("utf-8", "backslashreplace"))
    known = parse_json(before.data) if before is not None and len(before.data) <= _LONG else None
    same = known if is_object(known) else {}
    untyped = {name: one for name, one in value.items() if not (name == "type" and one == event.name)}
    own = {name: one for name, one in untyped.items() if not (name in same and same[name] == one)}
    return safe(compact(own or untyped or value)[:2000])
