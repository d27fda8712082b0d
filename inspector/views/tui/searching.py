"""Search: the list shows the turns that a filter lets through, as it is typed, and pages go from match to match."""

from textual.widgets import Input

from ...run.filters import parse
from .looking import Looking
from .messages import PageMade
from .pages.page_table import PAGES
from .search_matches import MOST
from .widgets.page_view import PageView

OF_A_TURN = frozenset({"turn", "wire", "context", "diff"})
"""The views that show one turn: behind its last match comes the next turn."""


class Searching(Looking):
    """`/` asks, Enter keeps and shows the first match, Escape goes back to where one was and shows all again."""

    _before: int | None = None
    """Where the run was looked at before the search."""
    _seek = 0
    """Which way a match is looked for on the page that is being made."""

    def action_search(self) -> None:
        self._before = self.place
        self._search.add_class("shown")
        self._search.value = self.filter.text
        self._search.focus()
        self._bars()

    def on_input_changed(self, event: Input.Changed) -> None:
        if self._search.has_class("shown"):
            self._filter(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self._filter(event.value)
        self._end_search(keep=True)
        if self.filter.words and self._list.outline.places:
            self._look_for(1)

    def _filter(self, text: str) -> None:
        if text.strip() == self.filter.text:
            return
        self.filter, self._match = parse(text), ""
        self._page.needle = self.filter.words
        self._refresh_list()
        places = self._list.outline.places
        if self.place is not None and places and self.place not in places:
            self.select(min(places, key=lambda own: abs(own - (self.place or 0))))
        self._page.refresh()
        self._bars()

    def _end_search(self, *, keep: bool) -> None:
        self._search.remove_class("shown")
        if not keep:
            self._filter("")
            if self._before is not None and self._before != self.place:
                self.select(self._before)
        self._page_focus = False
        self._arrange()
        self._list.focus()
        self._bars()

    # From match to match.

    def action_match(self, by: int) -> None:
        """To the next line that says a word of the search: on this page, then on that of the next turn found."""
        if not self._page.seeking:
            self._page.seek(by)

    def _look_for(self, by: int) -> None:
        """Look for a match from the edge of the page, once it is there."""
        if self._desk.busy:
            self._seek = by
        elif self.view in PAGES:
            self.call_later(self._page.seek, by, edge=True)

    def on_page_made(self, message: PageMade) -> None:
        # The page itself is shown by `Looking`, whose handler comes after this one.
        if self._seek and message.wish.place == self.place and message.wish.view == self.view:
            self.call_later(self._page.seek, self._seek, edge=True)
            self._seek = 0

    def on_page_view_matched(self, message: PageView.Matched) -> None:
        of = f"{message.of:,}" + (" or more" if message.of >= MOST else "")
        self._match = f"match {message.number:,} of {of} on this page, n goes on"
        self._bars()

    def on_page_view_unmatched(self, message: PageView.Unmatched) -> None:
        by, here = message.by, self.place
        if message.edge:
            self._match = "not on this page" + ("" if self.view == "wire" else ", but perhaps in 2 Wire")
            self._bars()
            return
        places = [own for own in self._list.outline.places if here is not None and (own - here) * by > 0]
        if places and self.view in OF_A_TURN:
            self.select(min(places) if by > 0 else max(places))
            self._look_for(by)
        else:
            self.say("no match after this one" if by > 0 else "no match before this one", "dim")
