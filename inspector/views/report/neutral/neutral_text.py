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
_ADDRESS = regex(r"([a-z][a-z0-9+.-]*://)((?:[^/?#]*@)?)([A-Za-z0-9.:\[\]_-]*)(?=[/?#]|\Z)")
_DIGIT = regex(r"\d")
_SHORT = 3
"""Numbers with so few digits stay: they count, or switch something."""
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
        """A number of the recording's data; one of more than three digits becomes another one with as many digits."""
        written = repr(abs(number)).removesuffix(".0").partition("e")[0]
        if sum(map(str.isdecimal, written)) <= _SHORT:
            return number
        ones = _DIGIT.sub("1", written)
        return float(ones) if "." in ones else int(ones)

    def url(self, url: str) -> str:
        """An address with its scheme and host; path, query, fragment and who asks are texts."""
        found = _ADDRESS.match(url)
        if found is None:
            return self.text(url)
        scheme, user, host = found.groups()
        return f"{scheme}{self.text(user)}{host}{self.text(url[found.end() :])}"


def _letters(digest: bytes, length: int) -> str:
    """`length` letters, vowels and consonants in turn."""
    first = digest[0] & 1
    kinds = (_LETTERS[(at + first) % 2] for at in range(length))
    return "".join(letters[digest[at % 31 + 1] % len(letters)] for at, letters in enumerate(kinds))
