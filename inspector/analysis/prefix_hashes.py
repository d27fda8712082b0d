"""Hashes of the beginnings of a row, and the places of its pieces, where rows share most of what they have.

A request may change the first pieces of its history and repeat the rest. What was added up for the rest is then taken
from the earlier row: a hash is a polynomial, so that the hash of two rows together follows from theirs.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import cast, overload

from turntape.cassettes.frozen import frozen

_MODULUS = (1 << 61) - 1
_BASE = hash((__name__, 1 << 60)) % _MODULUS
"""Another one in each process, as the hash of a text is."""
NOTHING = 1
"""The hash of the empty row."""
_powers = [1]


def with_next(prefix: int, meaning: int) -> int:
    """The hash of a row with one more piece."""
    return (prefix * _BASE + meaning) % _MODULUS


def _power(exponent: int) -> int:
    while len(_powers) <= exponent:
        _powers.append(_powers[-1] * _BASE % _MODULUS)
    return _powers[exponent]


class _Row(Sequence[int]):
    """A sequence of numbers by place."""

    __slots__ = ()

    @abstractmethod
    def at(self, place: int) -> int:
        """The number at a place that is in the row."""

    @overload
    def __getitem__(self, place: int) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[int, ...]: ...
    def __getitem__(self, place: int | slice) -> int | tuple[int, ...]:
        length = len(self)
        if isinstance(place, slice):
            return tuple(map(self.at, range(*place.indices(length))))
        at = place + length if place < 0 else place
        if not 0 <= at < length:
            raise IndexError("the place is outside the row")
        return self.at(at)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Row | tuple | list):
            return NotImplemented
        return tuple(self) == tuple(cast(Sequence[object], other))

    __hash__ = None  # pyright: ignore[reportAssignmentType] - as lists, it is compared and never a key


@frozen(eq=False)
class Shifted(_Row):
    """Where each message ends: those of the front, then those of a shared row, then those of the tail."""

    front: Sequence[int]
    """From 0, the end of what is before the first message, up to the end of the last message of the front."""
    inner: Sequence[int]
    """The ends in the shared row, which has no front."""
    start: int
    end: int
    """The messages of the shared row from `start` up to `end` follow the front."""
    tail: Sequence[int]

    def __len__(self) -> int:
        return len(self.front) + self.end - self.start + len(self.tail)

    def at(self, place: int) -> int:
        behind = place - len(self.front) + 1
        if behind <= 0:
            return self.front[place]
        middle = self.end - self.start
        if behind > middle:
            return self.tail[behind - middle - 1]
        return self.inner[self.start + behind] - self.inner[self.start] + self.front[-1]


class PrefixHashes(_Row):
    """The hash of the first pieces of a row, by their number."""

    __slots__ = ("_end", "_front", "_inner", "_moved", "_start", "_tail")

    def __init__(self, front: Sequence[int], inner: Sequence[int], start: int, end: int, tail: Sequence[int]) -> None:
        """The pieces of the front, those from `start` up to `end` of a row with the hashes `inner`, and the tail."""
        self._front = [NOTHING]
        for meaning in front:
            self._front.append(with_next(self._front[-1], meaning))
        self._inner, self._start, self._end = inner, start, end
        self._moved = (self._front[-1] - inner[start]) % _MODULUS
        """By how much the hash before the shared pieces differs from that in their own row."""
        self._tail: list[int] = []
        last = self.at(len(front) + end - start)
        for meaning in tail:
            last = with_next(last, meaning)
            self._tail.append(last)

    def __len__(self) -> int:
        return len(self._front) + self._end - self._start + len(self._tail)

    def at(self, place: int) -> int:
        behind = place - len(self._front) + 1
        if behind <= 0:
            return self._front[place]
        middle = self._end - self._start
        if behind > middle:
            return self._tail[behind - middle - 1]
        own = self._inner[self._start + behind]
        return (own + self._moved * _power(behind)) % _MODULUS if self._moved else own
