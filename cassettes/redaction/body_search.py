"""Finds secrets in a body by their shape. Nothing is changed here.

A key is a long word, and prose and code have few of these. So a body is first reduced to its long words, which is fast,
and only these are searched for the many prefixes of keys, each word once: an event stream says the same ones thousands
of times.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator

from ..regex import regex
from .key_shapes import ANY_WORD, BARE, BARE_FORM, CONTEXTS, IN_A_WORD, LONG_WORD, WORDS, Shape

type Spans = dict[int, tuple[int, int]]
"""Start of a secret → its end, and how many of its first bytes are kept."""

_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_LONG = b"w" * LONG_WORD
_LETTERS = bytes(ord("w") if byte in _WORD or byte in IN_A_WORD else ord(" ") for byte in range(256))
"""What a key may have as `w`, the rest as a space."""
_DIGITS = bytes(ord("h") if byte in b"0123456789abcdef" else byte for byte in range(256))
"""Hexadecimal digits as `h`."""
_ESCAPES = b"nrtbf"
_BEFORE = regex(rb"(?:\\u[0-9a-fA-F]{4}|%[0-9a-fA-F]{2}|(?:\x1b|\\u001[bB]|\\x1[bB]|\\033|\\e)\[[0-9;]{0,16}m)\Z")
"""An encoded character that ends in a word character: a JSON escape, a percent-encoded byte, a terminal colour."""
_BASE64_RUN = 64
_BASE64 = regex(rb"[A-Za-z0-9+/_=-]*")
_RULES = bytes(ord("-") if byte in b"_=-" else ord(" ") for byte in range(256))
_BARE = b"h" * 32
_LONGEST_KEY = 400
"""The length of the longest key, with its prefix; a longer match is encoded data."""
_LONGEST_ROOT = max(map(len, WORDS))
_LARGE = 4096
"""A word of at least this many bytes may be encoded data, of which only the ends can hold a key."""
_BLOCK = 1 << 20
"""How many bytes of a body are searched before their words are forgotten."""


def shaped(body: bytes) -> Spans:
    """All secrets that are known by their shape."""
    spans: Spans = {}
    done = 0
    for at, root in _roots(body):
        if at >= done:
            # The next key may begin with the last letters of this one.
            done = at + max(_match(body, at, WORDS.get(root, BARE), spans) - _LONGEST_ROOT, 0)
    for root, shapes in CONTEXTS.items():
        at = body.find(root)
        while at >= 0:
            at = body.find(root, at + max(len(root), _match(body, at, shapes, spans)))
    return spans


def _match(body: bytes, at: int, shapes: tuple[Shape, ...], spans: Spans) -> int:
    """Note the secret at `at`, if there is one; returns how many bytes from there on need no further search."""
    for shape in shapes:
        if shape.keep and not starts_word(body, at):
            continue
        match = shape.pattern.match(body, at)
        if match is not None and not (shape.keep and _in_base64(body, at, match.end())):
            start, end = match.span(1) if match.re.groups else match.span()
            spans.setdefault(start, (end, shape.keep))
            return end - at
    return 0


def _roots(body: bytes) -> Iterator[tuple[int, bytes]]:
    """Where a key may begin, in order, and the root that is there; an empty one for a key without a prefix."""
    mask = body.translate(_LETTERS)
    words: defaultdict[bytes, list[int]] = defaultdict(list)
    end = block = 0
    at = mask.find(_LONG)
    while at >= 0:
        start = mask.rfind(b" ", end, at) + 1
        end = mask.find(b" ", at)
        end = len(mask) if end < 0 else end
        if end - start < _LARGE:
            words[body[start:end]].append(start)
        else:
            for begin, stop in _without_encoded(body, start, end):
                words[body[begin:stop]].append(begin)
        if end - block >= _BLOCK:
            yield from _roots_of(words)
            words.clear()
            block = end
        at = mask.find(_LONG, end)
    yield from _roots_of(words)


def _roots_of(words: dict[bytes, list[int]]) -> list[tuple[int, bytes]]:
    """The same for these words, each with the places where it is."""
    places = list(words.values())
    starts: list[int] = []
    length = 0
    for word in words:
        starts.append(length)
        length += len(word) + 1
    joined = b"\0".join(words)
    roots = [(root.start(), root[1]) for root in ANY_WORD.finditer(joined)]
    if _BARE in (digits := joined.translate(_DIGITS)):
        roots += [(form.start(), b"") for form in BARE_FORM.finditer(digits)]
    found: list[tuple[int, bytes]] = []
    for start, root in roots:
        word = bisect_right(starts, start) - 1
        found += [(place + start - starts[word], root) for place in places[word]]
    found.sort()
    return found


def _without_encoded(body: bytes, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """A very long word as it is; of one that is encoded data, its two ends."""
    inner = begin + _BASE64_RUN
    if _BASE64.fullmatch(body, inner, end) is None or _has_ruler(body[inner:end]):
        yield begin, end
        return
    yield begin, inner + _BASE64_RUN
    yield end - _BASE64_RUN - _LONGEST_KEY, end


def starts_word(body: bytes, at: int) -> bool:
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
