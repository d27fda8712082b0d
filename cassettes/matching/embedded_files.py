"""Files in a request: a binary part of a form, and images, audio and documents as base64."""

from hashlib import blake2b

from ..regex import regex

_DATA_URL = regex(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w=.-]+)*;base64,")
_BASE64 = regex(r"[A-Za-z0-9+/_-]{200,}={0,2}")
"""Long enough for a file; the ids and tokens of a text are shorter."""
_IN_WORDS = regex(r"(?:[\w.+-]+/[\w.+-]+, )?[\d,]+ bytes, digest [0-9a-f]{16}")


def in_words(content: bytes) -> str:
    """What is compared of a binary file."""
    return f"{len(content):,} bytes, digest {blake2b(content, digest_size=8).hexdigest()}"


def is_file(text: object) -> bool:
    """True for a text that is a file, or that says what file it was."""
    if not isinstance(text, str) or len(text) < 20:
        return False
    return bool(_DATA_URL.match(text) or _IN_WORDS.fullmatch(text) or _BASE64.fullmatch(text))


def shown(text: str) -> str:
    """A file as base64 in a few words, for a reader; another text as it is."""
    if not is_file(text) or _IN_WORDS.fullmatch(text):
        return text
    head = _DATA_URL.match(text)
    data = text[head.end() :] if head else text
    kind = f"{head[1]}, " if head and head[1] else ""
    size = len(data.rstrip("=")) * 3 // 4
    return f"{kind}{size:,} bytes, digest {blake2b(data.encode(), digest_size=8).hexdigest()}"
