"""Histories that repeat an earlier one: what both have is read once.

An agent sends its whole history in each request, so reading it again each time would make a long run quadratic. The
messages at the front of a history that an earlier one also had are taken from there, as the same objects. Whoever
derives something from each message can do the same, by their identity (`per_message`).
"""

from collections import deque
from collections.abc import Callable, Sequence
from itertools import compress, count
from operator import is_not, not_
from threading import Lock
from typing import cast

import orjson

from turntape.cassettes.frozen import mutable

from .per_message import CHANGED, KEPT, is_continued, remembered
from .shared_tuple import SharedTuple, shared, sharing
from .values import Message

HELD = 24_000_000
"""Characters of histories that are remembered beside the newest, as of bodies in `request_bodies`."""

type ReadMessage = Callable[[object, str], Message]


@mutable(eq=False)
class _History:
    read: ReadMessage
    base: str
    items: list[object]
    exact: list[bool]
    """Whether equal values are the same JSON: false for an item with a number or a boolean, since 1 is 1.0 and true."""
    messages: SharedTuple[Message]
    size: int = 0
    """About how many characters it has."""


class Histories:
    """Reads histories. Any thread may use it."""

    def __init__(self, kept: int = KEPT) -> None:
        self._recent: deque[_History] = deque()
        self._kept = kept
        self._lock = Lock()

    def read(self, items: Sequence[object], base: str, read: ReadMessage) -> SharedTuple[Message]:
        """Each item as a message at `base/N`; those with which an earlier history began are not read again."""
        given = list(items)
        with self._lock:
            recent = [one for one in reversed(self._recent) if one.read is read and one.base == base]
        same: list[int] = []
        kept = 0
        for one in recent:
            same.append(_common(one, given) if not same or _may_share(one, given, kept) else 0)
            kept = max(kept, same[-1])
            if same[-1] == len(one.items) > 0:
                break  # the whole of the latest history: no other one begins with more
        if kept < len(given) - _LEAST:
            same = [length or _common(one, given) for one, length in zip(recent, same, strict=False)]
        back: tuple[int, int] | None = None
        found = [
            _back(one, given, length) for one, length in zip(recent, same, strict=False) if kept < len(given) - _LEAST
        ]
        if found:
            back = max((one for one in found if one), key=lambda span: span[1] - span[0], default=None)
        if back is not None:
            known, kept = recent[found.index(back)], back[1]
        else:
            known = recent[same.index(kept)] if kept else _History(read, base, [], [], sharing(()))
        if known.size > HELD:
            # Such a body is parsed whole each time. With the same values as before, those just parsed need no memory.
            given[:kept] = known.items[:kept]
        made = [read(item, f"{base}/{kept + place}") for place, item in enumerate(given[kept:])]
        exact = [*known.exact[:kept], *map(_is_exact, given[kept:])]
        if back is None:
            messages = known.messages.continued(kept, made)
        else:
            pairs = zip(known.items, known.messages, given[: back[0]], strict=False)
            front = [
                message if _is_same_json(before, item) else read(item, f"{base}/{place}")
                for place, (before, message, item) in enumerate(pairs)
            ]
            messages = known.messages.resumed(front, back[0], kept, made)
            exact[: back[0]] = map(_is_exact, given[: back[0]])
        size = known.size + sum(map(_size, given[kept:]))
        new = _History(read, base, given, exact, messages, size)
        with self._lock:
            # A history that this one continues is not needed beside it.
            over = [one for one, length in zip(recent, same, strict=False) if is_continued(len(one.items), length)]
            if back is not None and known not in over and is_continued(len(known.items), kept):
                over.append(known)
            for one in over:
                if one in self._recent:
                    self._recent.remove(one)
            self._recent.append(new)
            remembered.most = self._trimmed(over)
        return new.messages

    def _trimmed(self, gone: list[_History]) -> int:
        """Forget what is too much beside the newest; how many are then remembered at most.

        `gone` are those that are forgotten already. What was derived from the messages of all these is forgotten too.
        """
        while len(self._recent) > self._kept:
            gone.append(self._recent.popleft())
        size, most = sum(one.size for one in self._recent), KEPT
        if size > HELD:
            while size > HELD and len(self._recent) > 1:
                gone.append(self._recent.popleft())
                size -= gone[-1].size
            most = len(self._recent)
        stems = {id(one.messages.stem) for one in self._recent}
        for one in gone:
            if id(one.messages.stem) not in stems:
                one.messages.forget()
        return most


_histories = Histories()
read_messages = _histories.read
"""As `Histories.read`, for the whole process."""


def _common(known: _History, given: list[object]) -> int:
    """How many values at the front are the same JSON."""
    most = _equal(known.items, given)
    if all(known.exact[:most]):
        return most
    numbers = compress(range(most), map(not_, known.exact))
    return next((p for p in numbers if not _is_same_json(known.items[p], given[p])), most)


def _equal(one: list[object], other: list[object]) -> int:
    """How many values at the front are equal. None is compared twice but those near the first difference."""
    place, most = shared(one, other), min(len(one), len(other))
    step = _FIRST_STEP
    while place < most:
        end = min(place + step, most)
        if one[place:end] == other[place:end]:
            place, step = end, 2 * step
        elif step == 1:
            return place
        else:
            step = max(1, step // _NARROWER)
    return most


_FIRST_STEP, _NARROWER = 8, 8


def _may_share(known: _History, given: list[object], kept: int) -> bool:
    """Whether it can share more than the first `kept` values, or be one that `given` continues."""
    near = max(0, len(known.items) - CHANGED)
    return any(
        place < min(len(known.items), len(given)) and known.items[place] == given[place] for place in (kept, near)
    )


_LEAST = 16
"""Fewer items behind a change are read again."""


def _back(known: _History, given: list[object], kept: int) -> tuple[int, int] | None:
    """From where and up to where behind a change the items are those of the earlier history, in the same places."""
    most = min(len(known.items), len(given))
    if most - kept <= _LEAST or known.size > HELD:
        return None
    differs = [*map(is_not, known.items[kept:most], given[kept:most])]
    differs.reverse()
    last = next(compress(count(), map(not_, differs)), most)
    first = next(compress(count(last), differs[last:]), len(differs))
    return (most - first, most - last) if first - last > _LEAST else None


def _is_same_json(one: object, other: object) -> bool:
    return one is other or orjson.dumps(one) == orjson.dumps(other)


def _size(value: object) -> int:
    """The characters of all texts in a value."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(_size, cast(dict[str, object], value).values()))
    return sum(map(_size, cast(list[object], value))) if isinstance(value, list) else 0


def _is_exact(value: object) -> bool:
    if isinstance(value, str) or value is None:
        return True
    if isinstance(value, dict):
        return all(map(_is_exact, cast(dict[str, object], value).values()))
    return isinstance(value, list) and all(map(_is_exact, cast(list[object], value)))
