"""The last long request bodies of a run: what a new one shares with an earlier one is not searched again."""

from collections import deque
from collections.abc import Callable

from ..tape.delta import common_prefix, common_suffix
from .repeated_values import replaced

type Search = Callable[[bytes, tuple[bytes, ...]], bytes]
"""Gives a body without its secrets; the second argument are values that are secrets too."""

_LONGEST = 8192
"""The length of the longest secret that is found by its shape; private keys come close."""
_LARGE = 2 * _LONGEST
"""Bodies that share at least this many first bytes with an earlier one are searched only where they differ."""
_BETWEEN = b'"},{"'
"""What is between two objects of a JSON list, as two messages or two tools. No secret contains it."""
_CONTEXT = 1024
"""How many bytes around a secret can decide that it is one."""
MEDIUM = 2048
"""The same as `_LARGE` for bodies with `_BETWEEN` shortly before the place where they differ."""
_MOST = 4


class EarlierBodies:
    """Each as it was received, and as it was written, with the keys that it was searched for."""

    def __init__(self) -> None:
        self._recent: deque[tuple[bytes, bytes, tuple[bytes, ...]]] = deque(maxlen=_MOST)

    def __len__(self) -> int:
        return len(self._recent)

    def add(self, body: bytes, clean: bytes, sent: tuple[bytes, ...] = ()) -> None:
        self._recent.append((body, clean, sent))

    def cleaned_after(self, body: bytes, search: Search, sent: tuple[bytes, ...] = ()) -> bytes:
        """A body without its secrets; `search` is given what no earlier body has, with what is around it.

        Only a body that was searched for the same keys counts: `sent` are those in the header of the request. `search`
        also gets the secrets of the earlier body, which may be said again.
        """
        earlier, before, shared = self._nearest(body, sent)
        begin, start = _before(body, shared)
        if shared < MEDIUM or begin < 0:
            return search(body, ())
        tail = common_suffix(earlier, body, min(len(earlier), len(body)) - shared)
        stop, end = _after(body, len(body) - tail)
        searched = body[begin:end]
        last = len(earlier) - (len(body) - stop)
        around, gone = _secrets(earlier, before, start, last)
        middle = search(searched, around)
        if before is earlier and middle == searched:
            return body  # not copied, since there is no secret in it
        new = [value for value in replaced(searched, middle) if value not in around]
        if any(value in around for value in gone) or any(
            value in body[:start] or value in body[stop:] for value in new
        ):
            return search(body, ())  # the same value is elsewhere too
        old, here = memoryview(before), memoryview(middle)
        return b"".join((old[:start], here[start - begin : stop - begin], old[last:]))

    def _nearest(self, body: bytes, sent: tuple[bytes, ...]) -> tuple[bytes, bytes, int]:
        """The earlier body that shares most first bytes, as received and as written, and how many these are.

        Of those that share as much, the newest: its end is most likely the same too.
        """
        nearest, shared = (b"", b""), 0
        for earlier, before, keys in reversed(self._recent):
            if keys == sent and body[shared : shared + 1] == earlier[shared : shared + 1]:  # else it shares no more
                size = common_prefix(earlier, body)
                if size > shared:
                    nearest, shared = (earlier, before), size
        return *nearest, shared


def _before(body: bytes, shared: int) -> tuple[int, int]:
    """Where the search begins, and from where on its result counts, when another body has the first `shared` bytes.

    No secret crosses the second place, unless it begins after the first; one that ends before it is in both bodies.
    The first place is negative when the bodies share too little.
    """
    between = body.rfind(_BETWEEN, max(shared - _LARGE, 0), shared)
    if between < 0:
        return shared - _LARGE, shared - _LONGEST
    start = between + len(_BETWEEN)
    return max(start - _CONTEXT, 0), start


def _after(body: bytes, rest: int) -> tuple[int, int]:
    """The same for the end, when another body has all bytes from `rest` on: where the result ends, and the search."""
    between = body.find(_BETWEEN, rest, rest + _LARGE)
    stop = rest + _LONGEST if between < 0 else between
    return min(stop, len(body)), stop + (_LONGEST if between < 0 else _CONTEXT)


def _secrets(body: bytes, clean: bytes, start: int, stop: int) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """The values that were replaced outside of a part of a body, and those within it."""
    if clean is body:
        return (), ()
    around = (*replaced(body[:start], clean[:start]), *replaced(body[stop:], clean[stop:]))
    return around, replaced(body[start:stop], clean[start:stop])
