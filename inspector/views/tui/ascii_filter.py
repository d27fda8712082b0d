"""The screen in ASCII, for terminals that do not draw Unicode."""

from functools import lru_cache
from typing import override

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from ..vocabulary.ascii_signs import in_ascii


class AsciiFilter(LineFilter):
    """Draws each sign as an ASCII character, in the same cells."""

    @override
    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [Segment(_cells(text), style, control) for text, style, control in segments]


@lru_cache(4096)
def _cells(text: str) -> str:
    if text.isascii():
        return text
    width = cell_len(text)
    return in_ascii(text).ljust(width, "?")[:width]
