"""Finds secrets in a body by their shape. Nothing is changed here.

A key has a row of letters and digits that prose and code seldom have. So a body is first reduced to the places
around such rows, which is fast, and only these are searched for the many prefixes of keys.
"""

from bisect import bisect_right
from collections.abc import Iterator

from ..regex import regex
from .key_shapes import ANY_WORD, CONTEXTS, LONG_WORD, REACH, WORDS, Shape

type Spans = dict[int, tuple[int, int]]
"""Start of a secret → its end, and how many of its first bytes are kept."""

_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_ROW = bytes(ord("w") if byte in _WORD or byte == ord("-") else ord(" ") for byte in range(256))
"""Letters, digits, `_` and `-` as `w`, the rest as a space."""
_ESCAPES = b"nrtbf"
_BEFORE = regex(rb"(?:\\u[0-9a-fA-F]{4}|%[0-9a-fA-F]{2}|(?:\x1b|\\u001[bB]|\\x1[bB]|\\033|\\e)\[[0-9;]{0,16}m)\Z")
"""An encoded character that ends in a word character: a JSON escape, a percent-encoded byte, a terminal colour."""
_BASE64_RUN = 64
_BASE64 = regex(rb"[A-Za-z0-9+/_=-]*")
_RULES = bytes(ord("-") if byte in b"_=-" else ord(" ") for byte in range(256))
_LONGEST_KEY = 400
"""The length of the longest key, with its prefix; a longer match is encoded data."""
_LARGE = 4096
"""A row of at least this many bytes may be encoded data, of which only the ends can hold a key."""


def shaped(body: bytes) -> Spans:
    """All secrets that are known by their shape."""
    spans: Spans = {}
    starts, offsets, near = _near_rows(body)
    done = 0
    for root in ANY_WORD.finditer(near):
        at = root.start()
        if at >= done:
            place = bisect_right(starts, at) - 1
            done = at + _match(body, at - starts[place] + offsets[place], WORDS[root[1]], spans)
    for root, shapes in CONTEXTS.items():
        at = body.find(root)
        while at >= 0:
            at = body.find(root, at + max(len(root), _match(body, at, shapes, spans)))
    return spans


def _match(body: bytes, at: int, shapes: tuple[Shape, ...], spans: Spans) -> int:
    """Note the secret at `at`, if there is one; returns how many bytes from there on need no further search."""
    for shape in shapes:
        if shape.keep and not _starts_word(body, at):
            continue
        match = shape.pattern.match(body, at)
        if match is not None and not (shape.keep and _in_base64(body, at, match.end())):
            start, end = match.span(1) if match.re.groups else match.span()
            spans.setdefault(start, (end, shape.keep))
            return end - at
    return 0


def _near_rows(body: bytes) -> tuple[list[int], list[int], bytes]:
    """The parts of a body in which keys may begin, joined; where each begins there, and in the body."""
    mask = body.translate(_ROW)
    row = b"w" * LONG_WORD
    starts: list[int] = []
    offsets: list[int] = []
    parts: list[bytes] = []
    length = 0
    for begin, end in _parts(body, mask, row):
        starts.append(length)
        offsets.append(begin)
        parts.append(body[begin:end])
        length += end - begin + 1
    return starts or [0], offsets or [0], b"\0".join(parts)


def _parts(body: bytes, mask: bytes, row: bytes) -> Iterator[tuple[int, int]]:
    """The places around rows, joined where they touch."""
    begin = end = -1
    at = mask.find(row)
    while at >= 0:
        stop = mask.find(b" ", at)
        stop = len(mask) if stop < 0 else stop
        if begin >= 0 and at - REACH > end:
            yield from _without_encoded(body, begin, end)
            begin = -1
        begin = max(at - REACH, 0) if begin < 0 else begin
        end = stop
        at = mask.find(row, stop)
    if begin >= 0:
        yield from _without_encoded(body, begin, end)


def _without_encoded(body: bytes, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """A part as it is; of one that is encoded data, its two ends."""
    inner = begin + REACH
    if end - begin < _LARGE or _BASE64.fullmatch(body, inner, end) is None or _has_ruler(body[inner:end]):
        yield begin, end
        return
    yield begin, inner + _BASE64_RUN
    yield end - _BASE64_RUN - _LONGEST_KEY, end


def _starts_word(body: bytes, at: int) -> bool:
    """True when no word character is right before `at`; the letter of a JSON escape does not count as one."""
    if at == 0 or body[at - 1] not in _WORD:
        return True
    if at >= 2 and body[at - 2] == 0x5C and body[at - 1] in _ESCAPES:
        return True
    return _BEFORE.search(body[max(at - 24, 0) : at]) is not None


def _in_base64(body: bytes, start: int, end: int) -> bool:
    """True when a match is deep inside an encoded image or signature, where it is a coincidence.

    Encoded data is before it, and is also after it, unless the match is longer than any key.
    """
    if not _encoded(body[max(start - _BASE64_RUN, 0) : start]):
        return False
    if end - start > _LONGEST_KEY:
        return not _has_ruler(body[start:end])
    return _encoded(body[end : end + _BASE64_RUN])


def _encoded(piece: bytes) -> bool:
    """True when all of `piece` is base64; a line of dashes does not count."""
    return len(piece) == _BASE64_RUN and _BASE64.fullmatch(piece) is not None and not _has_ruler(piece)


def _has_ruler(piece: bytes) -> bool:
    """True when there is a line of dashes, which encoded data does not have."""
    return b"----" in piece.translate(_RULES)
