"""Finds words that look random, whatever they are: for those who set `redact_entropy`.

Such a search also finds check sums and other data, so it is off by default. Ids, signatures and encrypted
reasoning are known by their field, their beginning or their length, and are left.
"""

import re
from collections import Counter
from math import log2

from ..regex import regex
from .body_search import Spans

_WORD = regex(rb"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{20,200}={0,2}(?![A-Za-z0-9+/_=-])")
_ID = regex(rb"[a-z]{2,16}[_-]|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z|REDACTED|[0-9-]+\Z")
"""How ids begin, such as `call_…`; a UUID; a date or a number."""
_FIELD = regex(
    rb"(?:id|ids|signature|encrypted_content|data|blob|hash|sha|etag|cursor|digest|revision|commit|fingerprint|cache_key)"
    rb"\\{0,3}\"\s{0,2}:\s{0,2}\[?\\{0,3}\"\Z",
    re.IGNORECASE,
)
"""The field of an id, or of data that is not a text."""
_HEX = regex(rb"[0-9a-fA-F]{32,}\Z")
_LEAST, _LEAST_OF_HEX, _LEAST_OF_A_PATH = 3.7, 3.0, 4.3
"""Bits in each letter, as in the text that has these letters as often."""


def random_words(body: bytes) -> Spans:
    """All words of 20 to 200 letters that look random."""
    spans: Spans = {}
    for match in _WORD.finditer(body):
        start, end = match.span()
        if looks_random(match[0]) and _FIELD.search(body, max(start - 64, 0), start) is None:
            spans[start] = (end, 0)
    return spans


def looks_random(word: bytes) -> bool:
    """Whether a word has the letters and digits of a random value."""
    if _ID.match(word) is not None:
        return False
    if _HEX.match(word) is not None:
        return bits(word) >= _LEAST_OF_HEX
    kinds = (word.upper() != word) + (word.lower() != word) + any(0x30 <= byte <= 0x39 for byte in word)
    return kinds == 3 and bits(word) >= (_LEAST_OF_A_PATH if b"/" in word else _LEAST)


def bits(word: bytes) -> float:
    """The entropy of each letter."""
    size = len(word)
    return -sum(count / size * log2(count / size) for count in Counter(word).values())
