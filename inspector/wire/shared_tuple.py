"""Tuples that share what they begin with, so that a history that continues holds only what is new.

An agent sends its whole history in each request. A tuple for each request would be copied, compared and read again from
its beginning, and a long run would be quadratic. Here the beginning is one list, to which the next history appends: two
histories of a run are compared by that list and their lengths, and what is derived from the items is derived once
(`per_message`). The last items are apart, because the next request may write them differently: clients move their cache
marks along.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress, count, islice
from operator import is_not
from threading import Lock
from typing import Any, cast, overload

_APART = 4
"""Items at the end of a history which the next one may change."""


_FEW = 64

_growing = Lock()


class Stem[T]:
    """A list that grows at its end only, and what is derived from its items."""

    __slots__ = ("derived", "items")

    def __init__(self, items: list[T]) -> None:
        self.items = items
        self.derived: dict[object, Any] = {}
        """By whoever derives it."""


class SharedTuple[T](Sequence[T]):
    """A tuple that may share its beginning with others. `sharing` makes one, `continued` one that shares."""

    __slots__ = ("before", "derived", "end", "start", "stem", "tail")

    def __init__(self, stem: Stem[T], start: int, end: int, tail: tuple[T, ...]) -> None:
        """The items of `stem` from `start` up to `end`, and `tail` behind them."""
        self.stem, self.start, self.end, self.tail = stem, start, end, tail
        self.derived: dict[object, tuple[Any, ...]] = {}
        """What is derived from each item of the tail, by whoever derives it."""
        self.before: tuple[tuple[T, ...], dict[object, tuple[Any, ...]]] | None = None
        """The tail of the tuple that it continues, and what is derived from that."""

    def continued(self, kept: int, new: Iterable[T]) -> "SharedTuple[T]":
        """Its first `kept` items, and the `new` ones behind them."""
        in_stem = min(self.start + kept, self.end)
        after = [*self.tail[: max(self.start + kept - self.end, 0)], *new]
        grown = max(len(after) - _APART, 0)
        stem, added = self.stem, after[:grown]
        with _growing:
            held = stem.items[in_stem : in_stem + grown]
            if any(map(is_not, held, added)):
                stem, held = Stem(stem.items[:in_stem]), []  # another history went on differently from here
            stem.items += added[len(held) :]
        made = SharedTuple(stem, self.start, in_stem + grown, tuple(after[grown:]))
        made.before = self.tail, self.derived
        return made

    def since(self, place: int) -> "SharedTuple[T]":
        """The items from a place on, which share as much."""
        start, cut = self.start + place, self.start + place - self.end
        if cut > 0:
            return SharedTuple(self.stem, self.end, self.end, self.tail[cut:])
        made = SharedTuple(self.stem, start, self.end, self.tail)
        made.derived, made.before = self.derived, self.before
        return made

    def __len__(self) -> int:
        return self.end - self.start + len(self.tail)

    def __iter__(self) -> Iterator[T]:
        if self.start == self.end:
            return iter(self.tail)
        items = self.stem.items
        # `islice` visits what it leaves out, a slice copies what it gives.
        inner = islice(items, self.start, self.end) if self.start < _FEW else items[self.start : self.end]
        return chain(inner, self.tail)

    def __reversed__(self) -> Iterator[T]:
        items = self.stem.items
        return chain(reversed(self.tail), (items[at] for at in range(self.end - 1, self.start - 1, -1)))

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[T, ...]: ...
    def __getitem__(self, place: int | slice) -> T | tuple[T, ...]:
        if isinstance(place, slice):
            first, last, step = place.indices(len(self))
            if step != 1:
                return tuple(self)[place]
            middle = self.end - self.start
            items = self.stem.items[self.start + min(first, middle) : self.start + min(last, middle)]
            return (*items, *self.tail[max(first - middle, 0) : max(last - middle, 0)])
        length = len(self)
        at = place + length if place < 0 else place
        if not 0 <= at < length:
            raise IndexError("the place is outside the tuple")
        return self.stem.items[self.start + at] if self.start + at < self.end else self.tail[at - length]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tuple | list | SharedTuple):
            return NotImplemented
        others = cast(Sequence[object], other)
        if len(self) != len(others):
            return False
        same = shared(self, others)
        return self[same:] == tuple(others[same:])

    def __deepcopy__(self, memo: object) -> "SharedTuple[T]":
        return self  # what it holds never changes, and what is derived from it belongs to all who share it

    __hash__ = None  # pyright: ignore[reportAssignmentType] - as lists, it is compared and never a key

    def __repr__(self) -> str:
        return f"SharedTuple({tuple(self)!r})"


def sharing[T](items: Iterable[T]) -> SharedTuple[T]:
    """The items as a tuple whose beginning others can share."""
    given = list(items)
    end = max(len(given) - _APART, 0)
    return SharedTuple(Stem(given[:end]), 0, end, tuple(given[end:]))


def shared(one: Sequence[object], other: Sequence[object]) -> int:
    """How many items at the front of both are the same objects."""
    if one is other:
        return len(one)
    same, rest, others = 0, one, other
    if isinstance(one, SharedTuple) and isinstance(other, SharedTuple) and _begin_alike(one, other):
        same = min(one.end, other.end) - one.start
        rest, others = one.since(same), other.since(same)
    return next(compress(count(same), map(is_not, rest, others)), min(len(one), len(other)))


def _begin_alike(one: SharedTuple[object], other: SharedTuple[object]) -> bool:
    return one.stem is other.stem and one.start == other.start
