"""What widgets with a palette of their own share."""

from textual.widget import Widget

from ..theme import PALETTES, Palette


class Themed(Widget):
    """A widget that draws its lines in the looks of a palette."""

    palette: Palette = PALETTES["dark"]

    def use(self, palette: Palette) -> None:
        """Take another palette."""
        self.palette = palette
        self.refresh()
