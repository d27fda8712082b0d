"""Hashes with a key of the store: equal texts have equal hashes there, and nobody without the key can test a guess.

Without a key a short prompt could be found by trying texts.
"""

import hmac
from hashlib import sha256

import orjson

from ...wire.json_value import compact, is_array, is_object

DIGITS = 32
"""Hexadecimal digits of a hash."""


class KeyedHash:
    """HMAC-SHA-256 with one key, cut to 128 bits."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def text(self, text: str) -> str:
        """The hash of a text."""
        return self.data(text.encode("utf-8", "surrogatepass"))

    def data(self, data: bytes) -> str:
        """The hash of bytes."""
        return hmac.new(self._key, data, sha256).hexdigest()[:DIGITS]

    def value(self, value: object) -> str:
        """The hash of a JSON value, whatever the order of its keys."""
        return self.data(canonical(value))


def canonical(value: object) -> bytes:
    """A JSON value in one spelling: compact, with sorted keys."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except (TypeError, ValueError):
        return compact(_sorted(value)).encode("utf-8", "surrogatepass")


def _sorted(value: object) -> object:
    if is_object(value):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if is_array(value):
        return [_sorted(one) for one in value]
    return value
