"""Finds secrets in a text that is written in base64, such as a file that a tool returns.

Images, signatures and encrypted reasoning are base64 too. Their first bytes show that they are not text.
"""

import binascii
from collections.abc import Callable, Iterator
from functools import lru_cache

from .body_search import Spans
from .spelled_out import Segments
from .wide_texts import in_wide_text

_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"
_ROW = bytes(ord("w") if byte in _LETTERS else ord(" ") for byte in range(256))
_LEAST = 24
"""Letters. A secret and its name take more."""
_MOST = 1 << 20
"""Letters. A longer text is searched up to here."""
_HEAD = 24
"""Letters that are decoded to see whether it is text."""
_STANDARD = bytes.maketrans(b"-_", b"+/")


def in_base64(body: bytes, search: Callable[[bytes], Spans]) -> Iterator[tuple[Segments, int]]:
    """Secrets in texts that are encoded, each with the place of the letters that encode it, and 0 bytes to keep."""
    mask = body.translate(_ROW)
    at = mask.find(b"w" * _LEAST)
    while at >= 0:
        end = mask.find(b" ", at)
        end = len(mask) if end < 0 else end
        if _is_text(body[at : at + _HEAD]):
            for start, stop in _secrets(body[at : min(end, at + _MOST)], search):
                yield ((at + start, min(at + stop, end)),), 0  # the last group of four letters may be short
        at = mask.find(b"w" * _LEAST, end)


def _secrets(row: bytes, search: Callable[[bytes], Spans]) -> Iterator[tuple[int, int]]:
    """The places in a row of letters that encode a secret."""
    text = _decoded(row)
    found = [(start, end) for start, (end, _) in search(text).items()]
    found += [(letters[0][0], letters[-1][1]) for letters, _ in in_wide_text(text, search)]
    for start, end in found:
        yield start // 3 * 4, -(-end // 3) * 4


@lru_cache(maxsize=64)  # each event of a stream has the same ids
def _is_text(head: bytes) -> bool:
    text = _decoded(head)
    if not any(text[1::2]):  # as `powershell -EncodedCommand` takes it
        text = text[::2]
    try:
        text.decode()
    except UnicodeDecodeError as exc:
        if exc.start < len(text) - 3:
            return False
    return all(byte >= 0x20 or byte in b"\t\n\r" for byte in text)


def _decoded(row: bytes) -> bytes:
    letters = row[: len(row) - (len(row) % 4 == 1)]
    return binascii.a2b_base64(letters.translate(_STANDARD) + b"=" * (-len(letters) % 4))
