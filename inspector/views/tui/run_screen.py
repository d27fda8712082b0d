"""The screen of a run: mounts the panes and bars, and connects them with the controllers."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, override

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Input

from ...run.run_index import Run
from .controllers.follow import Follow
from .controllers.loader import Loader
from .controllers.navigation import Navigation
from .controllers.playback import Playback
from .controllers.search import OF_A_TURN, Search, nearest, turn_beside
from .headings import Title, behind_status, ended_notice, filter_status, several_problems, summarize, title
from .messages import (
    GrowthReady,
    Notice,
    PageFailed,
    PageReady,
    PlaybackAdvanced,
    PlaybackEnded,
    ReadingEnded,
    RowsRead,
)
from .pages.blocks import Spans
from .pages.page_table import PAGES
from .theme import Palette
from .widgets.growth_plot import GrowthPlot
from .widgets.header_footer import Bar, Keys
from .widgets.page_view import PageView
from .widgets.panes import Panes
from .widgets.search_box import SearchBox
from .widgets.tabs import OUTPUT, VIEWS
from .widgets.turn_list import TurnList

REFRESH = 0.12
"""A run that is being read is drawn at most this often, in seconds."""
OUTPUT_REFRESH = 0.5
"""How often the output of the command is read while it is shown, in seconds."""
OF_THE_RUN = frozenset({"findings", "growth"})
"""The views that show the same for every turn."""


class RunScreen(Screen[None]):
    """Shows a run. `select` goes to a round trip; the keys below call the actions."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "search", show=False),
        Binding("escape,h,left", "out", "back", show=False),
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
        Binding("f", "follow", "follow", show=False),
    ]

    def __init__(
        self, run: Run, loader: Loader, palette: Palette, live: bool, output: Path | None, turn: int | None
    ) -> None:
        super().__init__()
        self._run, self.loader, self._palette, self.output = run, loader, palette, output
        self.search = Search()
        self.navigation = Navigation(run.rows, self.search.visible, turn)
        self.follow = Follow(run.rows, live=live)
        self.playback = Playback(run.rows, self.search.visible, self.post_message, self.set_interval)
        self.panes = Panes(id="body")
        self._title, self._status, self._keys = Bar(id="title"), Bar(id="status"), Keys(id="keys")
        self._search_box = SearchBox(id="search")
        self._summary = summarize(run.rows)
        self._notice: Spans = ()
        """What the status line says until the next key."""
        self._reading = True
        """True until the file was read to its end."""
        self._stale = False
        """True when more rows were read than are drawn."""
        self._drawn = 0.0
        """When rows were drawn last."""

    @override
    def compose(self) -> ComposeResult:
        yield self._title
        yield self.panes
        yield self._status
        yield self._search_box
        yield self._keys

    def on_mount(self) -> None:
        self.use(self._palette)
        self.panes.turns.focus()
        self._show_view()
        if self.output is not None:
            self.set_interval(OUTPUT_REFRESH, self._refresh_output)

    def use(self, palette: Palette) -> None:
        """Draw in the looks of another theme."""
        for widget in (self._title, self.panes, self._status, self._keys):
            widget.use(palette)

    @property
    def place(self) -> int | None:
        """The selected round trip; None until the first one is read."""
        return self.navigation.place

    @property
    def view(self) -> str:
        """The name of the view that is shown."""
        return self.navigation.view

    @property
    def settled(self) -> bool:
        """True when everything that was requested is shown, for programs that read the screen."""
        return not (self._reading or self._stale or self.loader.busy or self.panes.page.seeking)

    # What is selected, and what is drawn of it.

    def select(self, place: int, anchor: str = "", view: str | None = None, *, listed: bool = False) -> None:
        """Show a round trip, and a part of it; `listed` when the cursor of the list is there already."""
        moved = self.navigation.go(place, anchor)
        if moved:
            self.search.match = ""
        if not listed:
            self.panes.turns.point_to(place)
        self.follow.selected(place, self.panes.turns.places)
        if view is not None and view != self.view:
            self.navigation.view = view
            self._show_view()
        self._request_page(anchor, top=moved)
        self.refresh_bars()

    def _request_page(self, anchor: str = "", *, top: bool = False) -> None:
        """Request the page of what is selected."""
        if self.place is None:
            return
        place, view, width = self.place, self.view, max(16, self.panes.page.room)
        if view == "growth":
            known = self.loader.growth(place, width)
            if known is not None:
                self.panes.plot.show(known, place)
        elif view == OUTPUT[2] and self.output is not None:
            self.loader.output(self.output, place, width)
        else:
            self.loader.page(view, place, width, anchor, top=top)

    def _refresh_list(self) -> None:
        keep = self.search.visible if self.search.filter else None
        self.panes.turns.show(self._run.rows, keep, self.place)
        self.panes.share_room()

    def refresh_bars(self) -> None:
        """Draw the title, the status line, the tabs and the keys again."""
        follow, search = self.follow, self.search
        state = Title(self._run.path.name, self._reading, follow.live, follow.on)
        self._title.show(partial(title, state, self._summary))
        status = self._status_line()
        self._status.show(status or (lambda width: ()))
        self._status.set_class(status is not None and not self._search_box.opened, "shown")
        self.panes.tabs.show_views(self.view, self._summary.problems, output=self.output is not None)
        hints = self._search_box.HINTS if self._search_box.has_focus else self.panes.hints
        if search.words and self.view in PAGES and not self._search_box.has_focus:
            hints = (hints[0], ("n", "match", "match(1)"), *(hint for hint in hints[1:] if hint[0] != "n"))
        self._keys.show(hints)

    def _status_line(self) -> Callable[[int], Spans] | None:
        """What makes the status line; None when there is nothing to say."""
        if (turn := self.playback.turn) is not None:
            return partial(turn.status, self._run.rows.all[turn.place])
        if spans := self._notice:
            return lambda width: spans
        if self.search.filter:
            shown, whole = len(self.panes.turns.places), len(self._run.rows.all)
            return lambda width: filter_status(self.search.filter, self.search.match, shown, whole)
        if self.follow.on and (behind := self.follow.behind):
            return lambda width: behind_status(behind)
        return None

    def say(self, text: str, look: str = "plain") -> None:
        """Show a line until the next key."""
        self._notice = [(f" {text}", look)]
        self.refresh_bars()

    def on_notice(self, message: Notice) -> None:
        self.say(message.text, message.look)

    def on_resize(self, event: events.Resize) -> None:
        self.panes.resized(event.size.width, event.size.height)

    def on_descendant_focus(self) -> None:
        self.refresh_bars()

    def on_key(self) -> None:
        if self._notice:
            self._notice = ()
            self.refresh_bars()

    # Rows and pages from the loader.

    def on_rows_read(self, message: RowsRead) -> None:
        rows = self._run.rows
        change = rows.put(message.rows)
        self.loader.rows_changed()
        if self.place is None and rows.all:
            self._summary = summarize(rows)
            self._refresh_list()
            last = self.follow.last_of_thread(0) if self.follow.on else None
            self.select(0 if last is None else last)
            return
        self._stale = True
        if self._page_changed(change.first, change.again):
            self._request_page()
        if time.monotonic() - self._drawn > REFRESH:
            self._redraw()
        else:
            self.set_timer(REFRESH, self._redraw)

    def _page_changed(self, first: int, again: Sequence[int]) -> bool:
        """Whether new rows from `first` on, or the changed rows `again`, change the page that is shown."""
        if self.playback.turn is not None or self.place is None:
            return False
        after = self._run.rows.after(self.place)
        return self.view in OF_THE_RUN or self.place in again or (after is not None and after >= first)

    def _redraw(self) -> None:
        """Draw the rows that were read, and let the cursor follow."""
        if not self._stale:
            return
        self._stale, self._drawn = False, time.monotonic()
        target = self.follow.target(self.place, on_turn=self.panes.turns.on_turn)
        self._summary = summarize(self._run.rows)
        self._refresh_list()
        if self.navigation.wanted_turn is not None:
            self._go_to_wanted_turn()
        elif target is not None and self.playback.turn is None:
            self.select(target)
        else:
            self.follow.count(self.place or 0, self.panes.turns.places)
        self.refresh_bars()

    def _go_to_wanted_turn(self) -> None:
        number, place = self.navigation.wanted_turn, self.navigation.first_with_wanted_number()
        if place is not None:
            self.select(place)
        elif not self._reading:
            self.say(f"there is no turn {number} in this run", "warn")
        if place is not None or not self._reading:
            self.navigation.wanted_turn = None

    def on_reading_ended(self, message: ReadingEnded) -> None:
        self._reading, self._stale = False, True
        if self.follow.live and message.final:
            self.follow.end()
            self.say(ended_notice(recorded=bool(self._run.rows.all), command=self.output is not None), "accent")
        self._redraw()
        if message.problem is not None:
            self.say(message.problem, "bad")
        elif problems := self._run.problems:
            self.say(several_problems(problems), "warn")
        if not self._run.rows.all and not self.follow.live and not self._notice:
            self.say("nothing was recorded in this file", "warn")

    def on_page_ready(self, message: PageReady) -> None:
        request, page = message.request, self.panes.page
        if request.view == "play":
            if self.playback.turn is not None:
                page.show(message.page, end=True)
        elif request.view == self.view and (request.place == self.place or self.view in OF_THE_RUN):
            page.needle = self.search.words
            page.show(message.page, request.anchor, top=request.top, end=self.view == OUTPUT[2] and page.at_end)
            self._seek_on_new_page(request.place)

    def on_growth_ready(self, message: GrowthReady) -> None:
        if self.view == "growth" and self.place is not None:
            self.panes.plot.show(message.steps, self.place)

    def on_page_failed(self, message: PageFailed) -> None:
        if message.request.view in (self.view, "play"):
            self.say(message.problem, "bad")

    def _refresh_output(self) -> None:
        if self.view == OUTPUT[2]:
            self._request_page()

    # Messages of the widgets, and moving between the panes.

    def on_turn_list_selected(self, message: TurnList.Selected) -> None:
        if message.place != self.place:
            self._stop()
            self.select(message.place, listed=True)

    def on_turn_list_entered(self) -> None:
        self._enter_page()

    def on_page_view_followed(self, message: PageView.Followed) -> None:
        goto = message.goto
        self._stop()
        self._enter_page()
        self.select(goto.place, goto.anchor, goto.view)

    def on_growth_plot_picked(self, message: GrowthPlot.Picked) -> None:
        if message.place != self.place:
            self.select(message.place)

    def _enter_page(self) -> None:
        self.panes.enter_page(self.view)
        self.refresh_bars()

    def action_open(self) -> None:
        if self.panes.in_list:
            self.panes.turns.action_open()

    def action_out(self) -> None:
        """Leave what is open: the search, playback, the page, the filter."""
        if self._search_box.opened:
            self._end_search(keep=False)
        elif self.playback.turn is not None:
            self.action_play()
        elif not self.panes.in_list:
            self.panes.enter_list()
        elif self.search.filter:
            self._filter("")
        self.refresh_bars()

    def action_other(self) -> None:
        """To the other pane."""
        if self.panes.in_list:
            self._enter_page()
        elif self._search_box.has_focus:
            self._end_search(keep=True)
        else:
            self.action_out()

    def action_zoom(self) -> None:
        self.panes.zoom()

    def action_side(self) -> None:
        self.panes.toggle_side()

    def action_fold(self) -> None:
        if self.panes.page.has_focus:
            self.panes.page.action_choose()

    def action_scroll_page(self, by: int) -> None:
        self.panes.page.action_page(by)

    # Views.

    def action_view(self, name: str) -> None:
        if name == OUTPUT[2] and self.output is None:
            return
        self._stop()
        inside = not self.panes.in_list
        if name != self.view:
            self.navigation.view = name
            self._show_view()
            self.panes.show_page()
            self._request_page(top=True)
            if inside:
                self._enter_page()
        elif not inside:
            self._enter_page()

    def _show_view(self) -> None:
        self.search.match = ""
        self.panes.show_view(self.view)
        self.refresh_bars()

    def action_open_turn(self) -> None:
        self.action_view("turn")

    def action_raw(self) -> None:
        self.action_view("turn" if self.view == "wire" else "wire")

    # Jumps.

    def action_next(self, by: int) -> None:
        """The next match while words are searched, else the next finding."""
        if self.search.words and self.view in PAGES:
            self._stop()
            self.action_match(by)
        else:
            self.action_jump("finding", by)

    def action_jump(self, what: str, by: int) -> None:
        if self.place is None:
            return
        self._stop()
        found = self.navigation.jump(what, by)
        if found is None:
            self.say(f"no {what} {'after' if by > 0 else 'before'} this one", "dim")
        else:
            self.select(found.place, found.anchor, "turn")

    def action_thread(self, by: int) -> None:
        found = self.navigation.thread(by)
        if found is None:
            self.say(f"no thread {'after' if by > 0 else 'before'} this one", "dim")
            return
        thread = self._run.rows.all[found.place].thread
        if thread is not None:
            self.panes.turns.fold(thread, self.place, opened=True)
        self.select(found.place)

    def action_step(self, by: int) -> None:
        """To the next turn of the list, whichever pane has the focus."""
        self._stop()
        place = self.panes.turns.beside(by) if self.place is not None and self.panes.turns.places else None
        if place is not None:
            self.select(place)

    def action_follow(self) -> None:
        if not self.follow.live:
            text = "this recording is over: there is nothing to follow (turntape view --follow waits for more)"
            self.say(text, "dim")
            return
        self.follow.toggle()
        if self.follow.on and self.place is not None and (last := self.follow.last_of_thread(self.place)) is not None:
            self.select(last)
        self.refresh_bars()

    # Search.

    def action_search(self) -> None:
        self.search.start(self.place)
        self._search_box.start(self.search.filter.text)
        self.refresh_bars()

    def on_input_changed(self, event: Input.Changed) -> None:
        if self._search_box.opened:
            self._filter(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self._filter(event.value)
        self._end_search(keep=True)
        if self.search.words and self.panes.turns.places:
            self._seek_from_edge(1)

    def _filter(self, text: str) -> None:
        if not self.search.change(text):
            return
        self.panes.page.needle = self.search.words
        self._refresh_list()
        places = self.panes.turns.places
        if self.place is not None and places and self.place not in places:
            self.select(nearest(self.place, places))
        self.panes.page.refresh()
        self.refresh_bars()

    def _end_search(self, *, keep: bool) -> None:
        self._search_box.end()
        if not keep:
            self._filter("")
            before = self.search.cancel()
            if before is not None and before != self.place:
                self.select(before)
        self.panes.enter_list()
        self.refresh_bars()

    def action_match(self, by: int) -> None:
        """To the next line that matches: on this page, then on the page of the next turn in the list."""
        if not self.panes.page.seeking:
            self.panes.page.seek(by)

    def _seek_from_edge(self, by: int) -> None:
        """Look for a match from the edge of the page, once it is there."""
        if self.loader.busy:
            self.search.seek_when_ready = by
        elif self.view in PAGES:
            self.call_later(self.panes.page.seek, by, edge=True)

    def _seek_on_new_page(self, place: int) -> None:
        if self.search.seek_when_ready and place == self.place:
            self.call_later(self.panes.page.seek, self.search.seek_when_ready, edge=True)
            self.search.seek_when_ready = 0

    def on_page_view_matched(self, message: PageView.Matched) -> None:
        self.search.matched(message.number, message.of)
        self.refresh_bars()

    def on_page_view_unmatched(self, message: PageView.Unmatched) -> None:
        if message.edge:
            self.search.not_on_page(self.view)
            self.refresh_bars()
            return
        place = turn_beside(self.place, self.panes.turns.places, message.by)
        if place is not None and self.view in OF_A_TURN:
            self.select(place)
            self._seek_from_edge(message.by)
        else:
            self.say(f"no match {'after' if message.by > 0 else 'before'} this one", "dim")

    # Playback.

    def action_play(self) -> None:
        """Play from here, or stop."""
        if self.playback.turn is not None:
            self._stop()
            self._request_page(top=True)
            self.refresh_bars()
        elif self.place is not None:
            if not self.playback.start(self.place):
                self.say("there is no turn to play from here", "dim")
                return
            self.navigation.view = "turn"
            self._show_view()
            self.show_played()

    def on_playback_advanced(self, message: PlaybackAdvanced) -> None:
        if message.turn is self.playback.turn and message.redraw:
            self.show_played()
        self.refresh_bars()

    def on_playback_ended(self, message: PlaybackEnded) -> None:
        self._stop()
        self._request_page(top=True)
        self.say("played to the end", "dim")

    def show_played(self) -> None:
        """Show as much of the played turn as has arrived."""
        turn = self.playback.turn
        if turn is None:
            return
        if self.panes.turns.playing != turn.place:
            self.navigation.place = turn.place
            self.panes.turns.play(turn.place)
        self.loader.played(turn, max(16, self.panes.page.room))

    def _stop(self) -> None:
        self.playback.stop()
        if self.panes.turns.playing is not None:
            self.panes.turns.play(None)

    def action_speed(self, by: int) -> None:
        speed = self.playback.faster(by)
        if self.playback.turn is None:
            self.say(speed, "dim")
        self.refresh_bars()
