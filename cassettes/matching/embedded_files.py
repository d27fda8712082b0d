"""Files in a request: a binary part of a form, images, audio and documents as base64, and those that it only names, by
URL or by the id of an uploaded file."""

import re
from hashlib import blake2b

from ..regex import regex

_DATA_URL = regex(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w=.-]+)*;base64,")
_BASE64 = regex(r"[A-Za-z0-9+/_-]{200,}={0,2}")
"""Long enough for a file; the ids and tokens of a text are shorter."""
_KIND = r"(?:images?|files?|documents?|audios?|videos?|media|mask)"
_NAMES = regex(
    rf"/(?:(?:input_)?{_KIND}_?(?:url|uri|id)s?(?:/(?:url|uri|\d+))?|(?:source|s3_?location|{_KIND})/(?:url|uri|id)|uri)$",
    re.IGNORECASE,
)
"""Places of the URL or the id of a file."""
_MAY_NAME = regex(rf"/(?:{_KIND}|source|(?:input_)?{_KIND}_?url)(?:/\d+)?$", re.IGNORECASE)
"""Places of a file as base64, or of its URL."""
_URL = regex(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_NOT_SENT = regex(
    r"^/(?:tools|functions|tool_?config|metadata|mcp_servers)\b|(?<!^)/(?:input|args|arguments)/", re.IGNORECASE
)
"""Places of definitions, and of the arguments of calls: a name there is a name only."""
_HAS_FILE_NAME = regex(r"/[^/?#]+\.\w{2,5}(?=[?#])")
_IN_WORDS = regex(r"(?:[\w.+-]+/[\w.+-]+, )?[\d,]+ bytes, digest [0-9a-f]{16}")


def in_words(content: bytes) -> str:
    """What is compared of a binary file."""
    return f"{len(content):,} bytes, digest {blake2b(content, digest_size=8).hexdigest()}"


def is_file(text: object) -> bool:
    """True for a text that is a file, or that says what file it was."""
    if not isinstance(text, str) or len(text) < 20:
        return False
    return bool(_DATA_URL.match(text) or _IN_WORDS.fullmatch(text) or _BASE64.fullmatch(text))


def named_file(pointer: str, text: str) -> str | None:
    """The file that a text at this place of a request names: a URL, without a query that only signs it, or an id. None
    for another text."""
    is_url = _URL.match(text) is not None
    if not (_NAMES.search(pointer) or (is_url and _MAY_NAME.search(pointer))) or _NOT_SENT.search(pointer):
        return None
    named = _HAS_FILE_NAME.search(text) if is_url else None
    return text[: named.end()] if named else text


def shown(text: str) -> str:
    """A file as base64 in a few words, for a reader; another text as it is."""
    if not is_file(text) or _IN_WORDS.fullmatch(text):
        return text
    head = _DATA_URL.match(text)
    data = text[head.end() :] if head else text
    kind = f"{head[1]}, " if head and head[1] else ""
    size = len(data.rstrip("=")) * 3 // 4
    return f"{kind}{size:,} bytes, digest {blake2b(data.encode(), digest_size=8).hexdigest()}"
