"""Histories that repeat an earlier one: what both have is read once.

An agent sends its whole history in each request, so reading it again each time would make a long run quadratic. The
messages at the front of a history that an earlier one also had are taken from there, as the same objects. Whoever
derives something from each message can do the same, by their identity (`PerMessage`).
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import is_
from threading import Lock
from typing import cast

import orjson

from .values import Message

type ReadMessage = Callable[[object, str], Message]

_KEPT = 8
"""How many histories are remembered: those of agents that take turns."""


@dataclass(slots=True, eq=False)
class _History:
    read: ReadMessage
    base: str
    items: list[object]
    exact: list[bool]
    """Whether equal values are the same JSON: false for an item with a number or a boolean, since 1 is 1.0 and true."""
    messages: tuple[Message, ...] = ()


class Histories:
    """Reads histories. Any thread may use it."""

    def __init__(self, kept: int = _KEPT) -> None:
        self._recent: deque[_History] = deque(maxlen=kept)
        self._lock = Lock()

    def read(self, items: Sequence[object], base: str, read: ReadMessage) -> tuple[Message, ...]:
        """Each item as a message at `base/N`; those with which an earlier history began are not read again."""
        given = list(items)
        with self._lock:
            recent = [one for one in self._recent if one.read is read and one.base == base]
        same = [_common(one, given) for one in recent]
        kept = max(same, default=0)
        new = _History(read, base, given, [])
        if kept:
            known = recent[same.index(kept)]
            # The same values as before, so that the memory of those just parsed is free again.
            given[:kept] = known.items[:kept]
            new.exact, new.messages = known.exact[:kept], known.messages[:kept]
        new.exact += map(_is_exact, given[kept:])
        new.messages += tuple(read(item, f"{base}/{kept + place}") for place, item in enumerate(given[kept:]))
        with self._lock:
            # A history that this one continues is not needed beside it.
            for one in [one for one, length in zip(recent, same, strict=True) if length == len(one.items)]:
                if one in self._recent:
                    self._recent.remove(one)
            self._recent.append(new)
        return new.messages


_histories = Histories()
read_messages = _histories.read
"""As `Histories.read`, for the whole process."""


def _common(known: _History, given: list[object]) -> int:
    """How many values at the front are the same JSON."""
    most = min(len(known.items), len(given))
    if known.items[:most] != given[:most]:
        pairs = zip(known.items, given, strict=False)
        most = next(place for place, (one, other) in enumerate(pairs) if one != other)
    if all(known.exact[:most]):
        return most
    numbers = (place for place in range(most) if not known.exact[place])
    return next((p for p in numbers if orjson.dumps(known.items[p]) != orjson.dumps(given[p])), most)


def _is_exact(value: object) -> bool:
    if isinstance(value, str) or value is None:
        return True
    if isinstance(value, dict):
        return all(map(_is_exact, cast(dict[str, object], value).values()))
    return isinstance(value, list) and all(map(_is_exact, cast(list[object], value)))


@dataclass(slots=True, eq=False)
class _Made[T]:
    messages: Sequence[Message]
    values: list[T]


class PerMessage[T]:
    """What is made of each message of a history, once for a message that histories share. Any thread may use it."""

    def __init__(self, make: Callable[[Message], T], kept: int = _KEPT) -> None:
        self._make = make
        self._recent: deque[_Made[T]] = deque(maxlen=kept)
        self._lock = Lock()

    def of(self, messages: Sequence[Message]) -> list[T]:
        """One value for each message, in order."""
        with self._lock:
            recent = list(self._recent)
        same = [shared(one.messages, messages) for one in recent]
        kept = max(same, default=0)
        values: list[T] = recent[same.index(kept)].values[:kept] if kept else []
        values += map(self._make, messages[kept:])
        with self._lock:
            for one in [one for one, length in zip(recent, same, strict=True) if length == len(one.messages)]:
                if one in self._recent:
                    self._recent.remove(one)
            self._recent.append(_Made(messages, values))
        return values


def shared(before: Sequence[Message], now: Sequence[Message]) -> int:
    """How many messages at the front are the same objects."""
    most = min(len(before), len(now))
    if all(map(is_, before[:most], now[:most])):
        return most
    return next(place for place, (one, other) in enumerate(zip(before, now, strict=False)) if one is not other)
