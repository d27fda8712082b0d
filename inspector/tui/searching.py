"""Search: the list shows the turns that a filter lets through, as it is typed."""

from textual.widgets import Input

from ..filters import parse
from .looking import Looking


class Searching(Looking):
    """`/` asks, Enter keeps, Escape shows all again."""

    def action_search(self) -> None:
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

    def _filter(self, text: str) -> None:
        if text.strip() == self.filter.text:
            return
        self.filter = parse(text)
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
        self._page_focus = False
        self._arrange()
        self._list.focus()
        self._bars()
