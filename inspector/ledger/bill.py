"""The price of each piece of a prompt, by its position.

The beginning of the prompt is read from the cache, what follows is written to it (for an hour first), the rest is
fresh. The rates are those of the tier that the whole input reaches. The dollars of the pieces add up to the part of the
bill that is for the input, to the last digit.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from decimal import ROUND_HALF_EVEN, Decimal

from turntape.cassettes.frozen import frozen

from ..analysis.pricing import Cost, cost_of
from .stretch import SentTurn

_FINEST = Decimal("1E-15")
"""Rates are rounded to this, so that sums of their multiples are exact."""


WRITES = ("write_1h", "write")
"""The kinds of zones that are written to the cache."""


@frozen
class Zone:
    """A range of the tokens of a prompt that has one price."""

    kind: str
    """`read`, `write_1h`, `write` or `fresh`."""
    start: int
    end: int
    rate: Decimal


@frozen
class Bill:
    """What one turn cost."""

    zones: tuple[Zone, ...]
    """From the first token to the last, without gaps."""
    cost: Cost | None
    rest: Decimal
    """What the rates leave of the input's cost: rounding, and what is not counted in tokens. The last piece has it."""

    @property
    def input(self) -> Decimal | None:
        return self.cost.input if self.cost else None

    @property
    def output(self) -> Decimal | None:
        return self.cost.amount - self.cost.input if self.cost and self.cost.input is not None else None


def bill_of(turn: SentTurn) -> Bill:
    """The bill of a turn, by the prices of its day."""
    found = turn.cost or cost_of(*turn.priced)
    spans = list(_spans(turn))
    paid = found.input if found is not None else None
    if paid is None or not turn.input:
        return Bill(tuple(Zone(kind, start, end, Decimal(0)) for kind, start, end in spans), found, paid or Decimal(0))
    listed = found.rates if found is not None else None
    rates = {kind: getattr(listed, kind) if listed else paid / turn.input for kind, _, _ in spans}
    whole = sum((rates[kind] * (end - start) for kind, start, end in spans), Decimal(0))
    if whole and whole != paid:
        rates = {kind: (rate * paid / whole).quantize(_FINEST, ROUND_HALF_EVEN) for kind, rate in rates.items()}
    zones = tuple(Zone(kind, start, end, rates[kind]) for kind, start, end in spans)
    return Bill(zones, found, paid - sum((zone.rate * (zone.end - zone.start) for zone in zones), Decimal(0)))


def _spans(turn: SentTurn) -> Iterator[tuple[str, int, int]]:
    """The ranges of a prompt by price. What was read and written cannot be more than the input."""
    usage, at = turn.usage, 0
    whole = usage.input or 0
    hour = min(usage.cache_write_1h, usage.cache_write or 0)
    counts = (("read", usage.cache_read or 0), ("write_1h", hour), ("write", (usage.cache_write or 0) - hour))
    for kind, count in counts:
        end = min(whole, at + count)
        if end > at:
            yield kind, at, end
        at = max(at, end)
    if whole > at:
        yield "fresh", at, whole


@frozen
class Share:
    """What a zone has of the pieces of a prompt: those from `first` up to `last` whole, and parts of others."""

    zone: Zone
    first: int
    last: int
    parts: tuple[tuple[int, int], ...]
    """The number of a piece, and how many of its tokens are in the zone."""


def shares(zones: Sequence[Zone], ends: Sequence[int], length: int) -> Iterator[Share]:
    """The pieces of each zone of a prompt of `length` pieces; `ends[n]` is how many tokens the first `n` have."""
    for zone in zones:
        first = bisect_right(ends, zone.start, 0, length + 1) - 1
        last = bisect_right(ends, zone.end, 0, length + 1) - 1
        if ends[first] == zone.start:
            parts = ((last, zone.end - ends[last]),) if ends[last] < zone.end else ()
            yield Share(zone, first, last, parts)
        elif last <= first:
            yield Share(zone, last, last, ((first, zone.end - zone.start),))
        else:
            behind = ((last, zone.end - ends[last]),) if ends[last] < zone.end else ()
            yield Share(zone, first + 1, last, ((first, ends[first + 1] - zone.start), *behind))
