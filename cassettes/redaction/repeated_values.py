"""Finds a secret again where nothing shows that it is one: a tool prints `API_KEY=…`, and the model says the value.

A value that was found by the name before it counts when it is long and random. It cannot be anything else then,
wherever it is.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from .body_search import Spans, starts_word
from .marks import WHOLE_MARK
from .named_values import is_random
from .sent_keys import places

_LEAST, _LONGEST = 16, 4096
_LETTERS = tuple(bytes((byte,)) for byte in range(256) if byte == 0x5F or (byte < 128 and chr(byte).isalnum()))
_MOST = 100
"""How many values of one body are searched for."""
_WITHIN_KEY = re.compile(rb"[A-Za-z0-9_.-]REDACTED-")
"""The prefix of a key before its mark: such a key is found by its form."""


def repeatable(values: Iterable[bytes]) -> tuple[bytes, ...]:
    """Those of these secrets that may be searched for, each once."""
    return tuple(dict.fromkeys(_searchable(values)))[:_MOST]


def _searchable(values: Iterable[bytes]) -> Iterator[bytes]:
    return (value for value in values if _LEAST <= len(value) <= _LONGEST and is_random(value))


def replaced(body: bytes, clean: bytes) -> tuple[bytes, ...]:
    """The values that may be searched for among those that were replaced in a body; `clean` is as long."""
    if clean is body or clean == body:
        return ()
    spans = (
        mark.span() for mark in WHOLE_MARK.finditer(clean) if not _WITHIN_KEY.match(clean, max(mark.start() - 1, 0))
    )
    return repeatable(body[start:end] for start, end in spans if body[start:end] != clean[start:end])


def places_of(values: Sequence[bytes], body: bytes) -> Spans:
    """Where these secrets are as whole words."""
    return {
        start: (end, 0)
        for value in values
        for start, end in places(value, body)
        if starts_word(body, start) and body[end : end + 1] not in _LETTERS
    }
