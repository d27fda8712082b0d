"""Request bodies that begin as an earlier one: what both begin with is parsed once.

An agent sends its whole history in each request, so parsing each body whole would make a long run quadratic. The
members of the body, and the items of its arrays, that lie in the common first bytes are taken from the earlier value,
as the same objects. `parsed` counts what was given to a parser, for tests.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from json import JSONDecoder
from re import compile
from threading import Lock
from typing import Any, cast

import orjson

from turntape.cassettes.framing.json_text import parse_json
from turntape.cassettes.tape.delta import common_prefix

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

_CLOSED = b'}]"'
"""What ends an object, an array or a string, or a place in the middle of one."""

type _Array = list[int]
"""Where each item of an array ends."""


@dataclass(slots=True, eq=False)
class _Body:
    data: bytes
    value: dict[str, object]
    members: list[tuple[int, _Array]] = field(default_factory=list[tuple[int, _Array]])
    """Where each member ends, in order, with the items of an array; as far as `walked`."""
    begun: _Array = field(default_factory=list[int])
    """The known items of the array after these members."""
    walked: int = 0
    """Up to here the places are known."""
    unusable: bool = False
    """True for a body with a name twice, or one that is nested too deep."""


class RequestBodies:
    """Parses the bodies of requests. Any thread may use it."""

    def __init__(self, kept: int = _KEPT, held: int = HELD) -> None:
        self._recent: deque[_Body] = deque(maxlen=kept)
        self._held = held
        self._lock = Lock()
        self.parsed = 0
        """Bytes given to a parser so far, of bodies that are large enough to be remembered."""

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
        shared = [(common_prefix(one.data, data), one) for one in self._recent]
        made = None
        if shared:
            most, base = max(shared, key=lambda pair: pair[0])
            made = self._continued(base, data, most) if most >= WORTHWHILE // 2 else None
        if made is None:
            self.parsed += len(data)
            value = parse_json(data)
            if not isinstance(value, dict):
                return value
            made = _Body(data, cast(dict[str, object], value))
        self._remember(made)
        return made.value

    def _remember(self, made: _Body) -> None:
        self._recent.append(made)
        while len(self._recent) > 1 and sum(len(one.data) for one in self._recent) > self._held:
            self._recent.popleft()
        if len(made.data) > self._held:
            self._recent.pop()

    def _continued(self, base: _Body, data: bytes, shared: int) -> _Body | None:
        """The value of a body that begins with the same `shared` bytes; None when nothing can be taken from there."""
        self.parsed += len(base.data) - base.walked
        if not _walk(base):
            return None
        if data[shared - 1] in _CLOSED:
            shared += 1  # what ends here is whole; a number may go on
        whole = bisect_left(base.members, shared, key=lambda member: member[0])
        items: _Array = base.members[whole][1] if whole < len(base.members) else []
        kept = bisect_left(items, shared)
        cut = items[kept - 1] if kept else base.members[whole - 1][0] if whole else 0
        rest = data[cut:]
        if not cut or _NUL in rest:
            return None
        self.parsed += len(rest)
        try:
            after: dict[str, object] = orjson.loads(b"{%s:%s%s" % (_NUL, b"[0" if kept else b"0", rest))
        except orjson.JSONDecodeError:
            return None
        begun = after.pop("\0")
        value = dict(islice(base.value.items(), whole))
        if kept:
            name = next(islice(base.value, whole, None))
            value[name] = cast(list[object], base.value[name])[:kept] + cast(list[object], begun)[1:]
        before = len(value)
        value.update(after)
        if len(value) != before + len(after):
            return None  # a name twice: the last one counts
        if kept and kept >= len(items) - 2:
            self._recent.remove(base)  # this body continues it
        return _Body(data, value, base.members[:whole], items[:kept], cut)


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
