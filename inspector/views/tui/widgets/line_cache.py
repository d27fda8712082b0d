"""The finished lines of a widget that fills all of its cells itself.

Textual works out borders, padding, opacity and colours of a widget whenever anything on the screen is drawn, and adds
them to each of its lines. Our widgets have none of these: their lines are complete, so they are kept as they are.
"""

from collections.abc import Sequence
from typing import override

from textual._styles_cache import StylesCache
from textual.color import Color
from textual.filter import LineFilter
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget


class LineCache(StylesCache):
    """Keeps the lines of a widget, with the filters of the app applied, until they are marked as changed."""

    def __init__(self) -> None:
        super().__init__()
        self._filters: Sequence[LineFilter] = ()

    @override
    def render_widget(self, widget: Widget, crop: Region) -> list[Strip]:
        width = widget.region.width
        filters = widget.get_line_filters()
        if width != self._width or filters != self._filters:
            self.clear()
            self._width, self._filters = width, filters
        kept, changed, lines = self._cache, self._dirty_lines, crop.line_range
        if new := [y for y in lines if y not in kept or y in changed]:
            background = widget.background_colors[1]
            for y in new:
                kept[y] = self._made(widget.render_line(y), background)
            changed.difference_update(lines)
        strips = [kept[y] for y in lines]
        if crop.column_span != (0, width):
            strips = [strip.crop(*crop.column_span) for strip in strips]
        return strips

    def _made(self, strip: Strip, background: Color) -> Strip:
        for filter in self._filters:
            strip = strip.apply_filter(filter, background)
        return strip
