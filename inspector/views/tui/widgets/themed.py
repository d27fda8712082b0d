"""The base class of widgets that draw with a palette."""

from typing import Any

from textual.widget import Widget

from ..theme import PALETTES, Palette
from .line_cache import LineCache


class Themed(Widget):
    """A widget that draws its lines in the looks of a palette. It has no border and no padding, and its lines are as
    wide as it is."""

    palette: Palette = PALETTES["dark"]

    def __init__(self, *children: Widget, **fields: Any) -> None:
        super().__init__(*children, **fields)
        self._styles_cache = LineCache()

    def use(self, palette: Palette) -> None:
        """Use another palette."""
        self.palette = palette
        self.refresh()
