"""The search on the screen: the box, the filter of the list, and the way from match to match."""

from collections.abc import Callable

from ..controllers.loader import Loader
from ..controllers.search import OF_A_TURN, nearest, turn_beside
from ..pages.page_table import PAGES
from ..widgets.page_view import PageView
from ..widgets.panes import Panes
from ..widgets.search_box import SearchBox
from .bars import Bars
from .selection import Selection
from .state import ScreenState

PAUSE = 0.3
"""Seconds without another letter after which everything that was sent is searched."""
ERRORS = "is:error"
"""The query that shows errors only."""


class SearchActions:
    """Each public method is what a key, or a message of the box or of the page, does.

    `later` calls a function once the messages before it are handled, `after` after a number of seconds.
    """

    def __init__(
        self,
        state: ScreenState,
        loader: Loader,
        selection: Selection,
        panes: Panes,
        search_box: SearchBox,
        bars: Bars,
        later: Callable[[Callable[[], None]], object],
        after: Callable[[float, Callable[[], None]], object],
    ) -> None:
        self._state, self._search, self._loader = state, state.search, loader
        self._selection, self._panes, self._search_box = selection, panes, search_box
        self._bars, self._later, self._after = bars, later, after
        self._to_seek = False
        """Whether to go to the first match as soon as one is found."""

    @property
    def opened(self) -> bool:
        """True while the box is on the screen."""
        return self._search_box.opened

    @property
    def typing(self) -> bool:
        """True while the box has the focus."""
        return self._search_box.has_focus

    @property
    def on_page(self) -> bool:
        """Whether words are searched in a view that can show them."""
        return bool(self._search.words) and self._state.view in PAGES

    def open(self) -> None:
        """Open the box with the query to edit."""
        self._search.start(self._state.place)
        self._search_box.start(self._search.filter.text)
        self._bars.refresh()

    def typed(self, text: str) -> None:
        """The text in the box changed."""
        if self._search_box.opened:
            self.filter(text)
            self._after(PAUSE, lambda: self._paused(text))

    def _paused(self, text: str) -> None:
        """Search everything if the query is still the same."""
        if text.strip() == self._search.filter.text and self._search.words:
            self._search.look()

    def errors(self) -> None:
        """Show errors only; when they are shown already, show all."""
        self.filter("" if self._search.filter.text == ERRORS else ERRORS)
        if self._search.filter and not self._panes.turns.places:
            self.filter("")
            self._bars.say("no errors in this run", "good")

    def submitted(self, text: str) -> None:
        """Keep the query and go to the first match."""
        self.filter(text)
        self.end(keep=True)
        if not self._search.words:
            return
        more = self._search.look()
        self._to_seek = not self._go_to_first() and more
        self._bars.refresh()

    def searched(self, *, ended: bool) -> None:
        """More of what was sent was searched: show the turns that were found."""
        if not self._search.words:
            return
        self._selection.refresh_list()
        self._to_seek = self._to_seek and not self._go_to_first() and not ended
        self._bars.refresh()

    def look_again(self) -> None:
        """Search what was recorded since the last search."""
        if self._search.words and self._search.share is None:
            self._search.look()

    def filter(self, text: str) -> None:
        """Show only the turns that match a query; all when it is empty."""
        if not self._search.change(text):
            return
        self._panes.page.needle = self._search.words
        self._selection.refresh_list()
        self._select_listed()
        self._panes.page.refresh()
        self._bars.refresh()

    def end(self, *, keep: bool) -> None:
        """Close the box. Without `keep` all turns are shown again, from where the search was started."""
        self._search_box.end()
        if not keep:
            self.filter("")
            before = self._search.cancel()
            if before is not None and before != self._state.place:
                self._selection.select(before)
        self._panes.enter_list()
        self._bars.refresh()

    def match(self, by: int) -> None:
        """Go to the next matching line: on this page, then on the page of the next turn in the list."""
        if not self._panes.page.seeking:
            self._panes.page.seek(by)

    def matched(self, message: PageView.Matched) -> None:
        """The page shows a match."""
        self._search.matched(message.number, message.of)
        self._bars.refresh()

    def unmatched(self, message: PageView.Unmatched) -> None:
        """The page has no more matches in that direction: go on with the next turn."""
        if message.edge:
            place = self._state.place
            where = self._search.where(self._state.run.rows.all[place]) if place is not None else None
            self._search.not_on_page(self._state.view, where)
            self._bars.refresh()
            return
        place = turn_beside(self._state.place, self._panes.turns.places, message.by)
        if place is not None and self._state.view in OF_A_TURN:
            self._selection.select(place)
            self._seek_from_edge(message.by)
        else:
            of_turns = "" if self._state.view in OF_A_TURN else " on this page; 1 shows those of the turns"
            self._bars.say(f"no match {'after' if message.by > 0 else 'before'} this one{of_turns}", "dim")

    def page_shown(self, place: int) -> None:
        """The page of a round trip is on the screen: look for a match if one was waited for."""
        by = self._search.seek_when_ready
        if by and place == self._state.place:
            self._later(lambda: self._panes.page.seek(by, edge=True))
            self._search.seek_when_ready = 0

    def _select_listed(self) -> bool:
        """Select the nearest turn that the list shows; false when it shows none."""
        place, places = self._state.place, self._panes.turns.places
        if place is None or not places:
            return False
        if place not in places:
            self._selection.select(nearest(place, places))
        return True

    def _go_to_first(self) -> bool:
        """Go to the first match of the nearest turn that the list shows; false when it shows none."""
        listed = self._select_listed()
        if listed:
            self._seek_from_edge(1)
        return listed

    def _seek_from_edge(self, by: int) -> None:
        """Look for a match from the edge of the page, once it is there."""
        if self._loader.busy:
            self._search.seek_when_ready = by
        elif self._state.view in PAGES:
            self._later(lambda: self._panes.page.seek(by, edge=True))
