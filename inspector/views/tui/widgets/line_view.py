"""A pane of lines with a cursor. Only the lines on the screen are made."""

from typing import ClassVar, override

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ..formatting import clipped
from ..pages.blocks import Spans
from ..pages.help_page import HelpSection
from ..theme import Palette, shaded
from .themed import Themed


class LineView(ScrollView, Themed, can_focus=True):  # pyright: ignore[reportIncompatibleMethodOverride]
    """Subclasses say how many lines there are (`count`) and what is on one (`line`).

    They may override `cursor_moved`, when the user moved the cursor, and `chosen`, after Enter or a click on a line.
    """

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

    HELP_KEYS: ClassVar[HelpSection] = HelpSection(
        "moving",
        (
            ("j k ↑ ↓", "next and previous line"),
            ("g G", "first, last line"),
            ("Ctrl-d Ctrl-u", "a page down, up"),
            ("Tab", "the other pane"),
        ),
    )

    nothing = ""
    """What is said where there is no line."""
    show_cursor = True
    cursor = 0
    """The line of the cursor."""

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

    def cursor_moved(self) -> None:
        """The user moved the cursor to another line."""

    def chosen(self, line: int, *, clicked: bool) -> None:
        """Enter was pressed on a line, or it was clicked."""

    def fit(self) -> None:
        """The number of lines changed.

        Setting `virtual_size` would lay out the whole screen, at each move; that is needed only when the scroll bar
        comes or goes, which asks for it.
        """
        size = Size(self.size.width, self.count())
        self.set_reactive(ScrollView.virtual_size, size)  # pyright: ignore[reportArgumentType]
        self._scroll_update(size)
        self.cursor = max(0, min(self.cursor, self.count() - 1))
        self.refresh()

    def hand_over(self) -> None:
        """Give the screen what is to be drawn now, instead of when no message waits."""
        self._check_refresh()

    @override
    def render_line(self, y: int) -> Strip:
        width = self.size.width
        at = self.scroll_offset.y + y
        background = self.palette.background
        if at >= self.count():
            text = f" {self.nothing}" if at == 0 else ""
            return strip([(text, "dim")], width, self.palette, background)
        here = self.show_cursor and at == self.cursor
        if here:
            background = self.palette.cursor if self.has_focus else self.palette.trail
        return strip(clipped(self.line(at, self.room), self.room), width, self.palette, background)

    def go(self, line: int, *, centre: bool = False, quietly: bool = False) -> None:
        """Put the cursor on `line` and show it; `quietly` when the program moves it and not the user."""
        line = max(0, min(line, self.count() - 1))
        if line != self.cursor:
            before, self.cursor = self.cursor, line
            self.refresh_line(before)
            self.refresh_line(line)
            if not quietly:
                self.cursor_moved()
        self.reveal(centre=centre)

    def reveal(self, *, centre: bool = False) -> None:
        """Scroll just far enough to show the cursor."""
        line, height, top = self.cursor, self.size.height, round(self.scroll_offset.y)
        if not height:
            return  # not shown yet
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
        self.chosen(self.cursor, clicked=False)

    def on_click(self, event: events.Click) -> None:
        line = round(self.scroll_offset.y) + event.y
        if line < self.count():
            self.go(line)
            self.chosen(line, clicked=True)

    def on_focus(self) -> None:
        self.refresh_line(self.cursor)

    def on_blur(self) -> None:
        self.refresh_line(self.cursor)


def strip(spans: Spans, width: int, palette: Palette, background: str) -> Strip:
    """A line of styled text on a background, exactly `width` cells long."""
    if not palette.coloured:
        spans = [(shaded(text, look) if look.startswith("#") else text, look) for text, look in spans]
    segments = [Segment(text, palette.on(look, background)) for text, look in spans if text]
    return Strip(segments).adjust_cell_length(width, Style(bgcolor=background))
