"""The keys that a client sends in the header of its request: in its body, and in the answer, they are secrets too.

So a key without a form is found, such as 32 hexadecimal digits of Azure, where a tool prints it without a name.
Cookies and ids of sessions do not count: they are also in texts that nobody must hide.
"""

import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from ..regex import regex
from ..tape.model import Headers
from .field_names import KEYS

_KEY = regex(r"(?:[A-Za-z][A-Za-z0-9-]{0,15} +)?((?=[^ ]*[0-9])(?=[^ ]*[A-Za-z])(?![^ ]*REDACTED)[!-~]{20,4096})")
"""What looks random, perhaps with the name of its scheme before it. A placeholder such as `not-needed` is shorter."""
_BASIC = regex(r"basic +([A-Za-z0-9+/]{4,4096}={0,2})", re.IGNORECASE)
_NAME_OF_MODEL = regex(
    rb"(?:models?(?:[_-]?(?:id|name))?|deployments?|engines?)"
    rb"(?:\\{0,7}\"\s{0,4}:\s{0,4}\\{0,7}\"|/|%2f|=)\Z",
    re.IGNORECASE,
)
"""What is before the name of a model. Clients of local servers send that as their key too."""
_LONGEST_NAME = 40


def sent_keys(headers: Headers) -> tuple[bytes, ...]:
    """The keys in the header of a request, each once."""
    found = (key for name, value in headers if name.lower() in KEYS for key in _in_field(value))
    return tuple(dict.fromkeys(found))


def without_keys_in(body: bytes, headers: Headers) -> Headers | None:
    """The header without the fields of keys, when one of these is in the body too; else None."""
    if not any(key in body for key in sent_keys(headers)):
        return None
    return tuple(field for field in headers if field[0].lower() not in KEYS)


def _in_field(value: str) -> Iterator[bytes]:
    basic = _BASIC.fullmatch(value)
    words = [value] if basic is None else [value, *_login(basic[1])]
    yield from (match[1].encode() for word in words if (match := _KEY.fullmatch(word)) is not None)


def _login(encoded: str) -> list[str]:
    """The name and the password of a login: some APIs take the key as either."""
    try:
        return binascii.a2b_base64(encoded).decode("latin-1").split(":", 1)
    except binascii.Error:
        return []


def places(key: bytes, body: bytes) -> Iterator[tuple[int, int]]:
    """Where a key is in a body; not where it is the name of a model."""
    at = body.find(key)
    while at >= 0:
        end = at + len(key)
        if _NAME_OF_MODEL.search(body, max(at - _LONGEST_NAME, 0), at) is None:
            yield at, end
        at = body.find(key, end)


def over_messages(messages: Sequence[bytes], masks: Mapping[bytes, bytes]) -> list[bytes]:
    """The messages of one side, with the keys masked that continue from one to the next; `masks` have their lengths."""
    joined = b"".join(messages)
    for key, mask in masks.items():
        joined = joined.replace(key, mask)
    ends = list(accumulate(map(len, messages)))
    return [joined[end - len(message) : end] for message, end in zip(messages, ends, strict=True)]
