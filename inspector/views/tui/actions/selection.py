"""Selecting a round trip and a view, and showing the page of both."""

from ..controllers.loader import Loader
from ..controllers.messages import PageFailed, PageReady
from ..controllers.one_paint import OnePaint
from ..widgets.panes import Panes
from ..widgets.tabs import OUTPUT
from .bars import Bars
from .state import OF_THE_RUN, ScreenState

NARROWEST = 16
"""A page is made for at least this width, in cells."""


OF_THE_LEDGER = frozenset({"context", "costs", "compare"})
"""The views whose pages wait for the ledger."""


class Selection:
    """`select` a round trip, `show_view`; the page is requested from the loader and shown when it is there."""

    def __init__(self, state: ScreenState, loader: Loader, panes: Panes, bars: Bars, paint: OnePaint) -> None:
        self._state, self._loader, self._panes, self._bars = state, loader, panes, bars
        self._paint = paint

    def select(self, place: int, anchor: str = "", view: str | None = None, *, listed: bool = False) -> None:
        """Show a round trip, and a part of it; `listed` when the cursor of the list is there already."""
        state = self._state
        if state.place is not None:
            state.navigation.wanted_turn, state.navigation.wanted_steps = None, []
        moved = state.navigation.go(place, anchor)
        if moved:
            state.search.match = ""
        if not listed:
            self._panes.turns.point_to(place)
        state.follow.selected(place, self._panes.turns.places)
        if view is not None and view != state.view:
            self.show_view(view)
        if moved and state.view not in OF_THE_LEDGER:
            self._loader.moving()
        if state.view != "growth":  # which has no page
            self._paint.hold()
        self.request_page(anchor, top=moved)
        self._bars.refresh()

    def show_view(self, view: str) -> None:
        """Show the pane of a view. Its page is still to be requested."""
        self._state.navigation.view = view
        self._state.search.match = ""
        self._panes.show_view(view)
        self._bars.refresh()

    def request_page(self, anchor: str = "", *, top: bool = False) -> None:
        """Request the page of what is selected."""
        state = self._state
        place, view, output = state.place, state.view, state.output
        if place is None:
            return
        if view == "growth":
            return  # drawn like the strip, whenever rows are read
        if view == OUTPUT[2] and output is not None:
            self._loader.output(output, place, self.width)
        elif view == "compare":
            self._loader.compared(state.marked, place, self.width, anchor, top=top)
        elif view == "costs":
            self._loader.costs(state.cost_order, place, self.width, "dearest" if top else anchor, top=top)
        else:
            self._loader.page(view, place, self.width, anchor, top=top)

    @property
    def width(self) -> int:
        """The width for which pages are made, in cells."""
        return max(NARROWEST, self._panes.page.room)

    def refresh_list(self) -> None:
        """Draw the list of turns again."""
        state = self._state
        self._panes.turns.show(state.run.rows, state.search.visible if state.search.filter else None, state.place)
        self._panes.share_room()

    def refresh_output(self) -> None:
        """Read the output of the command again while it is shown."""
        if self._state.view == OUTPUT[2]:
            self.request_page()

    def page_ready(self, message: PageReady) -> bool:
        """Show a requested page. False when it is no longer wanted, or is a page of playback."""
        wanted = self._show(message)
        self._panes.page.hand_over()
        self._paint.release()
        return wanted

    def _show(self, message: PageReady) -> bool:
        state, request, page = self._state, message.request, self._panes.page
        if request.view == "play":
            if state.playback.turn is not None:
                page.show(message.page, end=True)
            return False
        if request.view != state.view or (request.place != state.place and state.view not in OF_THE_RUN):
            return False
        page.needle = state.search.words
        page.show(message.page, request.anchor, top=request.top, end=state.view == OUTPUT[2] and page.at_end)
        return True

    def page_failed(self, message: PageFailed) -> None:
        """Say why a requested page could not be made."""
        if message.request.view in (self._state.view, "play"):
            self._bars.say(message.problem, "bad")
        self._paint.release()
