"""The actions of the viewer without a terminal: the state and the bars are real, the widgets note what is asked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conversations import chat, loop, said, user
from textual.message import Message

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.ledger import Ledger
from turntape.inspector.run.row import Row
from turntape.inspector.run.rows import Rows
from turntape.inspector.run.run_index import Run
from turntape.inspector.run.strip import Strip, strip_of
from turntape.inspector.views.tui.actions.bars import Bars
from turntape.inspector.views.tui.actions.jumps import Jumps
from turntape.inspector.views.tui.actions.pane_actions import PaneActions
from turntape.inspector.views.tui.actions.playback_actions import PlaybackActions
from turntape.inspector.views.tui.actions.row_updates import RowUpdates
from turntape.inspector.views.tui.actions.search_actions import SearchActions
from turntape.inspector.views.tui.actions.selection import Selection
from turntape.inspector.views.tui.actions.state import ScreenState
from turntape.inspector.views.tui.controllers.follow import Follow
from turntape.inspector.views.tui.controllers.navigation import Navigation
from turntape.inspector.views.tui.controllers.playback import Playback
from turntape.inspector.views.tui.controllers.search import Search
from turntape.inspector.views.tui.controllers.sent_searcher import SentSearcher
from turntape.inspector.views.tui.pages.blocks import Spans
from turntape.inspector.views.tui.theme import PALETTES
from turntape.inspector.views.tui.widgets.header_footer import KeyHint

type Call = tuple[Any, ...]
"""The name of a method and its arguments."""


class Turns:
    """The list of turns."""

    def __init__(self, calls: list[Call]) -> None:
        self._calls = calls
        self.places: list[int] = []
        self.folded: list[int] = []
        """The places of rows in folded threads."""
        self.playing: int | None = None
        self.on_turn = True
        self.below: int | None = None
        """What `beside` answers."""

    def show(self, rows: Rows, keep: Callable[[Row], bool] | None, place: int | None) -> None:
        self.places = [at for at, row in enumerate(rows.all) if keep is None or keep(row)]
        self._calls.append(("list", tuple(self.places), place))

    def point_to(self, place: int) -> None:
        self._calls.append(("point", place))

    def play(self, place: int | None, share: float = 1.0) -> None:
        if place == self.playing:
            return
        self.playing = place
        self._calls.append(("mark", place))

    def in_fold(self, place: int) -> bool:
        return place in self.folded

    def fold(self, thread: str, place: int | None, *, opened: bool) -> None:
        self._calls.append(("fold", thread, place, opened))

    def mark(self, place: int | None) -> None:
        self._calls.append(("marked", place))

    def sort(self, place: int | None) -> str:
        self._calls.append(("sort", place))
        return "by cost"

    def beside(self, by: int) -> int | None:
        self._calls.append(("beside", by))
        return self.below


class PagePane:
    """The page."""

    def __init__(self, calls: list[Call]) -> None:
        self._calls = calls
        self.room, self.seeking, self.at_end = 80, False, False
        self.needle: tuple[str, ...] = ()

    def show(self, page: Any, anchor: str = "", *, top: bool = False, end: bool = False) -> None:
        self._calls.append(("page shown", page, anchor, top, end))

    def hand_over(self) -> None:
        self._calls.append(("handed over",))

    def seek(self, by: int, *, edge: bool = False) -> None:
        self._calls.append(("seek", by, edge))

    def refresh(self) -> None:
        self._calls.append(("page refreshed",))


class GrowthStripPane:
    """The growth strip."""

    def __init__(self, calls: list[Call]) -> None:
        self._calls = calls
        self.unit, self.strip = "dollars", strip_of([])
        self.place: int | None = None

    @property
    def blank(self) -> bool:
        return not self.strip.lanes

    def show(self, strip: Strip, place: int | None) -> None:
        self.strip = strip
        self._calls.append(("strip", strip.turns, place))

    def point_to(self, place: int | None) -> None:
        self.place = place

    def play(self, playing: int | None, share: float = 1.0) -> None:
        self._calls.append(("strip plays", playing, share))

    def toggle(self, unit: str) -> None:
        self.unit = unit


class Tabs:
    def __init__(self) -> None:
        self.shown: tuple[str, int, bool] | None = None

    def show_views(self, view: str, findings: int, *, output: bool, tools: bool, marked: bool = False) -> None:
        self.shown = (view, findings, output)


class Panes:
    """Both panes."""

    def __init__(self, calls: list[Call]) -> None:
        self._calls = calls
        self.turns, self.page, self.tabs = Turns(calls), PagePane(calls), Tabs()
        self.strip = GrowthStripPane(calls)
        self.in_list, self.list_only = True, False

    @property
    def hints(self) -> tuple[KeyHint, ...]:
        first = ("↵", "open", "open") if self.in_list else ("Esc", "list", "out")
        return (first, ("n", "finding", "next(1)"), ("q", "quit", "app.quit"))

    def show_view(self, view: str) -> None:
        self._calls.append(("view", view))

    def show_page(self) -> None:
        self._calls.append(("page pane",))

    def enter_page(self, view: str) -> None:
        self.in_list = False
        self._calls.append(("enter page", view))

    def enter_list(self) -> None:
        self.in_list = True
        self._calls.append(("enter list",))

    def share_room(self) -> None: ...


class Box:
    """The search box."""

    hints = (("↵", "keep", ""),)

    def __init__(self) -> None:
        self.opened = self.has_focus = False
        self.value = ""

    def start(self, text: str) -> None:
        self.opened = self.has_focus = True
        self.value = text

    def end(self) -> None:
        self.opened = self.has_focus = False


class Loader:
    """Notes what is requested."""

    def __init__(self, calls: list[Call]) -> None:
        self._calls = calls
        self.busy = False

    def page(self, view: str, place: int, width: int, anchor: str = "", *, top: bool = False) -> None:
        self._calls.append(("request", view, place, width, anchor, top))

    def growth(self, rows: Sequence[Row], ledger: Ledger | None, *, final: bool) -> None:
        self._calls.append(("request growth", len(rows), ledger, final))

    def moving(self) -> None:
        self._calls.append(("moving",))

    def compared(self, marked: int | None, place: int, width: int, anchor: str = "", *, top: bool = False) -> None:
        self._calls.append(("request compared", marked, place, top))

    def costs(self, order: str, place: int, width: int, anchor: str = "", *, top: bool = False) -> None:
        self._calls.append(("request costs", order, place, width, anchor, top))

    def output(self, path: Path, place: int, width: int) -> None:
        self._calls.append(("request output", path, place, width))

    def played(self, turn: Any, width: int) -> None:
        self._calls.append(("request played", turn.place, width))


class Paint:
    """Notes when drawing is held back and released."""

    def __init__(self, calls: list[Call]) -> None:
        self._calls = calls

    def hold(self) -> None:
        self._calls.append(("hold",))

    def release(self) -> None:
        self._calls.append(("release",))


class Timer:
    """A timer that a test fires by hand."""

    def __init__(self) -> None:
        self.running = False

    def every(self, interval: float, call: Callable[[], None]) -> "Timer":
        self.running = True
        return self

    def stop(self) -> None:
        self.running = False


@dataclass
class Parts:
    """The actions of one screen, and what they did."""

    state: ScreenState
    calls: list[Call] = field(default_factory=list[Call])
    posted: list[Message] = field(default_factory=list[Message])
    waiting: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    """What is to be called later."""
    delays: list[float] = field(default_factory=list[float])
    pauses: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    """What is to be called when nothing more was typed."""

    def __post_init__(self) -> None:
        self.panes, self.box, self.loader = Panes(self.calls), Box(), Loader(self.calls)
        # The actions ask for no more of the widgets than these have.
        panes: Any = self.panes
        box: Any = self.box
        loader: Any = self.loader
        paint: Any = Paint(self.calls)
        self.bars = bars = Bars(self.state, panes, box)
        self.selection = selection = Selection(self.state, loader, panes, bars, paint)
        self.playing = PlaybackActions(self.state, loader, selection, panes, bars)
        self.searching = SearchActions(
            self.state, loader, selection, panes, box, bars, self.waiting.append, self._pause
        )
        self.moving = PaneActions(self.state, selection, self.playing, self.searching, panes, bars)
        self.jumps = Jumps(self.state, selection, self.playing, panes, bars)
        self.updates = RowUpdates(self.state, loader, selection, panes, bars, self._later)
        self.panes.turns.places = list(range(len(self.state.run.rows.all)))

    def _later(self, seconds: float, call: Callable[[], None]) -> None:
        self.delays.append(seconds)
        self.waiting.append(call)

    def _pause(self, seconds: float, call: Callable[[], None]) -> None:
        self.pauses.append(call)

    def did(self, name: str) -> list[Call]:
        """The arguments of all calls of that name, since this was asked last."""
        found = [call[1:] for call in self.calls if call[0] == name]
        self.calls[:] = [call for call in self.calls if call[0] != name]
        return found

    def select(self, place: int) -> None:
        """Select a round trip, and forget the calls."""
        self.selection.select(place)
        self.calls.clear()

    @property
    def notice(self) -> str:
        """The notice in the status line."""
        return shown(self.bars._notice)

    @property
    def status(self) -> str:
        """The whole status line."""
        return shown(self.bars.status._make(80)) if self.bars.status.has_class("shown") else ""


def shown(spans: Spans) -> str:
    """The text of a line, all looks of which the themes know."""
    assert all(look in palette.looks for palette in PALETTES.values() for _, look in spans)
    return "".join(text for text, _ in spans)


def trips() -> list[RoundTrip]:
    """A thread of two turns, then a thread of one turn whose answer was cut off by the cap."""
    call = ("call_2", "look_up", '{"word":"reel"')
    return [*loop(), chat([user("other")], said(None, call), index=2, finish="length")]


def parts(
    given: list[RoundTrip] | None = None,
    *,
    live: bool = False,
    turn: int | None = None,
    output: Path | None = None,
    reading: bool = False,
    empty: bool = False,
) -> Parts:
    """The actions over a run in memory; `empty` before any of its rows is read."""
    run = Run.of(trips() if given is None else given)
    if empty:
        run.rows = Rows()
    posted, timer = list[Message](), Timer()
    everything = SentSearcher(run, posted.append, lambda call: call())
    search = Search(everything)
    state = ScreenState(
        run=run,
        search=search,
        navigation=Navigation(run.rows, search.visible, turn),
        follow=Follow(run.rows, live=live),
        playback=Playback(run.rows, search.visible, posted.append, timer.every, lambda: 0.0),
        output=output,
        reading=reading,
    )
    made = Parts(state, posted=posted)
    if not empty:
        made.select(0)
    return made
