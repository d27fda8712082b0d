"""Styled text: spans with a meaning, and how they look in a terminal.

No meaning depends on colour only: each layer also has a glyph. Text from the wire is made safe before it is shown,
because control characters would otherwise control the terminal.
"""

import re
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator

from ...wire.printable import safe
from ..vocabulary.style import STYLE_LOOKS
from ..vocabulary.style import Style as Style

type Span = tuple[str, Style]
type Line = list[Span]

_CLOSING = (",", ";", ".", ":", ")")
"""What no line begins with."""

GLYPHS: dict[str, str] = {"model": "◆", "api": "■", "client": "▶", "tool": "●"}
"""One glyph a layer, the same in every view."""

_ANSI: dict[Style, str] = {style: f"\x1b[{look.sgr}m" if look.sgr else "" for style, look in STYLE_LOOKS.items()}


class _Widths(dict[str, int]):
    """The cells of each character that was seen so far; of the latest ones when there are very many."""

    def __missing__(self, character: str) -> int:
        if len(self) >= _MOST_WIDTHS:
            self.clear()
        wide = unicodedata.east_asian_width(character) in "WF"
        self[character] = width = 0 if unicodedata.combining(character) else 2 if wide else 1
        return width


_MOST_WIDTHS = 10_000
_cells_of = _Widths().__getitem__


def width_of(text: str) -> int:
    """How many terminal cells `text` takes."""
    return len(text) if text.isascii() else sum(map(_cells_of, text))


def clip(text: str, cells: int) -> str:
    """`text` on one line in at most `cells` cells, with an ellipsis where it was cut."""
    text = _begin(text, cells)
    if width_of(text) <= cells:
        return text
    return _fitting(text, cells - 1) + "…"


def _fitting(text: str, cells: int) -> str:
    """As many characters of `text` as take at most `cells` cells."""
    if text.isascii():
        return text[: max(0, cells)]
    used = 0
    for at, character in enumerate(text):
        used += _cells_of(character)
        if used > cells:
            return text[:at]
    return text


def _begin(text: str, cells: int) -> str:
    """`text` on one line; of a long one only as much as shows that it takes more than `cells` cells."""
    size = 16 * (cells + 1)
    while True:
        line = " ".join(safe(text[:size]).split())
        if size >= len(text) or width_of(line) > cells:
            return line
        size *= 4


def clip_path(path: str, cells: int) -> str:
    """A file's name on one line in at most `cells` cells; what is cut is its beginning."""
    path = " ".join(safe(path).split())
    while width_of(path) > cells:
        path = "…" + path[2:] if path.startswith("…") else "…" + path[1:]
    return path


def wrap(text: str, cells: int) -> list[str]:
    """`text` in lines of at most `cells` cells, broken at spaces where it can be; at least one line."""
    if text.isascii():
        return textwrap.wrap(text, cells, replace_whitespace=False) or [""]
    lines: list[str] = []
    line, used = "", 0
    for word in re.split(r"(?<= )", text):
        if used + width_of(word.rstrip()) > cells and used:
            lines.append(line.rstrip())
            line, used = "", 0
        for character in word:
            if used + width_of(character) > cells:
                if character == " ":  # the end of the word that fills the line
                    continue
                lines.append(line)
                line, used = "", 0
            line += character
            used += width_of(character)
    return [*lines, line.rstrip()]


def ansi(line: Iterable[Span], colour: bool) -> str:
    """A line for the terminal."""
    if not colour:
        return "".join(text for text, _ in line).rstrip()
    return "".join(f"{_ANSI[style]}{text}\x1b[0m" if _ANSI[style] else text for text, style in line)


def plain(line: Iterable[Span]) -> str:
    return "".join(text for text, _ in line)


def flow(line: Line, cells: int, indent: str) -> Iterator[Line]:
    """`line` in lines of at most `cells` cells. It is broken only between spans; later lines begin with `indent`."""
    out: Line = []
    used = 0
    for text, style in line:
        if out and used + width_of(text.rstrip()) > cells:
            yield fit(_ended(out), cells)
            text = text.lstrip(", ")
            start: Span = (indent, "plain")
            out = [start]
            used = width_of(indent)
        out.append((text, style))
        used += width_of(text)
    yield fit(_ended(out), cells)


def _ended(line: Line) -> Line:
    """Without spaces at its end, which need no room."""
    return [*line[:-1], *((text.rstrip(), style) for text, style in line[-1:])]


def folded(line: Line, cells: int, indent: str, most: int | None = None) -> Iterator[Line]:
    """`line` in lines of at most `cells` cells, broken at spaces; later lines begin with `indent`.

    With `most`, at most this many lines; the last one ends with an ellipsis when there is more.
    """
    start: Span = (indent, "plain")
    lines: list[Line] = [[]]
    used = 0
    for text, style in line:
        for word in re.findall(r" *[^ ]+| +$", text):
            if used + width_of(word) > cells and used > width_of(indent):
                if most is not None and len(lines) == most:
                    yield from lines[:-1]
                    yield _with_ellipsis(_merged(lines[-1]), cells)
                    return
                # A comma goes with the word before it.
                moved = [lines[-1].pop()] if word.startswith(_CLOSING) and len(lines[-1]) > 2 else []
                lines.append([start, *((one.lstrip(" "), its) for one, its in moved)])
                used, word = sum(width_of(one) for one, _ in lines[-1]), word.lstrip(" ")
            left = width_of(word)
            while used + left > cells and (most is None or len(lines) < most):
                kept = _front(word, cells - used)
                lines[-1].append((kept, style))
                lines.append([start])
                used, word, left = width_of(indent), word[len(kept) :], left - width_of(kept)
            lines[-1].append((word, style))
            used += left
    yield from (fit(_merged(one), cells) for one in lines)


def _with_ellipsis(line: Line, cells: int) -> Line:
    shown = fit(line, cells - 1)
    return shown if shown and shown[-1][0].endswith("…") else [*shown, ("…", "dim")]


def _front(word: str, cells: int) -> str:
    """The beginning of a word that takes at most `cells` cells; at least one character."""
    used = 0
    for at, character in enumerate(word):
        used += width_of(character)
        if used > cells and at:
            return word[:at]
    return word


def _merged(line: Line) -> Line:
    """Neighbours of the same style as one span."""
    merged: Line = []
    for text, style in line:
        if merged and merged[-1][1] == style:
            merged[-1] = (merged[-1][0] + text, style)
        else:
            merged.append((text, style))
    return merged


def fit(line: Line, cells: int) -> Line:
    """`line` in at most `cells` cells."""
    fitted: Line = []
    left = cells
    for text, style in line:
        size = width_of(text)
        if size <= left:
            fitted.append((text, style))
            left -= size
            continue
        if left < 1:
            break
        fitted.append((_fitting(text, left - 1) + "…", style))
        break
    return fitted
