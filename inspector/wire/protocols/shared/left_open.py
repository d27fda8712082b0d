"""Pieces of an answer that a stream begins and never ends, or that continue after their end; misnamed events."""

from collections.abc import Callable, Iterator

from ...exchange import Exchange
from ...json_value import Object, as_object, as_text
from .answers import stream_objects

type Place = Callable[[str, Object], object]
"""The key of the piece that an event begins or ends, given by its kind and its body; None for any other event."""


def left_open(exchange: Exchange, opens: Place, closes: Place, ends: Callable[[str, Object], bool]) -> Iterator[str]:
    """One sentence when a piece is still open at the event that ends the answer, and not closed after it."""
    opened: dict[object, None] = {}
    closed: set[object] = set()
    over = False
    for name, event in stream_objects(exchange):
        kind = as_text(event.get("type")) or name
        if (key := opens(kind, event)) is not None:
            opened[key] = None
        if (key := closes(kind, event)) is not None:
            closed.add(key)
        over = over or ends(kind, event)
    lost = [key for key in opened if key not in closed]
    if over and lost:
        yield (
            f"the event that ends piece {lost[0]!r} of the answer never comes: "
            "clients that wait for it never use the piece"
        )


def gone_on(exchange: Exchange, grows: Place, closes: Place) -> Iterator[str]:
    """One sentence when something of a piece comes after the event that ends it."""
    closed: set[object] = set()
    for name, event in stream_objects(exchange):
        kind = as_text(event.get("type")) or name
        if (key := grows(kind, event)) is not None and key in closed:
            yield f"more of piece {key!r} of the answer comes after the event that ends it: clients lose it"
            return
        if (key := closes(kind, event)) is not None:
            closed.add(key)


def misnamed(exchange: Exchange) -> Iterator[str]:
    """One sentence when the SSE name of an event is not the type in its data."""
    for event in exchange.events:
        kind = as_text(as_object(event.value).get("type"))
        if kind and event.name and event.kind == "data" and kind != event.name:
            yield (
                f"an event is named {event.name!r} and its data has the type {kind!r}: "
                "clients that go by the name take it for something else"
            )
            return


def begun_late(exchange: Exchange, start: str, other: frozenset[str]) -> Iterator[str]:
    """One sentence when the event that begins every answer is not the first one; `other` may come before it."""
    for name, event in stream_objects(exchange):
        kind = as_text(event.get("type")) or name
        if kind == start:
            return
        if kind not in other:
            yield f"{kind!r} comes without {start!r} before it"
            return
