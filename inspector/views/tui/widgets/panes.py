"""The two panes (the list of turns, and the page of a view or the growth plot), and how they share the screen."""

from typing import Literal, override

from textual import events
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.geometry import Region

from ..theme import Palette
from ..turn_lines import column_heads
from .growth_plot import GrowthPlot
from .growth_strip import GrowthStrip, strip_height
from .header_footer import Bar, KeyHint
from .page_view import PageView
from .tabs import Tabs
from .turn_list import TurnList

SIDE_BY_SIDE = 140
"""From this width on the list is beside the page, in cells."""

BOTH = 7
"""The lines that both panes need, one above the other; with less, the one with the focus is shown alone."""


class _Left(Vertical):
    """The pane of the list."""

    BLANK = True  # its widgets fill it, so there is nothing of it to draw


class Panes(Container):
    """Holds the widgets of both panes."""

    BLANK = True

    def __init__(self, **fields: str) -> None:
        super().__init__(**fields)  # pyright: ignore[reportArgumentType]
        self.turns, self.tabs = TurnList(id="turns"), Tabs(id="tabs")
        # The list is narrower than this bar, because it has a scroll bar.
        self._heads = Bar(lambda width: column_heads(min(width, self.turns.room), self.turns.known), id="heading")
        self.page, self.plot = PageView(id="page"), GrowthPlot(id="growth")
        self.strip = GrowthStrip(self.plot, id="strip")
        """The growth strip, which is above both panes."""
        self._left, self._right = _Left(id="left"), Vertical(id="right")
        self._width = self._height = 0
        """The size of the screen, without the strip."""
        self._reading = False
        """True while the page was entered, so that it has more room."""
        self._zoomed: Literal["list", "page"] | None = None
        self._side: bool | None = None
        """Whether the user wants the list beside the page; None: if the screen is wide enough."""
        self._part: dict[bool, float] = {}
        """The list's part of the room, beside the page (True) and above it, where the user has drawn the line."""
        self._drawing = False
        """True while the line between the panes is held with the mouse."""

    @override
    def compose(self) -> ComposeResult:
        with self._left:
            yield self._heads
            yield self.turns
        with self._right:
            yield self.tabs
            yield self.page
            yield self.plot

    def use(self, palette: Palette) -> None:
        """Draw in the looks of another theme."""
        for widget in (self._heads, self.turns, self.tabs, self.page, self.plot, self.strip):
            widget.use(palette)

    def resized(self, width: int, height: int) -> None:
        """The screen has this size, in cells."""
        lines = min(strip_height(height), 1) if self.strip.empty else strip_height(height)
        self.strip.styles.height = lines
        self.strip.display = lines > 0
        self._width, self._height = width, height - lines
        self.share_room()

    def share_room(self) -> None:
        """Share the room between list and page, and name the columns that the list has."""
        self._heads.refresh()
        side = self._side if self._side is not None else self._width >= SIDE_BY_SIDE
        lone: Literal["list", "page"] | None = None
        if not side and self._height - 2 < BOTH:  # without title and keys
            lone = "page" if self._reading else "list"
        shown = self._zoomed or lone
        self.set_class(side, "side")
        self.set_class(shown == "list", "list-only")
        self.set_class(shown == "page", "page-only")
        part = self._part.get(side)
        self._left.styles.width = f"{part:.0%}" if side and part and shown is None else None
        if side or shown == "list":
            self._left.styles.height = "1fr"
        elif part:
            self._left.styles.height = max(4, round((self._height - 2) * part))
        else:
            most = round((self._height - 3) * (0.2 if self._reading else 0.4))
            self._left.styles.height = max(4, min(most, self.turns.count() + 1))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Hold the line between the panes: the column beside the list, or the line of the tabs."""
        both = self._left.display and self._right.display
        self._drawing = both and self._along(event) == self._along(self._right.region)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        at = self._along(event)
        if not self._drawing or at == self._along(self._right.region):
            return
        self.capture_mouse()  # only now: a click on a tab is one of the tabs
        side = self.has_class("side")
        part = (at - self._along(self.region)) / max(1, self.size.width if side else self.size.height)
        self._part[side] = min(0.8, max(0.2, part))
        self.share_room()

    def on_mouse_up(self) -> None:
        self._drawing = False
        self.release_mouse()

    def _along(self, at: events.MouseEvent | Region) -> int:
        """Where something is in the direction in which the panes follow each other, on the screen."""
        x, y = (at.x, at.y) if isinstance(at, Region) else (at.screen_x, at.screen_y)
        return int(x if self.has_class("side") else y)

    def on_turn_list_folded(self) -> None:
        self.share_room()

    def zoom(self) -> None:
        """Show only the pane with the focus, or both again."""
        self._zoomed = None if self._zoomed else "list" if self.in_list else "page"
        self.share_room()

    def toggle_side(self) -> None:
        """Put the list beside the page, or above it."""
        self._side = not self.has_class("side")
        self.share_room()

    def show_view(self, view: str) -> None:
        """Show the page, or for the growth view the plot."""
        self._right.set_class(view == "growth", "plot")

    def show_page(self) -> None:
        """Show the page pane when only the list is shown."""
        if self._zoomed == "list":
            self._zoomed = None
            self.share_room()

    def enter_page(self, view: str) -> None:
        """Give the focus to the page pane."""
        if self._zoomed == "list":
            self._zoomed = None
        self._reading = True
        self.share_room()
        (self.plot if view == "growth" else self.page).focus()

    def enter_list(self) -> None:
        """Give the focus to the list."""
        self._reading = False
        if self._zoomed == "page":
            self._zoomed = None
        self.share_room()
        self.turns.focus()

    @property
    def list_only(self) -> bool:
        """Whether the page is hidden."""
        return self.has_class("list-only")

    @property
    def in_list(self) -> bool:
        """Whether the list has the focus."""
        return self.turns.has_focus

    @property
    def hints(self) -> tuple[KeyHint, ...]:
        """The keys of the pane with the focus."""
        if self.turns.has_focus:
            return self.turns.HINTS
        return self.plot.HINTS if self.plot.has_focus else self.page.HINTS
