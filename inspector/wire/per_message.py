"""What is derived from each message of a history, made once for a message that histories share.

Histories share a message as the same object (`history.Histories`, `request_bodies.RequestBodies`).
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, compress, count
from operator import is_not
from threading import Lock

KEPT = 8
"""How many histories are remembered: those of agents that take turns."""
_CHANGED = 5
"""Fewer items at the end of a history may be changed by the next one."""
_LONG, _PAIRS = 64, 4
"""Of histories with more items in common, the results of so many comparisons are remembered."""


@dataclass(slots=True)
class Remembered:
    """How many histories are remembered by whoever remembers some."""

    most: int = KEPT
    """Fewer while the latest ones are large, see `history.Histories`."""


remembered = Remembered()


@dataclass(slots=True, eq=False)
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
        self._lock = Lock()

    def of(self, messages: Sequence[I]) -> list[T]:
        """One value for each message, in order."""
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


class Joined[I, T]:
    """As `PerMessage`, for several values of each message: those of all messages in a row. They are joined once."""

    def __init__(self, make: Callable[[I], Sequence[T]]) -> None:
        self._each = PerMessage(make)
        self._latest: tuple[Sequence[I], tuple[T, ...]] | None = None

    def of(self, messages: Sequence[I]) -> tuple[T, ...]:
        """All values, in order."""
        latest = self._latest
        if latest is not None and latest[0] is messages:
            return latest[1]
        joined = tuple(chain.from_iterable(self._each.of(messages)))
        if isinstance(messages, tuple):
            self._latest = (messages, joined)
        return joined


def shared(before: Sequence[object], now: Sequence[object]) -> int:
    """How many at the front of both are the same objects."""
    if before is now:
        return len(now)
    known = next((same for one, other, same in _compared.latest if one is before and other is now), None)
    if known is not None:
        return known
    same = next(compress(count(), map(is_not, before, now)), min(len(before), len(now)))
    # A tuple stays as it is. While large histories are held for a short time only, they are not held here either.
    if same > _LONG and remembered.most == KEPT and isinstance(before, tuple) and isinstance(now, tuple):
        _compared.latest = ((before, now, same), *_compared.latest[: _PAIRS - 1])
    return same


@dataclass(slots=True)
class _Compared:
    """The latest long histories that were compared: all that is derived from a request compares the same two."""

    latest: tuple[tuple[Sequence[object], Sequence[object], int], ...] = ()


_compared = _Compared()


def is_continued(count: int, shared: int) -> bool:
    """True for a history of so many items that another one continues, up to the last ones."""
    return shared == count or shared > count - _CHANGED > 0
