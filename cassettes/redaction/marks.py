"""What replaces a secret: `REDACTED`, a fingerprint where there is room for one, and padding."""

import re

MARK = b"REDACTED"
WHOLE_MARK = re.compile(rb"REDACTED-[0-9a-f]{8}\**")
_FINGERPRINT = re.compile(rb"REDACTED(?:-[0-9a-f]{8})?\**")
"""A mark with its fingerprint, for which a short secret has no room, and the padding after it."""


def without_marks(body: bytes) -> bytes:
    """A body with spaces in place of what was replaced earlier, so that nothing is replaced a second time."""
    return WHOLE_MARK.sub(lambda mark: b" " * len(mark[0]), body) if MARK in body else body


def touches_mark(body: bytes, unmarked: bytes, place: int) -> bool:
    """Whether a mark of `body` is at this place; `unmarked` is the body without them."""
    return body is not unmarked and 0 <= place < len(unmarked) and body[place] != unmarked[place]


def with_equal_marks(body: bytes) -> bytes:
    """A body whose marks are all equal, so that two recordings can be compared whatever their salts."""
    return _FINGERPRINT.sub(MARK, body) if MARK in body else body
