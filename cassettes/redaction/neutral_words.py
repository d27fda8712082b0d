"""Neutral words in place of a text: letters for letters, with as many bytes. White space and ASCII punctuation stay.

Every letter depends on the whole text and on the salt. So equal texts stay equal, and nobody finds out a text word by
word: who has the salt can only test whether a whole text is the one that he has in mind.
"""

import re
from hashlib import blake2b

from ..regex import regex

_WORD = regex(r"[^\s!-/:-@\[-^`{-~\x00-\x1f\x7f]+")
_TAG = regex(r"(</?(?:think|thinking|thought|reasoning)>)")
_HOST = regex(r"https?://[^\s/?#@]+(?=[/?#]|\Z)")
_LETTERS = "aeiou", "bdfklmnprst"
_TWO_BYTES, _THREE_BYTES, _FOUR_BYTES = 0x80, 0x800, 0x10000


def neutral_words(text: str, salt: bytes) -> str:
    """The neutral text for a text. The host of a URL and the tags around reasoning stay.

    What is between the tags is a separate text, and white space around a text does not count: clients remove both.
    """
    parts = _TAG.split(text)
    return "".join(part if at % 2 else _neutral(part, salt) for at, part in enumerate(parts))


def _neutral(text: str, salt: bytes) -> str:
    host = _HOST.match(text)
    kept = host.end() if host and not re.search(r"\s", text) else 0
    state = blake2b(text.strip().encode("utf-8", "surrogatepass"), key=salt, digest_size=32)
    number = 0

    def other(found: re.Match[str]) -> str:
        nonlocal number
        number += 1
        word = state.copy()
        word.update(b"\0%d" % number)
        digest = word.digest()
        return "".join(_letter(letter, digest[at % 32], at) for at, letter in enumerate(found[0]))

    return text[:kept] + _WORD.sub(other, text[kept:])


def _letter(letter: str, chance: int, at: int) -> str:
    code = ord(letter)
    if code >= _FOUR_BYTES:
        return chr(0x1F600 + chance % 64)
    if code >= _THREE_BYTES:
        return chr(0x4E00 + chance)
    if code >= _TWO_BYTES:
        return chr(0xE0 + chance % 23)
    if letter.isdigit():
        return str(chance % 10)
    if letter == "_":
        return letter
    kind = _LETTERS[at % 2]
    new = kind[chance % len(kind)]
    return new.upper() if letter.isupper() else new
