"""Request bodies that repeat an earlier one: what both have is parsed once.

An agent sends its whole history in each request, so parsing each body whole would make a long run quadratic. The
members of the body, and the items of its arrays, that lie in the common first bytes are taken from the earlier value,
as the same objects. Where a body departs from the earlier one and comes back to it, as with a clock in the first
message, so are the items behind that place. `parsed` counts what was given to a parser, for tests.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Callable
from dataclasses import field
from itertools import islice
from json import JSONDecoder
from re import compile
from threading import Lock
from typing import Any, cast

import orjson

from turntape.cassettes.framing.json_text import parse_json
from turntape.cassettes.frozen import mutable
from turntape.cassettes.tape.delta import common_prefix, common_suffix

WORTHWHILE = 16_000
"""Bytes. Smaller bodies are parsed whole and not remembered."""
HELD = 24_000_000
"""Bytes of bodies that are held; a reader of a cassette holds the latest ones anyway."""
_KEPT = 8
"""How many bodies are remembered: those of agents that take turns."""

_scan: Callable[[str, int], tuple[object, int]] = cast(Any, JSONDecoder(strict=False)).scan_once
_next = compile(r"[ \t\n\r]*([^ \t\n\r])").match
"""The next character that is not white space."""
_NUL = b'"\\u0000"'
"""The only spelling of this name, which names what was taken from the earlier body."""

_ANCHORS = (8, 64, 512)
"""Which items of an earlier array are looked for behind a change, counted from its end: the last ones may be new."""
_ANCHOR = 48
"""Bytes. Shorter items may be in many places."""

_BLOCK = 1 << 16

_CLOSED = b'}]"'
"""What ends an object, an array or a string, or a place in the middle of one."""

type _Array = list[int]
"""Where each item of an array ends."""


@mutable(eq=False)
class _Body:
    data: bytes
    value: dict[str, object]
    members: list[tuple[int, _Array]] = field(default_factory=list[tuple[int, _Array]])
    """Where each member ends, in order, with the items of an array; as far as `walked`."""
    begun: _Array = field(default_factory=list[int])
    """The known items of the array after these members."""
    walked: int = 0
    """Up to here the places are known."""
    blocks: list[int] = field(default_factory=list[int])
    """The hashes of its blocks of `_BLOCK` bytes, see `RequestBodies.hash`."""
    unusable: bool = False
    """True for a body with a name twice, or one that is nested too deep."""


_GLANCE = 32
"""So many bytes say whether another body shares more."""


class RequestBodies:
    """Parses the bodies of requests. Any thread may use it."""

    def __init__(self, kept: int = _KEPT, held: int = HELD) -> None:
        self._recent: deque[_Body] = deque(maxlen=kept)
        self._held = held
        self._lock = Lock()
        self.parsed = 0
        """Bytes given to a parser so far, of bodies that are large enough to be remembered."""

    def hash(self, data: bytes) -> int:
        """A hash of a body, equal for equal bodies within one process; that of a body just read takes no time."""
        with self._lock:
            known = next((one.blocks for one in self._recent if one.data is data), None)
        return hash((len(data), *(_blocks(data) if known is None else known)))

    def read(self, data: bytes) -> object:
        """The JSON value of a body, or None when it is not JSON. It must not be changed: bodies share values."""
        if len(data) < WORTHWHILE:
            return parse_json(data)
        with self._lock:
            return self._read(data)

    def _read(self, data: bytes) -> object:
        known = next((one for one in self._recent if one.data is data or one.data == data), None)
        if known is not None:
            return known.value
        made = self._continued(data)
        if made is None:
            self.parsed += len(data)
            self._make_room(len(data))
            value = parse_json(data)
            if not isinstance(value, dict):
                return value
            made = _Body(data, cast(dict[str, object], value), blocks=_blocks(data))
        self._remember(made)
        return made.value

    def _remember(self, made: _Body) -> None:
        self._make_room(len(made.data))
        if len(made.data) <= self._held:
            self._recent.append(made)

    def _make_room(self, size: int) -> None:
        """Forget the oldest bodies, until one of that size may be held too."""
        while self._recent and sum(len(one.data) for one in self._recent) + size > self._held:
            self._recent.popleft()

    def _continued(self, data: bytes) -> _Body | None:
        """The value of a body that repeats an earlier one; None when nothing can be taken from there."""
        if not self._recent:
            return None
        shared, base = self._longest(data)
        if shared < len(data) // 2:
            behind = (one for one in reversed(self._recent) if self._walked(one) and _has_anchor(one, data))
            other = next(behind, base)
            if other is not base:
                shared, base = common_prefix(other.data, data), other
        if not self._walked(base):
            return None
        made = _Taken(base, data)
        try:
            if shared >= WORTHWHILE // 2:
                made.begin(shared)
            for at, (_, items) in enumerate(base.members):
                if len(data) - made.walked > WORTHWHILE and items:
                    made.come_back(at)
            whole = made.end() if made.walked else None
        except (orjson.JSONDecodeError, _Unusable):
            whole = None
        self.parsed += made.parsed
        if whole is not None:
            whole.blocks = base.blocks[: shared // _BLOCK]
            whole.blocks += _blocks(data, len(whole.blocks))
        if whole is not None and made.is_continued:
            self._recent.remove(base)
        return whole

    def _longest(self, data: bytes) -> tuple[int, _Body]:
        """The body that shares the most first bytes, and how many.

        One that cannot share more than those before it is known by the bytes there: it is not compared.
        """
        best, base = 0, self._recent[-1]
        for one in reversed(self._recent):
            here = slice(max(0, best - _GLANCE), best + 1)
            if len(one.data) > best and one.data[here] == data[here]:
                shared = common_prefix(one.data, data)
                best, base = (shared, one) if shared > best else (best, base)
        return best, base

    def _walked(self, body: _Body) -> bool:
        self.parsed += len(body.data) - body.walked
        return _walk(body)


def _blocks(data: bytes, first: int = 0) -> list[int]:
    """The hashes of the blocks of a body, from the `first` one on."""
    return [hash(data[at : at + _BLOCK]) for at in range(first * _BLOCK, len(data), _BLOCK)]


class _Unusable(Exception):
    """Nothing can be taken from the earlier body."""


class _Taken:
    """A body of which parts are taken from an earlier one, from its front to its end."""

    def __init__(self, base: _Body, data: bytes) -> None:
        self._base, self._data = base, data
        self._value: dict[str, object] = {}
        self._members: list[tuple[int, _Array]] = []
        self._begun: _Array | None = None
        """Where each item of the array under way ends, which is the last member of the value."""
        self.walked = 0
        """Up to here the body is read."""
        self.parsed = 0
        self.is_continued = False
        """Whether an array of the earlier body is in it up to the last items."""

    def begin(self, shared: int) -> None:
        """Take what ends in the first bytes, which both have."""
        members, data = self._base.members, self._data
        if data[shared - 1] in _CLOSED:
            shared += 1  # what ends here is whole; a number may go on
        whole = bisect_left(members, shared, key=lambda member: member[0])
        items: _Array = members[whole][1] if whole < len(members) else []
        kept = bisect_left(items, shared)
        self._members = members[:whole]
        self._value = dict(islice(self._base.value.items(), whole))
        self.walked = items[kept - 1] if kept else members[whole - 1][0] if whole else 0
        if kept:
            name, values = self._array(whole)
            self._begun = items[:kept]
            self._value[name] = values[:kept]
            self.is_continued = kept >= len(items) - 2

    def come_back(self, at: int) -> None:
        """Take the items of the earlier body's array at `at` that are in the body behind a change, if some are."""
        base, data, items = self._base, self._data, self._base.members[at][1]
        if at < len(self._members):
            return
        taken = len(self._begun) if self._begun and at == len(self._members) else 0
        found = _anchor(base, at, data, self.walked, taken)
        if found is None:
            return
        there, here = found
        front = there - common_suffix(base.data[:there], data[self.walked : here], min(there, here - self.walked))
        back = there + common_prefix(base.data[there:], data[here:])
        first = bisect_left(items, front) + 1  # the first one whose front and the sign before it are in both
        last = bisect_left(items, back)
        if last - first < 1 or items[first - 1] + here - there < self.walked:
            return
        moved = here - there
        until = items[first - 1] + moved
        self._read(data[self.walked : until] + b"]}")
        ends = _Body(data[:until] + b"]}", self._value, self._members, self._begun or [], self.walked)
        if not _walk(ends):
            raise _Unusable
        *self._members, (_, self._begun) = ends.members
        self._last().extend(self._array(at)[1][first:last])
        self._begun += [end + moved for end in items[first:last]] if moved else items[first:last]
        self.walked = self._begun[-1]
        self.is_continued = self.is_continued or last >= len(items) - 2

    def end(self) -> _Body:
        """Read the rest."""
        self._read(self._data[self.walked :])
        return _Body(self._data, self._value, self._members, self._begun or [], self.walked)

    def _last(self) -> list[object]:
        """The array under way."""
        return cast(list[object], next(reversed(self._value.values())))

    def _array(self, at: int) -> tuple[str, list[object]]:
        name = next(islice(self._base.value, at, None))
        return name, cast(list[object], self._base.value[name])

    def _read(self, text: bytes) -> None:
        """Read the members, or the items and members, that come next."""
        if _NUL in text:
            raise _Unusable
        self.parsed += len(text)
        if not self.walked:
            self._value = orjson.loads(text)
            return
        after: dict[str, object] = orjson.loads(b"{%s:%s%s" % (_NUL, b"0" if self._begun is None else b"[0", text))
        begun = after.pop("\0")
        if self._begun is not None:
            self._last().extend(cast(list[object], begun)[1:])
        before = len(self._value)
        self._value.update(after)
        if len(self._value) != before + len(after):
            raise _Unusable  # a name twice: the last one counts


def _anchor(base: _Body, at: int, data: bytes, start: int = 0, taken: int = 0) -> tuple[int, int] | None:
    """Where an item of the earlier body's array, after those `taken`, is in both bodies: in `data` behind `start`."""
    ends = base.members[at][1]
    for behind in _ANCHORS:
        place = len(ends) - behind
        if place <= taken:
            return None
        item = base.data[ends[place - 1] : ends[place]]
        if len(item) >= _ANCHOR and (here := data.find(item, start)) >= 0:
            return ends[place - 1], here
    return None


def _has_anchor(base: _Body, data: bytes) -> bool:
    """Whether the body comes back to the earlier one's longest array."""
    sizes = [end - start for start, (end, _) in zip([0, *(end for end, _ in base.members)], base.members, strict=False)]
    arrays = [at for at, (_, items) in enumerate(base.members) if items]
    return bool(arrays) and _anchor(base, max(arrays, key=sizes.__getitem__), data) is not None


def _walk(body: _Body) -> bool:
    """Find where the members of a body end, and the items of its arrays; False for one that cannot be used."""
    if body.unusable or body.walked == len(body.data):
        return not body.unusable
    try:
        _find_ends(body)
    except (StopIteration, ValueError, RecursionError, AttributeError, TypeError):
        body.unusable = True
    else:
        body.unusable = len(body.members) != len(body.value)
    body.walked = len(body.data)
    return not body.unusable


def _find_ends(body: _Body) -> None:
    # One character a byte: the structure of JSON is ASCII, and only places are wanted here.
    start, text = body.walked, body.data[body.walked :].decode("latin-1")
    at = 0
    if body.begun:
        at = _array(text, at, start, body.begun)
        body.members.append((start + at, body.begun))
        body.begun = []
    while True:
        sign, at = _sign(text, at)
        if sign == "}":
            return
        if sign in "{,":
            continue
        _, at = _scan(text, at - 1)  # the name
        _, at = _sign(text, at)
        sign, after = _sign(text, at)
        items: _Array = []
        if sign == "[":
            at = _array(text, after, start, items)
        else:
            _, at = _scan(text, after - 1)
        body.members.append((start + at, items))


def _sign(text: str, at: int) -> tuple[str, int]:
    """The next character that is not white space, and the place after it."""
    found = _next(text, at)
    if found is None:
        raise ValueError("the body ends early")
    return found[1], found.end()


def _array(text: str, at: int, start: int, ends: _Array) -> int:
    """Adds where the items of an array end, from a place behind its bracket or behind an item; returns its end."""
    while True:
        sign, at = _sign(text, at)
        if sign == "]":
            return at
        if sign != ",":
            _, at = _scan(text, at - 1)
            ends.append(start + at)


_bodies = RequestBodies()
read_body = _bodies.read
"""As `RequestBodies.read`, for the whole process."""
body_hash = _bodies.hash
"""As `RequestBodies.hash`, for the whole process."""
