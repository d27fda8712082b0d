"""One-line bars: titles, the status, the heads of columns, keys."""

from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType
from typing import override

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from ...text.terminal_text import width_of
from ...vocabulary.ascii_signs import keys_in_words
from ..formatting import clipped
from ..pages.blocks import Spans
from .themed import Themed

type KeyHint = tuple[str, str, str]
"""A key, a word for what it does, and the action that a click runs, with its namespace; empty for none."""


ACTIONS = {"first": "screen.first"}
"""What a click on a text with this look does."""


def cells_of(hints: Sequence[KeyHint], behind: str = " ") -> int:
    """The cells that the hints take, with `behind` behind each."""
    return sum(width_of(key) + width_of(word) + (2 if word else 1) + len(behind) for key, word, _ in hints)


class Bar(Themed):
    """A line of spans. `show` takes the function that makes them for a width in cells."""

    DEFAULT_CSS = "Bar { height: 1; }"

    def __init__(self, make: Callable[[int], Spans] = lambda width: (), **fields: str) -> None:
        super().__init__(**fields)
        self._make = make

    def show(self, make: Callable[[int], Spans]) -> None:
        """Show another line; the line that is shown already is not drawn again."""
        if not _same(make, self._make):
            self._make = make
            self.refresh()

    @override
    def render_line(self, y: int) -> Strip:
        width = self.size.width
        base = Style(bgcolor=self.palette.panel)
        segments = [Segment(text, self._style(look)) for text, look in clipped(self._make(width), width) if text]
        return Strip(segments).adjust_cell_length(width, base)

    def _style(self, look: str) -> Style:
        action = ACTIONS.get(look)
        style = self.palette.on(look, self.palette.panel)
        return style + Style(meta={"@click": action}) if action else style


def _same(one: Callable[[int], Spans], other: Callable[[int], Spans]) -> bool:
    """Whether both make the same line: as calls of a function with the same arguments.

    A method may have another line although its arguments are the same.
    """
    if not isinstance(one, partial) or not isinstance(other, partial) or not isinstance(one.func, FunctionType):
        return one is other and isinstance(one, FunctionType)
    return (one.func, one.args, one.keywords) == (other.func, other.args, other.keywords)


class Keys(Themed):
    """Keys and what they do; a click does it. Without room for all, those before the last two are left out first."""

    DEFAULT_CSS = "Keys { height: 1; }"

    def __init__(self, **fields: str) -> None:
        super().__init__(**fields)
        self._hints: tuple[KeyHint, ...] = ()
        self._active = ""
        """The action that is marked as active."""

    def show(self, hints: Sequence[KeyHint], active: str = "") -> None:
        """Show other keys; the one with the action `active` is marked."""
        if (tuple(hints), active) != (self._hints, self._active):
            self._hints, self._active = tuple(hints), active
            self.refresh()

    def fitted(self, hints: tuple[KeyHint, ...], width: int) -> tuple[tuple[KeyHint, ...], str]:
        """As many of the hints as fit into `width` cells, and what is behind each: a blank, or nothing."""
        while len(hints) > 2 and cells_of(hints) > width:
            hints = (*hints[:-3], *hints[-2:])
        return hints, " "

    def is_active(self, hint: KeyHint) -> bool:
        """Whether it is the marked one."""
        return bool(hint[2]) and hint[2] == self._active

    @override
    def render_line(self, y: int) -> Strip:
        width, palette = self.size.width, self.palette
        base = Style(bgcolor=palette.panel)
        segments: list[Segment] = []
        hints = self._hints
        if not palette.unicode:
            hints = tuple((keys_in_words(key), word, action) for key, word, action in hints)
        hints, behind = self.fitted(hints, width)
        for hint in hints:
            key, word, action = hint
            active = self.is_active(hint)
            under = base + Style(bgcolor=palette.cursor) if active else base
            click = Style(meta={"@click": action}) if action else Style()
            segments.append(Segment(f" {key}", under + palette["accent"] + click))
            text = f" {word}{behind}" if word else behind
            segments.append(Segment(text, under + palette["bold" if active else "dim"] + click))
        return Strip(segments).adjust_cell_length(width, base)
