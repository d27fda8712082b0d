"""The screen of a run: mounts the panes and bars, and hands keys and messages to the actions."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import ClassVar, cast, override

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input

from ...run.run_index import Run
from .actions.bars import Bars
from .actions.jumps import Jumps
from .actions.pane_actions import PaneActions
from .actions.playback_actions import PlaybackActions
from .actions.row_updates import RowUpdates
from .actions.search_actions import SearchActions
from .actions.selection import Selection
from .actions.state import ScreenState
from .controllers.follow import Follow
from .controllers.loader import Loader
from .controllers.messages import (
    FirstRowRead,
    GrowthReady,
    LedgerReady,
    Notice,
    PageFailed,
    PageReady,
    PlaybackAdvanced,
    PlaybackEnded,
    ReadingEnded,
    RowsRead,
    SentSearched,
)
from .controllers.navigation import Navigation
from .controllers.one_paint import OnePaint
from .controllers.playback import Playback
from .controllers.search import Search
from .controllers.sent_searcher import SentSearcher
from .theme import Palette
from .widgets.growth_strip import GrowthStrip
from .widgets.page_view import PageView
from .widgets.panes import Panes
from .widgets.search_box import SearchBox
from .widgets.tabs import OF_THE_RUN, OUTPUT, TOOLS, VIEWS
from .widgets.turn_list import TurnList

VIEW_KEYS = (*VIEWS, TOOLS, OUTPUT, *OF_THE_RUN)
"""The views that have a key."""
OUTPUT_REFRESH = 0.5
"""How often the output of the command is read while it is shown, in seconds."""


class RunScreen(Screen[None]):
    """Shows a run. `selection.select` goes to a round trip; the keys below call the actions."""

    class Left(Message):
        """Escape was pressed with nothing open that it could close."""

    class Ready(Message):
        """There is a turn for the keys, or there will be none."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # Handled before the widget with the focus gets it, so that the keys behind it go to the search: `/tape`.
        Binding("slash", "search", "search", show=False, priority=True),
        Binding("exclamation_mark", "errors", "errors only", show=False),
        Binding("escape,h,left", "out", "back", show=False),
        Binding("tab", "other", "other pane", show=False, priority=True),
        *(Binding(key, f"view('{name}')", word, show=False) for key, word, name in VIEW_KEYS),
        Binding("m", "mark", "mark", show=False),
        Binding("s", "sort", "sort", show=False),
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
        Binding("space", "pause", "pause", show=False, priority=True),
        Binding("left", "seek(-1)", "back in playback", show=False, priority=True),
        Binding("right", "seek(1)", "on in playback", show=False, priority=True),
        Binding("plus,equals_sign", "speed(1)", "faster", show=False),
        Binding("minus", "speed(-1)", "slower", show=False),
        Binding("f", "follow", "follow", show=False),
        Binding("dollar_sign", "unit", "dollars or tokens", show=False),
    ]

    def __init__(
        self, run: Run, loader: Loader, palette: Palette, live: bool, output: Path | None, turn: int | None
    ) -> None:
        super().__init__()
        self._everything = SentSearcher(run, self.post_message)
        search = Search(self._everything)
        self.state = state = ScreenState(
            run=run,
            search=search,
            navigation=Navigation(run.rows, search.visible, turn),
            follow=Follow(run.rows, live=live),
            playback=Playback(run.rows, search.visible, self.post_message, self.set_interval),
            output=output,
        )
        self._loader, self._palette = loader, palette
        self.panes, self._search_box = Panes(id="body"), SearchBox(id="search")
        self.bars = bars = Bars(state, self.panes, self._search_box)
        paint = OnePaint(self._batch, self.check_idle)
        self.selection = selection = Selection(state, loader, self.panes, bars, paint)
        self._updates = RowUpdates(state, loader, selection, self.panes, bars, self.set_timer)
        self.playing = PlaybackActions(state, loader, selection, self.panes, bars)
        self._searching = SearchActions(
            state, loader, selection, self.panes, self._search_box, bars, self.call_later, self.set_timer
        )
        self._moving = PaneActions(state, selection, self.playing, self._searching, self.panes, bars)
        self._jumps = Jumps(state, selection, self.playing, self.panes, bars)

    @override
    def compose(self) -> ComposeResult:
        yield self.bars.title
        yield self.panes.strip
        yield self.panes
        yield self.bars.status
        yield self._search_box
        yield self.bars.keys

    def _batch(self) -> AbstractContextManager[None]:
        return cast(App[None], self.app).batch_update()  # pyright: ignore[reportUnknownMemberType]

    def on_mount(self) -> None:
        self.use(self._palette)
        self.panes.turns.focus()
        self.selection.show_view(self.state.view)
        if self.state.output is not None:
            self.set_interval(OUTPUT_REFRESH, self.selection.refresh_output)

    def use(self, palette: Palette) -> None:
        """Draw in the looks of another theme."""
        self.bars.use(palette)
        self.panes.use(palette)

    @property
    def place(self) -> int | None:
        """The selected round trip; None until the first one is read."""
        return self.state.place

    @property
    def view(self) -> str:
        """The name of the view that is shown."""
        return self.state.view

    @property
    def settled(self) -> bool:
        """True when everything that was requested is shown, for programs that read the screen."""
        waiting = self.state.reading or self._updates.stale or self._updates.summing or self._loader.busy
        return not (waiting or self.panes.page.seeking or self._everything.busy)

    @property
    def ready(self) -> bool:
        """False until there is a turn and the one after it, or the file was read and has none."""
        return (self.state.place is not None and not self.state.alone) or not self.state.reading

    # Messages of the terminal.

    def on_unmount(self) -> None:
        self._everything.stop()

    def on_resize(self, event: events.Resize) -> None:
        self.panes.resized(event.size.width, event.size.height)

    def on_descendant_focus(self) -> None:
        self.bars.refresh()

    def on_key(self) -> None:
        self.bars.forget_notice()
        self._updates.user_acted()

    # Messages of the controllers.

    def on_first_row_read(self, message: FirstRowRead) -> None:
        self._updates.first_read(message)

    def on_rows_read(self, message: RowsRead) -> None:
        was_ready = self.ready
        self._updates.rows_read(message)
        self._searching.look_again()
        self._say_ready(was_ready)

    def on_reading_ended(self, message: ReadingEnded) -> None:
        was_ready = self.ready
        self._updates.reading_ended(message)
        self._say_ready(was_ready)

    def _say_ready(self, was_ready: bool) -> None:
        if self.ready and not was_ready:
            self.post_message(self.Ready())

    def on_ledger_ready(self, message: LedgerReady) -> None:
        self._updates.ledger_ready(message)
        self._searching.look_again()

    def on_growth_ready(self, message: GrowthReady) -> None:
        self._updates.growth_ready(message)

    def on_sent_searched(self, message: SentSearched) -> None:
        self._searching.searched(ended=message.ended)

    def on_page_ready(self, message: PageReady) -> None:
        if self.selection.page_ready(message):
            self._searching.page_shown(message.request.place)
        self.call_after_refresh(self._loader.page_shown)

    def on_page_failed(self, message: PageFailed) -> None:
        self.selection.page_failed(message)
        self.call_after_refresh(self._loader.page_shown)

    def on_playback_advanced(self, message: PlaybackAdvanced) -> None:
        self.playing.advanced(message)

    def on_playback_ended(self, message: PlaybackEnded) -> None:
        del message
        self.playing.ended()

    def on_notice(self, message: Notice) -> None:
        self.bars.say(message.text, message.look)

    # Messages of the widgets.

    def on_turn_list_passed(self) -> None:
        self._jumps.pass_end()

    def on_turn_list_selected(self, message: TurnList.Selected) -> None:
        self._moving.turn_selected(message.place)

    def on_turn_list_entered(self) -> None:
        self._moving.enter_page()

    def on_growth_strip_emptied(self) -> None:
        self.panes.resized(self.size.width, self.size.height)

    def on_growth_strip_picked(self, message: GrowthStrip.Picked) -> None:
        self._moving.bar_picked(message.place)

    def on_page_view_followed(self, message: PageView.Followed) -> None:
        self._moving.follow_line(message.goto)

    def on_page_view_matched(self, message: PageView.Matched) -> None:
        self._searching.matched(message)

    def on_page_view_unmatched(self, message: PageView.Unmatched) -> None:
        self._searching.unmatched(message)

    def on_input_changed(self, event: Input.Changed) -> None:
        self._searching.typed(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self._searching.submitted(event.value)

    # Keys of the panes.

    def action_open(self) -> None:
        if self.panes.in_list:
            self.panes.turns.action_open()

    def action_fold(self) -> None:
        if self.panes.page.has_focus:
            self.panes.page.action_choose()

    def action_scroll_page(self, by: int) -> None:
        self.panes.page.action_page(by)

    def action_unit(self) -> None:
        self._moving.toggle_unit()

    def action_zoom(self) -> None:
        self.panes.zoom()

    def action_side(self) -> None:
        self.panes.toggle_side()

    def action_out(self) -> None:
        if not self._moving.out():
            self.post_message(self.Left())

    def action_other(self) -> None:
        self._moving.other()

    def action_view(self, name: str) -> None:
        self._moving.view(name)

    def action_open_turn(self) -> None:
        self._moving.view("turn")

    def action_mark(self) -> None:
        self._moving.mark()

    def action_sort(self) -> None:
        self._moving.sort()

    def action_raw(self) -> None:
        self._moving.raw()

    # Keys that go to another turn.

    def action_next(self, by: int) -> None:
        """The next match while words are searched, else the next finding."""
        if self._searching.on_page:
            self.playing.stop()
            self._searching.match(by)
        else:
            self._jumps.jump("finding", by)

    def action_jump(self, what: str, by: int) -> None:
        self._jumps.jump(what, by)

    def action_first(self) -> None:
        """To where the run first went wrong."""
        place = self.state.run.rows.first_trouble()
        if place is not None:
            self._moving.bar_picked(place)

    def action_thread(self, by: int) -> None:
        self._jumps.thread(by)

    def action_step(self, by: int) -> None:
        self._jumps.step(by)

    def action_turn(self, number: int, thread: str | None = None) -> None:
        self._jumps.turn(number, thread)

    def action_follow(self) -> None:
        self._jumps.toggle_follow()

    # Keys of the search and of playback.

    def action_search(self) -> None:
        self._searching.open()

    def action_errors(self) -> None:
        self._searching.errors()

    def action_match(self, by: int) -> None:
        self._searching.match(by)

    def action_play(self) -> None:
        self.playing.toggle()

    def action_pause(self) -> None:
        self.playing.pause()

    def action_seek(self, by: int) -> None:
        self.playing.seek(by)

    @override
    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys of playback have their other meanings while nothing is played; in the search, a slash is a slash."""
        if action == "search":
            return self.focused is not self._search_box
        return action not in ("pause", "seek") or self.state.playback.turn is not None

    def action_speed(self, by: int) -> None:
        self.playing.change_speed(by)
