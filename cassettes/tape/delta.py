"""Stores the history that agents resend only once: a body as the difference from an earlier one.

A delta says: the first `prefix` bytes and the last `suffix` bytes are those of body `base`, and `middle` is between
them. It is byte-exact and independent of what the bytes mean.
"""

from collections import OrderedDict
from dataclasses import dataclass

WINDOW = 16
"""How many bodies back a delta may refer: as many as a reader holds when it reads from the start."""
WORTHWHILE = 256
"""A delta must save more bytes than this; smaller bodies are not remembered."""
_FIRST_STEP = 128
"""How many bytes are compared first. Most bodies with nothing in common differ in these; then the steps double."""


@dataclass(frozen=True, slots=True)
class Delta:
    base: int
    """The number of the round trip whose request body is referred to."""
    prefix: int
    suffix: int
    middle: bytes


def common_prefix(a: bytes, b: bytes, start: int = 0) -> int:
    """How many first bytes `a` and `b` share; they are known to share `start`."""
    low, end = start, min(len(a), len(b))
    high = min(low + _FIRST_STEP, end)
    while a[low:high] == b[low:high]:
        if high == end:
            return end
        low, high = high, min(2 * high - start, end)
    while high - low > 1:
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low


def common_suffix(a: bytes, b: bytes, limit: int) -> int:
    """How many last bytes `a` and `b` share, at most `limit`."""
    low, high = 0, min(_FIRST_STEP, limit)
    size_a, size_b = len(a), len(b)
    while a[size_a - high : size_a - low] == b[size_b - high : size_b - low]:
        if high == limit:
            return limit
        low, high = high, min(2 * high, limit)
    while high - low > 1:
        middle = (low + high) // 2
        if a[size_a - middle : size_a - low] == b[size_b - middle : size_b - low]:
            low = middle
        else:
            high = middle
    return low


def _continues(data: bytes, at: int) -> bool:
    """True when `at` is inside a UTF-8 character."""
    return at < len(data) and data[at] & 0xC0 == 0x80


class Window:
    """The last bodies, to which a delta may refer; without those beyond `most` bytes, but always the newest."""

    def __init__(self, most: int | None = None) -> None:
        self._bodies: OrderedDict[int, bytes] = OrderedDict()
        self._most, self._size = most, 0

    def __getitem__(self, number: int) -> bytes:
        return self._bodies[number]

    def __contains__(self, number: int) -> bool:
        return number in self._bodies

    def add(self, number: int, body: bytes) -> None:
        """Remember `body`, and forget the oldest when there are more than `WINDOW`."""
        if len(body) < WORTHWHILE:
            return
        self._bodies[number] = body
        self._size += len(body)
        while len(self._bodies) > WINDOW or (self._most and self._size > self._most and len(self._bodies) > 1):
            self._size -= len(self._bodies.popitem(last=False)[1])

    def shorten(self, body: bytes) -> Delta | None:
        """The delta of `body` from the body in the window that saves most; None when none saves enough."""
        best: Delta | None = None
        saved = WORTHWHILE
        for number, earlier in reversed(self._bodies.items()):
            prefix = common_prefix(body, earlier)
            limit = min(len(body), len(earlier)) - prefix
            if prefix + limit <= saved:
                continue
            suffix = common_suffix(body, earlier, limit)
            if prefix + suffix <= saved:
                continue
            while prefix and _continues(body, prefix):
                prefix -= 1
            while _continues(body, len(body) - suffix):
                suffix -= 1
            saved = prefix + suffix
            best = Delta(number, prefix, suffix, body[prefix : len(body) - suffix])
            if saved == len(body):
                break
        return best
