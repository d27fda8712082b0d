"""Bars: the turns of a lane, or ranges of them when there are more turns than room.

A folded bar says so: it stacks the mean of its range and also has the highest turn. Equal amounts give equal bars,
because the scale is that of the whole picture and nothing is rounded here.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import cached_property

from turntape.cassettes.frozen import frozen

from .marks import MARK_KINDS, Mark
from .strip import Addition, Amounts, Lane, Strip, StripTurn, Unit


@frozen(slots=False)
class Bar:
    """One turn, or a range of turns."""

    turns: tuple[StripTurn, ...]
    """At least one."""
    unit: Unit

    @property
    def first(self) -> StripTurn:
        return self.turns[0]

    @property
    def last(self) -> StripTurn:
        return self.turns[-1]

    @property
    def folded(self) -> bool:
        """Whether it shows several turns."""
        return len(self.turns) > 1

    @property
    def label(self) -> str:
        """The number of the turn, or of the first and the last one: `4`, `4·2`, `12–18`."""
        first, last = self.first.row, self.last.row
        return f"{first.turn}–{last.turn}" if first.turn != last.turn else first.label

    @cached_property
    def mean(self) -> Amounts | None:
        """The mean by kind of the turns whose amounts are known; None where none is known."""
        known = [found for turn in self.turns if (found := turn.amounts(self.unit)) is not None]
        if not known:
            return None
        return tuple(sum(column, Decimal(0)) / len(known) for column in zip(*known, strict=True))

    @cached_property
    def total(self) -> Decimal | None:
        """The mean of the sums; of one turn its amount. None where it is not known."""
        return None if self.mean is None else sum(self.mean, Decimal(0))

    @cached_property
    def highest(self) -> Decimal | None:
        """The largest turn of the range."""
        return max((found for turn in self.turns if (found := turn.amount(self.unit)) is not None), default=None)

    @cached_property
    def known(self) -> int:
        """How many of its turns have an amount."""
        return sum(turn.amounts(self.unit) is not None for turn in self.turns)

    @cached_property
    def fill(self) -> float | None:
        """The largest share of the context window that one of its turns took."""
        return max((turn.fill for turn in self.turns if turn.fill is not None), default=None)

    @property
    def so_far(self) -> Decimal:
        """The cost of the run up to its last turn."""
        return self.last.so_far

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """All marks of its turns, the most important first."""
        found = [mark for turn in self.turns for mark in turn.marks]
        return tuple(sorted(found, key=lambda mark: MARK_KINDS.index(mark.kind)))

    @cached_property
    def addition(self) -> Addition | None:
        """The largest addition with a label."""
        found = [turn.addition for turn in self.turns if turn.addition is not None]
        return max(found, key=lambda one: one.tokens, default=None)

    @cached_property
    def _places(self) -> frozenset[int]:
        return frozenset(turn.place for turn in self.turns)

    def shows(self, place: int | None) -> bool:
        """Whether it shows the row at that place."""
        return place in self._places  # asked for each bar in each line of the strip, at each move


def bars(lane: Lane, each: int, unit: Unit) -> tuple[Bar, ...]:
    """The bars of a lane, each for `each` turns (at least 1); the last one may have fewer."""
    return tuple(Bar(lane.turns[at : at + each], unit) for at in range(0, len(lane.turns), each))


def fold(strip: Strip, most: int, unit: Unit) -> tuple[tuple[Lane, tuple[Bar, ...]], ...]:
    """All lanes with at most `most` bars together, if there are no more lanes than that.

    A bar has the same number of turns in all lanes, so that equal bars mean the same everywhere.
    """
    each = turns_in_a_bar([len(lane.turns) for lane in strip.lanes], most)
    return tuple((lane, bars(lane, each, unit)) for lane in strip.lanes)


def turns_in_a_bar(lengths: Sequence[int], most: int, least: int = 0) -> int:
    """The smallest number of turns in a bar with which lanes of these lengths have at most `most` bars together; a lane
    with fewer than `least` bars counts as that many."""
    longest = max(lengths, default=1)
    low, high = 1, max(1, longest)
    while low < high:
        middle = (low + high) // 2
        if sum(max(least, -(-length // middle)) for length in lengths) <= most:
            high = middle
        else:
            low = middle + 1
    return low


def highest(shown: Iterable[Sequence[Bar]]) -> Decimal:
    """The largest turn of these bars, as the top of their common scale; 0 when no amount is known."""
    return max((bar.highest for lane in shown for bar in lane if bar.highest is not None), default=Decimal(0))
