"""Pieces of an answer that a stream begins and never ends, although it ends the answer."""

from collections.abc import Callable, Iterator

from ...exchange import Exchange
from ...json_value import Object, as_text
from .answers import stream_objects

type Place = Callable[[str, Object], object]
"""The key of the piece that an event begins or ends, given by its kind and its body; None for any other event."""


def left_open(exchange: Exchange, opens: Place, closes: Place, ends: Callable[[str, Object], bool]) -> Iterator[str]:
    """One sentence when a piece is still open at the event that ends the answer, and not closed after it."""
    opened: list[object] = []
    closed: set[object] = set()
    over = False
    for name, event in stream_objects(exchange):
        kind = as_text(event.get("type")) or name
        if (key := opens(kind, event)) is not None and key not in opened:
            opened.append(key)
        if (key := closes(kind, event)) is not None:
            closed.add(key)
        over = over or ends(kind, event)
    lost = [key for key in opened if key not in closed]
    if over and lost:
        yield (
            f"the event that ends piece {lost[0]!r} of the answer never comes: "
            "clients that wait for it never use the piece"
        )
