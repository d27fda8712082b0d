"""Stores the history that agents resend only once: a body as the difference from an earlier one.

A delta says: the first `prefix` bytes and the last `suffix` bytes are those of body `base`, and `middle` is between
them. It is byte-exact and independent of what the bytes mean.
"""

from collections import OrderedDict

from ..frozen import frozen

WINDOW = 16
"""How many bodies back a delta may refer: as many as a reader holds when it reads from the start."""
WORTHWHILE = 256
"""A delta must save more bytes than this; smaller bodies are not remembered."""
_FIRST_STEP = 128
"""How many bytes are compared first. Most bodies with nothing in common differ in these; then the steps double."""
_LAST_STEP = 256
"""How many bytes are compared as one number, whose lowest bit is where they differ."""


@frozen
class Delta:
    base: int
    """The number of the round trip whose request body is referred to."""
    prefix: int
    suffix: int
    middle: bytes


def common_prefix(a: bytes, b: bytes, start: int = 0) -> int:
    """How many first bytes `a` and `b` share; they are known to share `start`."""
    view = memoryview(b)  # no piece is copied to be compared
    low, end, step = start, min(len(a), len(b)), _FIRST_STEP
    while low < end and a.startswith(view[low : low + step], low):
        low, step = low + step, 2 * step
    high = min(low + step, end)
    while high - low > _LAST_STEP:
        middle = (low + high) // 2
        if a.startswith(view[low:middle], low):
            low = middle
        else:
            high = middle
    differing = int.from_bytes(a[low:high], "little") ^ int.from_bytes(view[low:high], "little")
    return low + ((differing & -differing).bit_length() - 1) // 8 if differing else end


def common_suffix(a: bytes, b: bytes, limit: int) -> int:
    """How many last bytes `a` and `b` share, at most `limit`."""
    view = memoryview(b)
    size_a, size_b = len(a), len(b)
    low, step = 0, _FIRST_STEP
    while low < limit:
        high = min(low + step, limit)
        if not a.startswith(view[size_b - high : size_b - low], size_a - high):
            break
        low, step = high, 2 * step
    high = min(low + step, limit)
    while high - low > _LAST_STEP:
        middle = (low + high) // 2
        if a.startswith(view[size_b - middle : size_b - low], size_a - middle):
            low = middle
        else:
            high = middle
    differing = int.from_bytes(a[size_a - high : size_a - low]) ^ int.from_bytes(view[size_b - high : size_b - low])
    return low + ((differing & -differing).bit_length() - 1) // 8 if differing else limit


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

    def get(self, number: int) -> bytes | None:
        """The body of that number, if it is held."""
        return self._bodies.get(number)

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
        best: tuple[int, int, int] | None = None
        saved, ahead, behind = WORTHWHILE, 0, 0
        for number, earlier in reversed(self._bodies.items()):
            if best is not None and not _may_share_more(body, earlier, ahead, behind):
                continue
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
            saved, ahead, behind = prefix + suffix, prefix, suffix
            best = number, prefix, suffix
            if saved == len(body):
                break
        if best is None:
            return None
        number, prefix, suffix = best
        return Delta(number, prefix, suffix, body[prefix : len(body) - suffix])


def _may_share_more(body: bytes, earlier: bytes, ahead: int, behind: int) -> bool:
    """False when `earlier` shares no more than `ahead` bytes at the beginning, and no more than `behind` at the end."""
    ends_alike = behind < len(earlier) and body[-1 - behind] == earlier[-1 - behind]
    return ends_alike or body[ahead : ahead + 1] == earlier[ahead : ahead + 1]
