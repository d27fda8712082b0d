"""Neutral text of equal length. Equal texts stay equal, and texts that begin alike still begin alike.

Each word is replaced by letters that depend on all words before it and on a key that is made for one report and kept
nowhere. So no word can be looked up, and a prefix that requests share is still a shared prefix. White space and ASCII
punctuation stay.
"""

import re
import secrets
from functools import lru_cache
from hashlib import blake2b

from turntape.cassettes.regex import regex

_WORD = regex(r"[^\s!-/:-@\[-^`{-~]+")
_NAME = regex(r"[A-Za-z0-9_][\w.:@+-]{0,79}", re.ASCII)
_LETTERS = "aeiou", "bdfklmnprst"


class NeutralText:
    """The replacement of texts, with its own key."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(16)
        self.text = lru_cache(maxsize=20_000)(self._text)
        """The neutral text for a text."""

    def _text(self, text: str) -> str:
        state = blake2b(key=self._key, digest_size=32)

        def other(found: re.Match[str]) -> str:
            word = found[0]
            state.update(word.encode("utf-8", "surrogatepass") + b" ")
            return _letters(state.copy().digest(), len(word))

        return _WORD.sub(other, text)

    def name(self, name: str) -> str:
        """A name as it is: of a tool, a model, a finish word, an id. What is not shaped like one is a text."""
        return name if _NAME.fullmatch(name) else self.text(name)

    def number(self, number: float) -> float:
        """A number of the recording's data; a long one becomes another one with as many digits."""
        return number if abs(number) < 1000 else int("1" * len(str(abs(int(number)))))

    def url(self, url: str) -> str:
        """An address with its scheme and host; path and query are texts."""
        scheme, there, rest = url.partition("://")
        host, slash, path = rest.partition("/")
        return f"{scheme}{there}{host}{slash}{self.text(path)}" if there else self.text(url)


def _letters(digest: bytes, length: int) -> str:
    """`length` letters, vowels and consonants in turn."""
    first = digest[0] & 1
    kinds = (_LETTERS[(at + first) % 2] for at in range(length))
    return "".join(letters[digest[at % 31 + 1] % len(letters)] for at, letters in enumerate(kinds))
