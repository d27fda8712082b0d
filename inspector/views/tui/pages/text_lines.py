"""Texts as lines. A long text is cut into lines only where it is shown, so 20 MB open as fast as two lines."""

from abc import abstractmethod
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, islice
from operator import sub
from typing import overload, override

from turntape.cassettes.regex import regex

from ....wire.printable import safe
from ...text.terminal_text import width_of, wrap
from .blocks import Body, Spans

LONG = 60_000
"""A longer text is broken at the width, not between words."""


_WIDE = regex(r"[\u1100-\u115f\u231a-\u24ff\u25fd-\u27bf\u2934-\u2bff\u2e80-\U0010ffff]")
"""The blocks of Unicode in which some characters are two cells wide. Dashes, quotes and arrows are in none of them."""


class LazyLines(Sequence[Spans]):
    """Lines that are made when they are shown."""

    @abstractmethod
    def make(self, index: int) -> Spans:
        """The line at `index`, which is in range."""

    @overload
    def __getitem__(self, index: int) -> Spans: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Spans]: ...
    @override
    def __getitem__(self, index: int | slice) -> Spans | Sequence[Spans]:
        if isinstance(index, slice):
            return [self.make(at) for at in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.make(index)


class Prose(LazyLines):
    """A text in lines of at most `width` cells. Short texts break between words, long ones where the line is full."""

    def __init__(self, text: str, width: int, look: str | Callable[[str], Spans] = "plain") -> None:
        self._look = look
        text = text.replace("\r\n", "\n").replace("\t", "    ")
        self._width = width
        if len(text) <= LONG:
            self._lines = [line for whole in safe(text).split("\n") for line in _wrapped(whole, width)]
            self._starts: array[int] | None = None
            self._count = len(self._lines)
            return
        # Only places are kept: a string for each line would take several times the memory of the text.
        self._text, self._begins = text, array("q", _begins(text))
        sizes = map(sub, islice(self._begins, 1, None), self._begins)
        self._wide = b"" if text.isascii() else self._wide_lines()
        # The number of the first shown line of each line of the text. The end of a line counts as a character of it.
        if self._wide:
            shown = (max(1, -(-(size - 1) // self._cells(number))) for number, size in enumerate(sizes))
        else:
            shown = (max(1, -(-(size - 1) // width)) for size in sizes)
        self._starts = array("q", accumulate(shown, initial=0))
        self._count = self._starts.pop()

    def _wide_lines(self) -> bytes:
        """A byte for each line of the text: 1 if it may need more cells than it has characters, and than there are."""
        begin, found = 0, bytearray(len(self._begins) - 1)
        for number, end in enumerate(islice(self._begins, 1, None)):
            if 2 * (end - begin) > self._width and _WIDE.search(self._text, begin, end):
                found[number] = 1
            begin = end
        return bytes(found) if any(found) else b""

    def _cells(self, number: int) -> int:
        """How many characters of a line of the text are shown in one line. A wide character needs two cells."""
        return max(8, self._width // 2) if self._wide and self._wide[number] else self._width

    @override
    def __len__(self) -> int:
        return self._count

    @override
    def make(self, index: int) -> Spans:
        if self._starts is None:
            text = self._lines[index]
        else:
            number = bisect_right(self._starts, index) - 1
            cells = self._cells(number)
            start = self._begins[number] + (index - self._starts[number]) * cells
            text = safe(self._text[start : min(start + cells, self._begins[number + 1] - 1)])
        return self._look(text) if callable(self._look) else [(text, self._look)]


def _begins(text: str) -> Iterator[int]:
    """Where each line of a text begins, and where one after the last would."""
    at = -1
    while True:
        yield at + 1
        at = text.find("\n", at + 1)
        if at < 0:
            yield len(text) + 1
            return


def _wrapped(line: str, width: int) -> Iterable[str]:
    """One line of a text in pieces, broken at spaces, with its indentation kept."""
    if not line.isascii():
        return wrap(line, width) if width_of(line) > width else (line,)
    if len(line) <= width:
        return (line,)
    pieces: list[str] = []
    indent = " " * min(len(line) - len(line.lstrip()), width // 3)
    while len(line) > width:
        cut = line.rfind(" ", len(indent) + 1, width + 1)
        if cut <= len(indent):
            cut = width
        pieces.append(line[:cut])
        line = indent + line[cut:].lstrip(" ")
    pieces.append(line)
    return pieces


def prose(text: str, look: str | Callable[[str], Spans] = "plain") -> Body:
    """The body that shows a text."""
    return lambda width: Prose(text, width, look)


def flowing(*given: Spans, indent: int = 0) -> Body:
    """The body that shows these lines, broken between their pieces where they are too long; then comes `indent`."""
    return lambda width: [made for line in given for made in flowed(line, width, indent)]


def flowed(line: Spans, width: int, indent: int = 0) -> Sequence[Spans]:
    """One line in several. A piece that is too long for a line, or that follows a label (`calls:`), begins behind the
    piece before it and is broken at its words; any other one moves to the next line.
    """
    made: list[list[tuple[str, str]]] = [[]]
    used = 0
    for text, look in line:
        if used + width_of(text.rstrip()) <= width:
            made[-1].append((text, look))
            used += width_of(text)
            continue
        if made[-1] and (width_of(text.strip()) > width - indent or made[-1][-1][0].rstrip().endswith(":")):
            head, text = _beginning(text, width - used)
            made[-1].append((head, look))
        for part in wrap(text.strip(), width - indent):
            if made[-1]:
                made.append([(" " * indent, "plain")])
            made[-1].append((part, look))
            used = (indent if len(made) > 1 else 0) + width_of(part)
        gap = text[len(text.rstrip()) :][: max(0, width - used)]
        made[-1][-1] = (made[-1][-1][0] + gap, look)
        used += len(gap)
    return made


def _beginning(text: str, cells: int) -> tuple[str, str]:
    """The words that fit into so many cells, and the rest; no words when the first one does not fit."""
    end = 0
    while (space := text.find(" ", end + 1)) > 0 and width_of(text[:space]) <= cells:
        end = space
    return (text[:end], text[end:]) if text[:end].strip() else ("", text)


def lines(*given: Spans) -> Body:
    """The body that shows these lines."""
    return lambda width: given
