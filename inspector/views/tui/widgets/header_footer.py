"""One-line bars: the title of the run, the tabs, the heads of columns, the keys."""

from collections.abc import Callable, Sequence
from typing import override

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from ..pages.page import Spans
from ..theme import PALETTES, Palette


class Bar(Widget):
    """A line of spans, made for the width by `make`."""

    DEFAULT_CSS = "Bar { height: 1; }"

    def __init__(self, make: Callable[[int], Spans], **fields: str) -> None:
        super().__init__(**fields)  # pyright: ignore[reportArgumentType]
        self._make = make
        self.palette: Palette = PALETTES["dark"]

    def use(self, palette: Palette) -> None:
        self.palette = palette
        self.refresh()

    @override
    def render_line(self, y: int) -> Strip:
        width = self.size.width
        base = Style(bgcolor=self.palette.panel)
        segments = [Segment(text, base + self.palette[look]) for text, look in self._make(width) if text]
        return Strip(segments).adjust_cell_length(width, base)


class Keys(Widget):
    """Keys and what they do; a click does it."""

    DEFAULT_CSS = "Keys { height: 1; }"

    def __init__(self, **fields: str) -> None:
        super().__init__(**fields)  # pyright: ignore[reportArgumentType]
        self.palette: Palette = PALETTES["dark"]
        self.given: Sequence[tuple[str, str, str]] = ()
        """Key, word, action."""
        self.picked = ""
        """The action that is marked as the one that is on."""

    def use(self, palette: Palette) -> None:
        self.palette = palette
        self.refresh()

    def show(self, given: Sequence[tuple[str, str, str]], picked: str = "") -> None:
        if (tuple(given), picked) != (tuple(self.given), self.picked):
            self.given, self.picked = tuple(given), picked
            self.refresh()

    @override
    def render_line(self, y: int) -> Strip:
        width, palette = self.size.width, self.palette
        base = Style(bgcolor=palette.panel)
        segments: list[Segment] = []
        for key, word, action in self.given:
            on = bool(action) and action == self.picked
            under = base + Style(bgcolor=palette.cursor) if on else base
            click = Style(meta={"@click": f"app.{action}"}) if action else Style()
            segments.append(Segment(f" {key}", under + palette["accent"] + click))
            segments.append(Segment(f" {word} ", under + palette["bold" if on else "dim"] + click))
        return Strip(segments).adjust_cell_length(width, base)
