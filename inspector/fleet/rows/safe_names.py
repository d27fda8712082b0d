"""Which texts of the wire a row may have as they are: names. Anything else becomes a keyed hash.

The names of models, tools and errors, and ids, come from outside. A model may call a tool whose name is a whole
sentence, and a URL may hold a key. So a text is kept only when it is short, has no white space and no known key shape.
"""

from functools import lru_cache
from urllib.parse import unquote

from turntape.cassettes.redaction.redactor import Redactor
from turntape.cassettes.regex import regex

from .keyed_hash import KeyedHash

_NAME = regex(r"[\w.:@/+~$%()\[\]{},;=&*!|<>#'-]{1,160}")
_IDENTIFIER = regex(r"[0-9A-Fa-f]{8,64}|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_SEGMENT = regex(r"[\w.:@+~$()\[\],;=*!'-]{0,96}")
_LONGEST_LABEL = 256
_MOST_KEPT = 4096
"""So many decisions are remembered: the same names come again with each round trip."""


class SafeNames:
    """Decides what is kept, by the key of a store and the rules of redaction."""

    def __init__(self, hashes: KeyedHash, redactor: Redactor) -> None:
        self._hashes = hashes
        self._redactor = redactor
        self._decided = lru_cache(_MOST_KEPT)(self._name)

    def name(self, text: str | None) -> str | None:
        """A name as it is, or `hash:` and its keyed hash."""
        return None if text is None else self._decided(text)

    def identifier(self, text: str | None) -> str | None:
        """A UUID or a hexadecimal id as it is; anything else, which a header may hold, as its keyed hash."""
        if text is None:
            return None
        return text if _IDENTIFIER.fullmatch(text) else self._hashed(text)

    def label(self, text: str) -> str:
        """A label that the user gives: as it is, without secrets and at most 256 characters."""
        clean = self._redactor.body(text.encode("utf-8", "replace")).decode("utf-8", "replace")
        return " ".join(clean.split())[:_LONGEST_LABEL]

    def path(self, path: str) -> str:
        """The path of a URL; segments that are not names are hashed."""
        return "/".join(self._segment(segment) for segment in self._redactor.url(path).split("/"))

    def _name(self, text: str) -> str:
        return text if _NAME.fullmatch(text) and not self._secret(text) else self._hashed(text)

    def _segment(self, segment: str) -> str:
        plain = unquote(segment)
        return plain if _SEGMENT.fullmatch(plain) else self._hashed(segment)

    def _secret(self, text: str) -> bool:
        data = text.encode()
        return self._redactor.body(data) != data

    def _hashed(self, text: str) -> str:
        return f"hash:{self._hashes.text(text)}"
