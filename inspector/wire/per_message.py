"""What is derived from each message of a history, made once for a message that histories share.

Histories share a message as the same object (`history.Histories`, `request_bodies.RequestBodies`).
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import chain
from threading import Lock, RLock
from typing import cast

from turntape.cassettes.frozen import mutable

from .shared_tuple import Apart, SharedTuple, Stem, shared, sharing

KEPT = 8
"""How many histories are remembered: those of agents that take turns."""
CHANGED = 5
"""Fewer items at the end of a history may be changed by the next one."""


@mutable
class Remembered:
    """How many histories are remembered by whoever remembers some."""

    most: int = KEPT
    """Fewer while the latest ones are large, see `history.Histories`."""


remembered = Remembered()


@mutable(eq=False)
class _Made[I, T]:
    messages: Sequence[I]
    values: list[T]


class PerMessage[I, T]:
    """What is made of each message of a history, once for a message that histories share. Any thread may use it.

    A message is what the caller has: a `Message`, or the JSON of one. Both are shared (`Histories`, `RequestBodies`).
    """

    def __init__(self, make: Callable[[I], T], kept: int = KEPT) -> None:
        self._make = make
        self._recent: deque[_Made[I, T]] = deque(maxlen=kept)
        self._lock = RLock()

    def of(self, messages: Sequence[I]) -> Sequence[T]:
        """One value for each message, in order. What histories share is neither made nor copied again."""
        return self._of_shared(messages) if isinstance(messages, SharedTuple) else self._of_list(messages)

    def _of_shared(self, messages: SharedTuple[I]) -> SharedTuple[T]:
        known, start, end = messages.stem, messages.start, messages.end
        with self._lock:
            made = cast("Stem[T] | None", known.derived.get(self))
            if made is None:
                made = known.derived[self] = Stem[T]([])
            front, tail = messages.front, messages.tail
            if len(made.items) < end or not (self._is_made(front) and self._is_made(tail)):
                was: dict[int, T] = {}
                for before in messages.before or ():
                    was.update(zip(map(id, before.items), self._known(before) or (), strict=False))
                for item in known.items[len(made.items) : end]:
                    made.items.append(was[id(item)] if id(item) in was else self._make(item))
                place = start - len(front.items)
                if front.items and place >= 0:  # what the stem has in their places
                    was.update(zip(map(id, known.items[place:start]), made.items[place:start], strict=True))
                self._add(front, was)
                self._add(tail, was)
            return SharedTuple(made, start, end, Apart(self._known(tail) or ()), Apart(self._known(front) or ()))

    def _known(self, apart: Apart[I]) -> tuple[T, ...] | None:
        """What is made of these items, if it was made."""
        values = (apart.of or apart).derived.get(self)
        return values[apart.place :] if values and apart.place else values

    def _is_made(self, apart: Apart[I]) -> bool:
        return not apart.items or self in (apart.of or apart).derived

    def _add(self, apart: Apart[I], was: Mapping[int, T]) -> None:
        """Make the values of these items; those of the same items before, where there were some."""
        if not self._is_made(apart):
            whole = apart.of or apart
            whole.derived[self] = tuple(
                [was[id(item)] if id(item) in was else self._make(item) for item in whole.items]
            )

    def _of_list(self, messages: Sequence[I]) -> list[T]:
        with self._lock:
            recent = list(self._recent)
        same = [shared(one.messages, messages) for one in recent]
        kept = max(same, default=0)
        values: list[T] = recent[same.index(kept)].values[:kept] if kept else []
        values += map(self._make, messages[kept:])
        with self._lock:
            for one in [one for one, n in zip(recent, same, strict=True) if is_continued(len(one.messages), n)]:
                if one in self._recent:
                    self._recent.remove(one)
            self._recent.append(_Made(messages, values))
            while len(self._recent) > remembered.most:
                self._recent.popleft()
        return values


@mutable(eq=False)
class _Row[T]:
    """The values of all messages of a stem, one after the other."""

    values: Stem[T]
    ends: list[int]
    """How many values the first messages have, by the number of messages."""

    def branch(self, end: int) -> "_Row[T]":
        """That of the first messages."""
        ends = self.ends[: end + 1]
        return _Row(self.values.branch(ends[-1]), ends)


class Joined[I, T]:
    """As `PerMessage`, for several values of each message: those of all messages in a row. They are joined once."""

    def __init__(self, make: Callable[[I], Sequence[T]]) -> None:
        self._each = PerMessage(make)
        self._lock = Lock()

    def of(self, messages: Sequence[I]) -> Sequence[T]:
        """All values, in order."""
        if not isinstance(messages, SharedTuple):
            return tuple(chain.from_iterable(self._each.of(messages)))
        # Kept with the messages, so that it is forgotten when they are: they may be large.
        whose = messages.stem, messages.front, messages.start, messages.end
        known = messages.tail.derived.get(self)
        if known is not None and known[0] == whose:
            return known[1]
        joined = self._shared(cast("SharedTuple[Sequence[T]]", self._each.of(messages)))
        messages.tail.derived[self] = (whose, joined)
        return joined

    def _shared(self, each: SharedTuple[Sequence[T]]) -> SharedTuple[T]:
        made, end = each.stem, each.end
        with self._lock:
            row = cast("_Row[T] | None", made.derived.get(self))
            if row is None:
                row = made.derived[self] = _Row[T](Stem[T]([]), [0])
            for values in made.items[len(row.ends) - 1 : end]:
                row.values.items += values
                row.ends.append(len(row.values.items))
        front, tail = (tuple(chain.from_iterable(apart.items)) for apart in (each.front, each.tail))
        return SharedTuple(row.values, row.ends[each.start], row.ends[end], Apart(tail), Apart(front))


@mutable(eq=False)
class _Places[K]:
    """Where each key is in a stem of pairs, as far as that was read."""

    of_key: dict[K, list[int]] = field(default_factory=dict[K, list[int]])
    read: int = 0

    def branch(self, end: int) -> "_Places[K]":
        """Those in the first pairs."""
        end = min(end, self.read)
        kept = ((key, places[: bisect_left(places, end)]) for key, places in self.of_key.copy().items())
        return _Places({key: places for key, places in kept if places}, end)


class Lookup[K, V](Mapping[K, V]):
    """The pairs of a history as a dict: the last value under each key."""

    def __init__(self, pairs: SharedTuple[tuple[K, V]], places: Mapping[K, Sequence[int]]) -> None:
        self._pairs = pairs
        self._places = places
        self._latest = dict(pairs.tail.items)
        self._first = dict(pairs.front.items)

    def __getitem__(self, key: K) -> V:
        if key in self._latest:
            return self._latest[key]
        start, end = self._pairs.start, self._pairs.end
        for place in reversed(self._places.get(key, ())):
            if start <= place < end:
                return self._pairs.stem.items[place][1]
        return self._first[key]

    def __iter__(self) -> Iterator[K]:
        return iter(dict(self._pairs))

    def __len__(self) -> int:
        return len(dict(self._pairs))

    def __bool__(self) -> bool:
        return len(self._pairs) > 0

    @property
    def row(self) -> SharedTuple[tuple[K, V]]:
        """All pairs, in order."""
        return self._pairs

    def places(self, keys: Iterable[K]) -> list[int]:
        """Where there are values under these keys, in order."""
        start, end, wanted = self._pairs.start, self._pairs.end, frozenset(keys)
        front, tail = self._pairs.front.items, self._pairs.tail.items
        found = [at for at, (key, _) in enumerate(front) if key in wanted]
        inner, behind = len(front) - start, len(front) + end - start
        found += sorted(inner + at for key in wanted for at in self._places.get(key, ()) if start <= at < end)
        return found + [behind + at for at, (key, _) in enumerate(tail) if key in wanted]

    def among(self, keys: Iterable[K]) -> list[V]:
        """All values under these keys, in order."""
        return [self._pairs[place][1] for place in self.places(keys)]


class ByKey[I, K, V]:
    """As `Joined`, for pairs of a key and a value, which can be looked up by the key."""

    def __init__(self, make: Callable[[I], Sequence[tuple[K, V]]]) -> None:
        self._pairs = Joined(make)
        self._lock = Lock()

    def of(self, messages: Sequence[I]) -> Lookup[K, V]:
        """The values under each key."""
        pairs = self._pairs.of(messages)
        if not isinstance(pairs, SharedTuple):
            pairs = sharing(pairs)
        stem, end = pairs.stem, pairs.end
        with self._lock:
            places = cast("_Places[K] | None", stem.derived.get(self))
            if places is None:
                places = stem.derived[self] = _Places[K]()
            for place in range(places.read, end):
                places.of_key.setdefault(stem.items[place][0], []).append(place)
            places.read = max(places.read, end)
        return Lookup(pairs, places.of_key)


def is_continued(count: int, shared: int) -> bool:
    """True for a history of so many items that another one continues, up to the last ones."""
    return shared == count or shared > count - CHANGED > 0
