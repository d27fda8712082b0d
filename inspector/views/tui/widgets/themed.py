"""The base class of widgets that draw with a palette."""

from textual.widget import Widget

from ..theme import PALETTES, Palette


class Themed(Widget):
    """A widget that draws its lines in the looks of a palette."""

    palette: Palette = PALETTES["dark"]

    def use(self, palette: Palette) -> None:
        """Use another palette."""
        self.palette = palette
        self.refresh()
