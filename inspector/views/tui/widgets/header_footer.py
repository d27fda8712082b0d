"""One-line bars: titles, the status, the heads of columns, keys."""

from collections.abc import Callable, Sequence
from typing import override

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from ..pages.blocks import Spans
from .themed import Themed

type KeyHint = tuple[str, str, str]
"""A key, a word for what it does, and the action that a click runs, with its namespace; empty for none."""


class Bar(Themed):
    """A line of spans. `show` takes the function that makes them for a width in cells."""

    DEFAULT_CSS = "Bar { height: 1; }"

    def __init__(self, make: Callable[[int], Spans] = lambda width: (), **fields: str) -> None:
        super().__init__(**fields)  # pyright: ignore[reportArgumentType]
        self._make = make

    def show(self, make: Callable[[int], Spans]) -> None:
        """Show another line."""
        self._make = make
        self.refresh()

    @override
    def render_line(self, y: int) -> Strip:
        width = self.size.width
        base = Style(bgcolor=self.palette.panel)
        segments = [Segment(text, base + self.palette[look]) for text, look in self._make(width) if text]
        return Strip(segments).adjust_cell_length(width, base)


class Keys(Themed):
    """Keys and what they do; a click does it."""

    DEFAULT_CSS = "Keys { height: 1; }"

    def __init__(self, **fields: str) -> None:
        super().__init__(**fields)  # pyright: ignore[reportArgumentType]
        self._hints: tuple[KeyHint, ...] = ()
        self._active = ""
        """The action that is marked as active."""

    def show(self, hints: Sequence[KeyHint], active: str = "") -> None:
        """Show other keys; the one with the action `active` is marked."""
        if (tuple(hints), active) != (self._hints, self._active):
            self._hints, self._active = tuple(hints), active
            self.refresh()

    @override
    def render_line(self, y: int) -> Strip:
        width, palette = self.size.width, self.palette
        base = Style(bgcolor=palette.panel)
        segments: list[Segment] = []
        for key, word, action in self._hints:
            active = bool(action) and action == self._active
            under = base + Style(bgcolor=palette.cursor) if active else base
            click = Style(meta={"@click": action}) if action else Style()
            segments.append(Segment(f" {key}", under + palette["accent"] + click))
            segments.append(Segment(f" {word} ", under + palette["bold" if active else "dim"] + click))
        return Strip(segments).adjust_cell_length(width, base)
