"""The viewer: a run, turn by turn, in the terminal.

The screen's thread only draws. One thread reads the file and hands rows over, another makes the page that is
looked at; whatever they send is a finished value. `Surface` is the screen, `Looking` what of the run is shown on it,
`Searching` and `Playing` go through it; here are the keys.
"""

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Unpack

from textual.binding import Binding, BindingType

from ...run.run_index import Run
from .export import Takeaway
from .export_choices import COPY_CHOICES, SAVES
from .headings import OUTPUT, VIEWS
from .navigation import Spot, jump, thread_beside
from .pages.page_table import PAGES
from .playing import Playing
from .surface import Options
from .widgets.dialogs import Menu
from .widgets.growth_plot import GrowthPlot
from .widgets.page_view import PageView
from .widgets.turn_list import TurnList


class Viewer(Playing):
    """`Viewer(run).run()`; with `live` the file is followed while it is being written."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "quit", show=False),
        Binding("question_mark,f1", "help", "help", show=False),
        Binding("slash", "search", "search", show=False),
        Binding("escape", "out", "back", show=False),
        Binding("h,left", "left", "back", show=False),
        Binding("l,right", "open", "open", show=False),
        Binding("tab", "other", "other pane", show=False, priority=True),
        *(Binding(key, f"view('{name}')", word, show=False) for key, word, name in (*VIEWS, OUTPUT)),
        Binding("n", "next(1)", "next match or finding", show=False),
        Binding("N", "next(-1)", "previous match or finding", show=False),
        Binding("e", "jump('error', 1)", "next error", show=False),
        Binding("E", "jump('error', -1)", "previous error", show=False),
        Binding("c", "jump('call', 1)", "next call", show=False),
        Binding("C", "jump('call', -1)", "previous call", show=False),
        Binding("t", "thread(1)", "next thread", show=False),
        Binding("T", "thread(-1)", "previous thread", show=False),
        Binding("full_stop", "step(1)", "next turn", show=False),
        Binding("comma", "step(-1)", "previous turn", show=False),
        Binding("J", "scroll_page(1)", "scroll the page", show=False),
        Binding("K", "scroll_page(-1)", "scroll the page", show=False),
        Binding("r", "raw", "raw", show=False),
        Binding("z", "zoom", "zoom", show=False),
        Binding("v", "side", "layout", show=False),
        Binding("p", "play", "play", show=False),
        Binding("plus,equals_sign", "speed(1)", "faster", show=False),
        Binding("minus", "speed(-1)", "slower", show=False),
        Binding("y", "copy", "copy", show=False),
        Binding("x", "save", "save", show=False),
        Binding("f", "follow", "follow", show=False),
        Binding("ctrl+t", "next_theme", "theme", show=False),
        Binding("colon,ctrl+p", "command_palette", "commands", show=False),
    ]

    def __init__(self, run: Run, **options: Unpack[Options]) -> None:
        super().__init__(run, **options)
        self._takeaway = Takeaway(self, run, options.get("folder", Path()), self.say)

    # Messages of the widgets.

    def on_line_view_moved(self, message: TurnList.Moved) -> None:
        if message.view is not self._list:
            return
        line = self._list.at(message.line)
        if line is not None and line.place != self.place:
            self._stop()
            self.select(line.place, listed=True)

    def on_line_view_chosen(self, message: TurnList.Chosen) -> None:
        if message.view is not self._list:
            return
        line = self._list.at(message.line)
        if line is not None and line.thread is not None:
            self._fold(line.thread, not line.open)
        elif not message.clicked:
            self.action_open()

    def on_page_view_followed(self, message: PageView.Followed) -> None:
        goto = message.goto
        self._stop()
        self._into_page()
        self.select(goto.place, goto.anchor, goto.view)

    def on_growth_plot_picked(self, message: GrowthPlot.Picked) -> None:
        if message.place != self.place:
            self.select(message.place)

    def _fold(self, thread: str, opened: bool) -> None:
        self.list_folds[thread] = opened
        self._refresh_list()

    def action_open(self) -> None:
        """Into what the cursor stands on."""
        if not self._list.has_focus:
            return
        line = self._list.at(self._list.cursor)
        if line is not None and line.thread is not None and not line.open:
            self._fold(line.thread, True)
            return
        self._into_page()

    def _into_page(self) -> None:
        if self._zoomed == "list":
            self._zoomed = None
        self._page_focus = True
        self._arrange()
        (self._plot if self.view == "growth" else self._page).focus()
        self._bars()

    def action_out(self) -> None:
        """Out of what is on: the search, playing, the page, a thread, the filter."""
        if self._search.has_class("shown"):
            self._end_search(keep=False)
        elif self.player.on is not None:
            self.action_play()
        elif not self._list.has_focus:
            self._page_focus = False
            if self._zoomed == "page":
                self._zoomed = None
            self._arrange()
            self._list.focus()
        elif self.filter:
            self._filter("")
        self._bars()

    def action_left(self) -> None:
        """Out of the page; in the list fold the thread, or go to its head."""
        if not self._list.has_focus:
            self.action_out()
            return
        line = self._list.at(self._list.cursor)
        if line is None:
            return
        if line.thread is not None:
            self._fold(line.thread, False)
            return
        thread = self.run_.rows.all[line.place].thread
        head = self._list.outline.head_of(thread) if thread is not None else None
        if head is not None:
            self._list.go(head)

    def action_other(self) -> None:
        if self._list.has_focus:
            self._into_page()
        elif not self._search.has_focus:
            self.action_out()
        else:
            self._end_search(keep=True)

    def action_open_turn(self) -> None:
        self.action_view("turn")

    def action_view(self, name: str) -> None:
        if name == OUTPUT[2] and self.output is None:
            return
        self._stop()
        inside = not self._list.has_focus
        if name == self.view:
            if not inside:
                self._into_page()
            return
        self.view = name
        self._show_view()
        if self._zoomed == "list":
            self._zoomed = None
            self._arrange()
        self._wish()
        if inside:
            self._into_page()

    def action_fold(self) -> None:
        if self._page.has_focus:
            self._page.action_choose()

    def action_next(self, by: int) -> None:
        """The next match while words are searched, else the next finding."""
        if self.filter.words and self.view in PAGES:
            self._stop()
            self.action_match(by)
        else:
            self.action_jump("finding", by)

    def action_jump(self, what: str, by: int) -> None:
        if self.place is None:
            return
        self._stop()
        found = jump(self.run_.rows, self.shown, what, Spot(self.place, self._anchor), by)
        if found is None:
            side = "after" if by > 0 else "before"
            self.say(f"no {what} {side} this one", "dim")
            return
        self.select(found.place, found.anchor, "turn")

    def action_thread(self, by: int) -> None:
        found = None if self.place is None else thread_beside(self.run_.rows, self.place, by)
        if found is None:
            self.say("no thread after this one" if by > 0 else "no thread before this one", "dim")
            return
        thread = self.run_.rows.all[found.place].thread
        if thread is not None:
            self._fold(thread, True)
        self.select(found.place)

    def action_step(self, by: int) -> None:
        """To the turn beside, from wherever the focus is."""
        self._stop()
        places = self._list.outline.places
        if self.place is None or not places:
            return
        line = self._list.cursor + by
        while (entry := self._list.at(line)) is not None and entry.thread is not None:
            line += by
        if entry is not None:
            self.select(entry.place)

    def action_scroll_page(self, by: int) -> None:
        self._page.action_page(by)

    def action_raw(self) -> None:
        self.action_view("turn" if self.view == "wire" else "wire")

    # Taking away.

    def action_copy(self) -> None:
        if self.place is not None:
            self.push_screen(Menu("copy", COPY_CHOICES, self._palette), self._chosen(self._takeaway.copy))

    def action_save(self) -> None:
        if self.place is not None:
            self.push_screen(Menu("save into this folder", SAVES, self._palette), self._chosen(self._takeaway.save))

    def _chosen(self, take: Callable[[str, int, PageView], None]) -> Callable[[str | None], None]:
        def chosen(key: str | None) -> None:
            if key is not None and self.place is not None:
                take(key, self.place, self._page)

        return chosen
