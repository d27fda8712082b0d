"""Tuples that share what they have in common, so that a history that continues holds only what is new.

An agent sends its whole history in each request. A tuple for each request would be copied, compared and read again from
its beginning, and a long run would be quadratic. Here most of a history is one list, to which the next history appends:
two histories of a run are compared by that list and their places in it, and what is derived from the items is derived
once (`per_message`). The last items are apart, because the next request may write them differently: clients move their
cache marks along. So are the first ones once a request changes them, as with a clock in the first message.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress, count, islice, takewhile
from operator import is_not
from threading import Lock
from typing import Any, Protocol, cast, overload

_APART = 4
"""Items at the end of a history which the next one may change."""


_FEW = 64

_growing = Lock()


class Derived(Protocol):
    """What is derived from the items of a stem."""

    def branch(self, end: int) -> "Derived":
        """What is derived from the first items, as a beginning for another stem."""
        ...


class Stem[T]:
    """A list that grows at its end only, and what is derived from its items."""

    __slots__ = ("derived", "items")

    def __init__(self, items: list[T]) -> None:
        self.items = items
        self.derived: dict[object, Derived] = {}
        """By whoever derives it."""

    def branch(self, end: int) -> "Stem[T]":
        """Another one with the same first items, and what is derived from them."""
        made = Stem(self.items[:end])
        made.derived = {who: derived.branch(end) for who, derived in self.derived.copy().items()}
        return made


class Apart[T]:
    """Items beside a stem, and what is derived from each of them."""

    __slots__ = ("derived", "items", "of", "place")

    def __init__(self, items: tuple[T, ...], of: "Apart[T] | None" = None, place: int = 0) -> None:
        """With `of`, they are the items of that one from `place` on."""
        self.items, self.of, self.place = items, of, place
        self.derived: dict[object, tuple[Any, ...]] = {}
        """By whoever derives it; empty where it is that of another one."""

    def since(self, place: int) -> "Apart[T]":
        """The items from a place on."""
        if not place:
            return self
        return Apart(self.items[place:], self.of or self, self.place + place)


_NONE = Apart[Any](())


class SharedTuple[T](Sequence[T]):
    """A tuple that may share its items with others. `sharing` makes one, `continued` and `resumed` one that shares."""

    __slots__ = ("before", "end", "front", "start", "stem", "tail")

    def __init__(self, stem: Stem[T], start: int, end: int, tail: Apart[T], front: Apart[T] = _NONE) -> None:
        """The items of `front`, those of `stem` from `start` up to `end`, and those of `tail`."""
        self.stem, self.start, self.end, self.tail, self.front = stem, start, end, tail, front
        self.before: tuple[Apart[T], Apart[T]] | None = None
        """The front and the tail of the tuple that it continues."""

    def continued(self, kept: int, new: Iterable[T]) -> "SharedTuple[T]":
        """Its first `kept` items, and the `new` ones behind them."""
        if kept < len(self.front.items):
            return sharing((*self.front.items[:kept], *new))
        return self._grown(kept - len(self.front.items), new, self.start, self.front)

    def resumed(self, front: Iterable[T], place: int, kept: int, new: Iterable[T]) -> "SharedTuple[T]":
        """Other items in place of the first `place`, then its own up to `kept`, and the `new` ones behind them."""
        inner = len(self.front.items)
        if place > inner + self.end - self.start or kept < inner:
            return sharing((*front, *self[place:kept], *new))
        first = (*front, *self.front.items[place:])
        return self._grown(kept - inner, new, self.start + max(place - inner, 0), Apart(first))

    def _grown(self, kept: int, new: Iterable[T], start: int, front: Apart[T]) -> "SharedTuple[T]":
        """With the first `kept` items behind its front, of the stem only those from `start` on."""
        in_stem = min(self.start + kept, self.end)
        after = [*self.tail.items[: max(self.start + kept - self.end, 0)], *new]
        grown = max(len(after) - _APART, 0)
        stem, added = self.stem, after[:grown]
        with _growing:
            held = stem.items[in_stem : in_stem + grown]
            if any(map(is_not, held, added)):
                stem, held = stem.branch(in_stem), []  # another history went on differently from here
            stem.items += added[len(held) :]
        made = SharedTuple(stem, start, in_stem + grown, Apart(tuple(after[grown:])), front)
        made.before = self.front, self.tail
        return made

    def forget(self) -> None:
        """Forget what is derived from its items, also for those that share them. It is derived again when needed."""
        for one in (self.stem, self.tail.of or self.tail, self.front.of or self.front):
            one.derived.clear()

    def since(self, place: int) -> "SharedTuple[T]":
        """The items from a place on, which share as much."""
        inner = len(self.front.items)
        front = self.front.since(min(place, inner))
        start = self.start + max(place - inner, 0)
        tail = self.tail.since(max(start - self.end, 0))
        made = SharedTuple(self.stem, min(start, self.end), self.end, tail, front)
        made.before = self.before
        return made

    def __len__(self) -> int:
        return len(self.front.items) + self.end - self.start + len(self.tail.items)

    def __iter__(self) -> Iterator[T]:
        if self.start == self.end:
            return iter(self.tail.items) if not self.front.items else chain(self.front.items, self.tail.items)
        items = self.stem.items
        # `islice` visits what it leaves out, a slice copies what it gives.
        inner = islice(items, self.start, self.end) if self.start < _FEW else items[self.start : self.end]
        return chain(self.front.items, inner, self.tail.items)

    def __reversed__(self) -> Iterator[T]:
        items = self.stem.items
        inner = (items[at] for at in range(self.end - 1, self.start - 1, -1))
        return chain(reversed(self.tail.items), inner, reversed(self.front.items))

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[T, ...]: ...
    def __getitem__(self, place: int | slice) -> T | tuple[T, ...]:
        front = self.front.items
        inner = len(front)
        if isinstance(place, slice):
            first, last, step = place.indices(len(self))
            if step != 1:
                return tuple(self)[place]
            middle = inner + self.end - self.start
            shift = self.start - inner
            items = self.stem.items[shift + min(max(first, inner), middle) : shift + min(max(last, inner), middle)]
            behind = self.tail.items[max(first - middle, 0) : max(last - middle, 0)]
            return (*front[first:last], *items, *behind) if first < inner else (*items, *behind)
        length = len(self)
        at = place + length if place < 0 else place
        if not 0 <= at < length:
            raise IndexError("the place is outside the tuple")
        if at < inner:
            return front[at]
        in_stem = self.start + at - inner
        return self.stem.items[in_stem] if in_stem < self.end else self.tail.items[at - length]

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
    return SharedTuple(Stem(given[:end]), 0, end, Apart(tuple(given[end:])))


def shared(one: Sequence[object], other: Sequence[object]) -> int:
    """How many items at the front of both are the same objects."""
    if one is other:
        return len(one)
    same, rest, others = 0, one, other
    if isinstance(one, SharedTuple) and isinstance(other, SharedTuple) and _begin_alike(one, other):
        same = len(one.front.items) + min(one.end, other.end) - one.start
        rest, others = one.since(same), other.since(same)
    return next(compress(count(same), map(is_not, rest, others)), min(len(one), len(other)))


def in_both(one: Sequence[object], other: Sequence[object]) -> tuple[int, int, int]:
    """Where both have the same objects behind fronts that may differ: the place in each, and how many."""
    if not isinstance(one, SharedTuple) or not isinstance(other, SharedTuple) or one.stem is not other.stem:
        return 0, 0, 0
    start, end = max(one.start, other.start), min(one.end, other.end)
    if start >= end:
        return 0, 0, 0
    mine, others = (start - each.start + len(each.front.items) for each in (one, other))
    rest = zip(one.since(mine + end - start), other.since(others + end - start), strict=False)
    return mine, others, end - start + sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], rest))


def _begin_alike(one: SharedTuple[object], other: SharedTuple[object]) -> bool:
    return one.stem is other.stem and one.start == other.start and _same(one.front, other.front)


def _same(one: Apart[object], other: Apart[object]) -> bool:
    return one is other or (len(one.items) == len(other.items) and not any(map(is_not, one.items, other.items)))
