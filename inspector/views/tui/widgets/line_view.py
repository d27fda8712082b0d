"""A pane of lines with a cursor: only the lines on the screen are ever made."""

from typing import ClassVar, override

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ..pages.page import Spans
from ..theme import PALETTES, Palette


class LineView(ScrollView, can_focus=True):
    """Subclasses say how many lines there are (`count`) and what stands on one (`line`)."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "down", show=False),
        Binding("k,up", "move(-1)", "up", show=False),
        Binding("g,home", "edge(-1)", "top", show=False),
        Binding("G,end", "edge(1)", "end", show=False),
        Binding("ctrl+d,pagedown,ctrl+f", "page(1)", "page down", show=False),
        Binding("ctrl+u,pageup,ctrl+b", "page(-1)", "page up", show=False),
        Binding("enter", "choose", "open", show=False),
    ]
    DEFAULT_CSS = """
    LineView { scrollbar-size-vertical: 1; scrollbar-size-horizontal: 0; overflow-x: hidden; overflow-y: auto;
        scrollbar-gutter: stable; }
    """

    class Moved(Message):
        """The cursor stands on another line."""

        def __init__(self, view: "LineView", line: int) -> None:
            super().__init__()
            self.view = view
            self.line = line

        @property
        @override
        def control(self) -> "LineView":
            return self.view

    class Chosen(Message):
        """Enter, or a click on the line of the cursor."""

        def __init__(self, view: "LineView", line: int, clicked: bool = False) -> None:
            super().__init__()
            self.view = view
            self.line = line
            self.clicked = clicked

        @property
        @override
        def control(self) -> "LineView":
            return self.view

    palette: Palette = PALETTES["dark"]
    show_cursor = True
    cursor = 0
    """The line that the cursor stands on."""

    def count(self) -> int:
        """How many lines there are."""
        return 0

    def line(self, y: int, width: int) -> Spans:
        """Line `y`, in at most `width` cells."""
        return []

    @property
    def room(self) -> int:
        """The cells of a line."""
        return max(1, self.scrollable_content_region.width)

    def use(self, palette: Palette) -> None:
        """Take another theme."""
        self.palette = palette
        self.refresh()

    def fit(self) -> None:
        """Take note that the number of lines changed."""
        self.virtual_size = Size(self.size.width, self.count())
        self.cursor = max(0, min(self.cursor, self.count() - 1))
        self.refresh()

    @override
    def render_line(self, y: int) -> Strip:
        width = self.size.width
        at = self.scroll_offset.y + y
        background = self.palette.background
        if at >= self.count():
            return Strip([Segment(" " * width, Style(bgcolor=background))], width)
        here = self.show_cursor and at == self.cursor
        if here:
            background = self.palette.cursor if self.has_focus else self.palette.trail
        return strip(self.line(at, self.room), width, self.palette, background)

    def go(self, line: int, *, centre: bool = False, quietly: bool = False) -> None:
        """Put the cursor on `line` and show it; `quietly` when it is the app that moves it."""
        line = max(0, min(line, self.count() - 1))
        if line != self.cursor:
            before, self.cursor = self.cursor, line
            self.refresh_line(before)
            self.refresh_line(line)
            if not quietly:
                self.post_message(self.Moved(self, line))
        self.reveal(centre=centre)

    def reveal(self, *, centre: bool = False) -> None:
        """Scroll as far as it takes to show the cursor."""
        line, height, top = self.cursor, self.size.height, round(self.scroll_offset.y)
        if not height:
            return  # hidden so far
        if centre and not top <= line < top + height - 2:
            self.scroll_to(y=max(0, line - height // 3), animate=False, immediate=True)
        elif line < top:
            self.scroll_to(y=line, animate=False, immediate=True)
        elif line >= top + height:
            self.scroll_to(y=line - height + 1, animate=False, immediate=True)

    def action_move(self, by: int) -> None:
        self.go(self.cursor + by)

    def action_page(self, by: int) -> None:
        step = max(1, self.size.height - 2) * by
        self.scroll_to(y=max(0, self.scroll_offset.y + step), animate=False, immediate=True)
        self.go(self.cursor + step)

    def action_edge(self, to: int) -> None:
        self.go(self.count() - 1 if to > 0 else 0)

    def action_choose(self) -> None:
        self.post_message(self.Chosen(self, self.cursor))

    def on_click(self, event: events.Click) -> None:
        line = round(self.scroll_offset.y) + event.y
        if line < self.count():
            self.go(line)
            self.post_message(self.Chosen(self, line, clicked=True))

    def on_focus(self) -> None:
        self.refresh_line(self.cursor)

    def on_blur(self) -> None:
        self.refresh_line(self.cursor)


def strip(spans: Spans, width: int, palette: Palette, background: str) -> Strip:
    """A line of text in its looks, on a background, exactly `width` cells long."""
    base = Style(bgcolor=background)
    segments = [Segment(text, base + palette[look]) for text, look in spans if text]
    return Strip(segments).adjust_cell_length(width, base)
