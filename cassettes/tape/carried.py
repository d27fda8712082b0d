"""Carried round trips: what a segment repeats of the one before, so that its own turns keep their thread.

A recording that is rotated is a row of files. Each begins with the last round trip of every open thread, marked with
the field `carried`. Such a round trip belongs to the earlier file: it is read, and counted nowhere.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import cast

import orjson

from ..frozen import frozen
from .model import RoundTrip

FIELD = "carried"
"""The field of `RoundTrip.extra` that marks one."""
CONTINUED = "continued"
"""The kind of the last line of a segment, which says what the next one carries."""


@frozen
class Carried:
    """Where a carried round trip was, as far as the recorder knew. None and 0 where it did not."""

    recording: str | None = None
    """The id of the first segment's recording, which names traces and conversations of all segments."""
    thread: str | None = None
    turn: int | None = None
    attempt: int | None = None
    threads: int = 0
    """How many threads the earlier segments had: a new one gets the next number."""

    def mark(self, trip: RoundTrip) -> RoundTrip:
        """The round trip with this mark; what is not known is left out."""
        fields = {name: value for name, value in asdict(self).items() if value}
        return replace(trip, extra={**trip.extra, FIELD: fields})


def carried(trip: RoundTrip) -> Carried | None:
    """The mark of a carried round trip; None for any other."""
    if FIELD not in trip.extra:
        return None
    value = trip.extra[FIELD]
    fields: Mapping[str, object] = cast(dict[str, object], value) if isinstance(value, dict) else {}

    def text(name: str) -> str | None:
        found = fields.get(name)
        return found if isinstance(found, str) else None

    def count(name: str) -> int | None:
        found = fields.get(name)
        return found if isinstance(found, int) and not isinstance(found, bool) and 0 < found < 2**53 else None

    return Carried(text("recording"), text("thread"), count("turn"), count("attempt"), count("threads") or 0)


def continued_line(numbers: Iterable[int], segment: str) -> bytes:
    """The last line of a segment: the round trips that the next one, a file of that name, carries."""
    return orjson.dumps({CONTINUED: {"carries": sorted(numbers), "in": segment}}) + b"\n"


def carries_in(line: Mapping[str, object]) -> frozenset[int]:
    """The round trips that such a line names."""
    found = line.get(CONTINUED)
    numbers = cast(dict[str, object], found).get("carries") if isinstance(found, dict) else None
    listed = cast(list[object], numbers) if isinstance(numbers, list) else []
    return frozenset(number for number in listed if type(number) is int)
