"""Finds secrets in a text of two or four bytes a character, such as a file that PowerShell has written (UTF-16).

Keys have ASCII letters alone, so only rows of these are looked at. A body of UTF-8 has no zero bytes and costs nothing.
"""

from collections.abc import Callable, Iterator

from ..regex import regex
from .body_search import Spans
from .spelled_out import Segments

_ROWS = {
    2: regex(rb"\0[\t\n\r\x20-\x7e](?:\0[\t\n\r\x20-\x7e]){15,}"),
    4: regex(rb"\0\0\0[\t\n\r\x20-\x7e](?:\0\0\0[\t\n\r\x20-\x7e]){15,}"),
}
"""By the bytes of a character. In either order of its bytes there are zeros between two letters."""


def in_wide_text(body: bytes, search: Callable[[bytes], Spans]) -> Iterator[tuple[Segments, int]]:
    """Secrets in such texts, each with the places of its letters, and how many letters are kept."""
    if b"\0" not in body:
        return
    for width, rows in _ROWS.items():
        for row in rows.finditer(body):
            first = row.start() + width - 1
            # Where the zeros come behind each letter, one letter is before the first zeros. What is there may be
            # something else too, so the text is searched with it and without it.
            for begin in (first - width, first) if first >= width else (first,):
                for start, (end, keep) in search(body[begin : row.end() : width]).items():
                    yield tuple((at, at + 1) for at in range(begin + start * width, begin + end * width, width)), keep
