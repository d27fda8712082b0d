"""The viewer: a run, turn by turn, in the terminal.

The screen's thread only draws. One thread reads the file and hands rows over, another makes the page that is
looked at; whatever they send is a finished value.
"""

import asyncio
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import ClassVar, Literal, override

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Input

from ..filters import Filter, parse
from ..growth import Step, steps
from ..run import Row, Run, totals
from .bars import Bar, Keys
from .commands import COMMANDS
from .desk import Desk, Feeder, Wish
from .dialogs import Menu, PageScreen
from .growth_plot import GrowthPlot
from .help_page import help_page
from .jumps import Spot, jump, thread_beside
from .outline import Outline
from .page import Page, Spans
from .page_view import PageView
from .palette import PALETTES, theme_of
from .play_page import play_page
from .player import Playback, Player
from .takeaway import Takeaway
from .takings import COPY_CHOICES, SAVES
from .titles import OUTPUT, VIEWS, State, first_trouble, keys_for, title
from .turn_list import TurnList, heading
from .views import PAGES, output
from .words import several

REFRESH = 0.12
"""At most this often, in seconds, a run that is being read is drawn anew."""
TICK = 0.05
"""How often a turn that is played is drawn, in seconds."""
OUTPUT_SEEN = 0.5
"""How often what the command writes is looked at, in seconds."""
SWITCH = 0.0005
"""How long a thread that reads may keep the one that draws waiting, in seconds."""
SIDE_BY_SIDE = 140
"""From this width on the list stands beside the page."""


class Viewer(App[None]):
    """`Viewer(run).run()`; with `live` the file is followed while it is being written."""

    TITLE = "turntape"
    CSS_PATH = Path(__file__).with_name("viewer.tcss")
    ENABLE_COMMAND_PALETTE = True
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "quit", show=False),
        Binding("question_mark,f1", "help", "help", show=False),
        Binding("slash", "search", "search", show=False),
        Binding("escape", "out", "back", show=False),
        Binding("h,left", "left", "back", show=False),
        Binding("l,right", "open", "open", show=False),
        Binding("tab", "other", "other pane", show=False, priority=True),
        *(Binding(key, f"view('{name}')", word, show=False) for key, word, name in (*VIEWS, OUTPUT)),
        Binding("n", "jump('finding', 1)", "next finding", show=False),
        Binding("N", "jump('finding', -1)", "previous finding", show=False),
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

    class Rows_(Message):
        """More rows were read."""

        def __init__(self, rows: list[Row]) -> None:
            super().__init__()
            self.rows = rows

    class Ended(Message):
        """The file was read to its end, or could not be; `over` when no more will come."""

        def __init__(self, problem: str | None, over: bool) -> None:
            super().__init__()
            self.problem = problem
            self.over = over

    class Made(Message):
        """What was asked of the desk."""

        def __init__(self, wish: Wish, made: object) -> None:
            super().__init__()
            self.wish = wish
            self.made = made

    def __init__(
        self,
        run: Run,
        *,
        live: bool = False,
        goes_on: Callable[[], bool] = lambda: True,
        output: Path | None = None,
        theme: str = "dark",
        turn: int | None = None,
        folder: Path | None = None,
        traceback: bool = False,
    ) -> None:
        super().__init__()
        self._traceback = traceback
        self.run_ = run
        self.live = live
        """True while the file may grow."""
        self.output = output
        """What the command that is recorded writes."""
        self.following = live
        self.place: int | None = None
        """Where the run is looked at."""
        self.view = "turn"
        self.filter = Filter("", ())
        self.list_folds: dict[str, bool] = {}
        self.player = Player(run.rows, lambda row: self.filter(row))
        self._palette = PALETTES[theme]
        self._turn = turn
        self._anchor = ""
        self._said: Spans = ()
        self._reading = True
        self._page_focus = False
        """True while the page was gone into, so that it has the more room."""
        self._zoomed: Literal["list", "page"] | None = None
        self._side: bool | None = None
        self._stale = False
        self._drawn = 0.0
        self._before_growth = 0
        self._behind = 0
        self._ticks: Timer | None = None
        self._ticked = 0.0
        self._top, self._told = Bar(self._title, id="title"), Bar(self._status, id="status")
        self._tabs, self._keys = Keys(id="tabs"), Keys(id="keys")
        self._list, self._page, self._plot = TurnList(id="turns"), PageView(id="page"), GrowthPlot(id="growth")
        self._body, self._left, self._right = Container(id="body"), Vertical(id="left"), Vertical(id="right")
        hint = "words, tool:name, layer:client, is:error, cost:>0.05 … ? explains"
        self._search = Input(placeholder=hint, id="search")
        self._takeaway = Takeaway(self, run, folder or Path(), self.say)
        self._desk = Desk(lambda wish, made: self._send(self.Made(wish, made)))
        self._feeder = Feeder(
            run,
            goes_on if live else None,
            lambda rows: self._send(self.Rows_(rows)),
            lambda problem, over: self._send(self.Ended(problem, over)),
        )
        for palette in PALETTES.values():
            self.register_theme(theme_of(palette))

    @property
    def settled(self) -> bool:
        """True when all that was asked for has come, for whoever looks at the screen by a program."""
        return not (self._reading or self._stale or self._desk.busy)

    # What stands on the screen.

    @override
    def compose(self) -> ComposeResult:
        yield self._top
        with self._body:
            with self._left:
                yield Bar(heading, id="heading")
                yield self._list
            with self._right:
                yield self._tabs
                yield self._page
                yield self._plot
        yield self._told
        yield self._search
        yield self._keys

    def on_mount(self) -> None:
        self.theme = self._palette.name
        self._use_palette()
        self._list.focus()
        self._show_view()
        # The threads that read take turns with the one that draws; it must not wait long for its own.
        sys.setswitchinterval(SWITCH)
        if self.output is not None:
            self.set_interval(OUTPUT_SEEN, lambda: self.view == OUTPUT[2] and self._wish(keep=True))
        self._desk.start()
        self._feeder.start()

        if not self.is_headless:
            # The terminal is put right before the end, whoever asks for it.
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGHUP):
                loop.add_signal_handler(number, self.exit)

    def on_unmount(self) -> None:
        self._feeder.stop()
        self._desk.stop()

    @override
    def _fatal_error(self) -> None:
        """One line instead of a traceback, unless that was asked for."""
        if self._traceback or self.is_headless:
            super()._fatal_error()
            return
        error = sys.exception()
        told = f"internal error, {type(error).__name__}: {error}; `turntape --debug view …` shows where"
        self.panic(Text(f"turntape: {told}"))

    def _send(self, message: Message) -> None:
        """From the other threads; the screen may be gone already."""
        if self.is_running:
            self.post_message(message)

    def _title(self, width: int) -> Spans:
        state = State(self.run_.path.name, self._reading, self.live, self.following, self._behind)
        return title(state, self._totals, self._trouble, width)

    def _sum_up(self) -> None:
        """What the title says of all rows; they may be many."""
        rows = self.run_.rows
        self._totals = totals(rows.all)
        place = first_trouble(rows)
        row = rows.all[place] if place is not None else None
        many = len(rows.threads) > 1
        self._trouble = f"turn {row.turn}" + (f" of {row.thread}" if many else "") if row is not None else ""

    _totals = totals(())
    _trouble = ""

    def _status(self, width: int) -> Spans:
        playing = self.player.on
        if playing is not None:
            return playing.told(self.run_.rows.all[playing.place], width)
        if self._said:
            return self._said
        if self.filter:
            shown, whole = len(self._list.outline.places), len(self.run_.rows.all)
            told: list[tuple[str, str]] = [
                (" filter ", "accent"),
                (f"{self.filter.text}  ", "bold"),
                (f"{shown:,} of {several(whole, 'round trip')}", "plain" if shown else "warn"),
                ("   Esc shows all", "dim"),
            ]
            return [*told, (f"   {self.filter.problem}", "warn")] if self.filter.problem else told
        if self.following and self._behind:
            return [(f" {several(self._behind, 'newer turn')} below  ", "accent"), ("G goes there", "dim")]
        return ()

    def _use_palette(self) -> None:
        for widget in self.query("Bar, Keys, TurnList, PageView, GrowthPlot"):
            widget.use(self._palette)  # type: ignore[attr-defined]

    def _bars(self) -> None:
        """Draw the bars anew."""
        self._top.refresh()
        self._told.set_class(bool(self._status(80)) and not self._search.has_class("shown"), "shown")
        self._told.refresh()
        errors = self._totals.errors + self._totals.warnings
        tabs = [
            (key, f"{word} {errors}" if name == "findings" and errors else word, f"view('{name}')")
            for key, word, name in (VIEWS if self.output is None else (*VIEWS, OUTPUT))
        ]
        self._tabs.show(tabs, f"view('{self.view}')")
        self._keys.show(keys_for(self._pane()))

    def _pane(self) -> str:
        panes = {"list": self._list, "growth": self._plot, "search": self._search}
        return next((name for name, pane in panes.items() if pane.has_focus), "page")

    def say(self, text: str, look: str = "plain") -> None:
        """A line that stays until the next key."""
        self._said = [(f" {text}", look)]
        self._bars()

    def on_resize(self, event: events.Resize) -> None:
        self._arrange(event.size.width, event.size.height)

    def on_descendant_focus(self) -> None:
        self._bars()

    def on_key(self, event: events.Key) -> None:
        del event
        if self._said:
            self._said = ()
            self._bars()

    def _arrange(self, width: int = 0, height: int = 0) -> None:
        """Share the room out between list and page."""
        width, height = width or self.size.width, height or self.size.height
        body, left = self._body, self._left
        side = self._side if self._side is not None else width >= SIDE_BY_SIDE
        body.set_class(side, "side")
        body.set_class(self._zoomed == "list", "list-only")
        body.set_class(self._zoomed == "page", "page-only")
        if side or self._zoomed == "list":
            left.styles.height = "1fr"
        else:
            most = round((height - 3) * (0.2 if self._page_focus else 0.4))
            left.styles.height = max(4, min(most, len(self._list.outline) + 1))

    # Rows come in.

    def on_viewer_rows_(self, message: Rows_) -> None:
        rows = self.run_.rows
        change = rows.put(message.rows)
        if self.place is None and rows.all:
            self._sum_up()
            self._begin()
            return
        self._stale = True
        if self.place is not None and self._touched(change.first, change.again):
            self._wish(keep=True)
        if time.monotonic() - self._drawn > REFRESH:
            self._redraw()
        else:
            self.set_timer(REFRESH, self._redraw)

    def _touched(self, first: int, again: Sequence[int]) -> bool:
        """True when what came changes the page that is shown."""
        if self.player.on is not None or self.place is None:
            return False
        if self.view in ("growth", "findings"):
            return True
        after = self.run_.rows.after(self.place)
        return self.place in again or (after is not None and after >= first)

    def _begin(self) -> None:
        """The first rows are there; while following, the last of them is looked at."""
        rows = self.run_.rows
        thread = rows.all[0].thread
        self._refresh_list()
        self.select(rows.threads[thread][-1] if self.following and thread is not None else 0)

    def _redraw(self) -> None:
        if not self._stale:
            return
        self._stale = False
        self._drawn = time.monotonic()
        tail = self._at_tail()
        self._sum_up()
        self._refresh_list()
        if self._turn is not None:
            self._go_to_turn()
        elif self.following and tail is not None and tail != self.place and self.player.on is None:
            self.select(tail)
        elif self.following:
            self._behind = sum(place > (self.place or 0) for place in self._list.outline.places)
        self._bars()

    def _at_tail(self) -> int | None:
        """Where to go while following: the last turn of the thread that is looked at, if its last known one was.

        A subagent that begins meanwhile does not take the cursor away.
        """
        rows, place = self.run_.rows, self.place
        if place is None or rows.all[place].thread is None:
            return None
        line = self._list.at(self._list.cursor)
        if line is None or line.thread is not None or place != self._tail:
            return None
        return rows.threads[rows.all[place].thread or ""][-1]

    _tail: int | None = None
    """The last turn of the thread that was looked at, when it was last looked at."""

    def _go_to_turn(self) -> None:
        """To the turn that the command line asked for, once it is there."""
        place = next((p for p, row in enumerate(self.run_.rows.all) if row.turn == self._turn), None)
        if place is not None:
            self._turn = None
            self.select(place)
        elif not self._reading:
            self.say(f"there is no turn {self._turn} in this run", "warn")
            self._turn = None

    def on_viewer_ended(self, message: Ended) -> None:
        self._reading = False
        self._stale = True
        if self.live and message.over:
            self.live = self.following = False
            what, then = ("command", "; q leaves and shows what it wrote") if self.output else ("recording", "")
            nothing = "" if self.run_.rows.all else ", and nothing was recorded"
            self.say(f"the {what} has ended{nothing}{then}", "accent")
        self._redraw()
        if message.problem is not None:
            self.say(message.problem, "bad")
        elif problems := self.run_.problems:
            self.say(f"{problems[0]}{f' (and {len(problems) - 1} more)' if len(problems) > 1 else ''}", "warn")
        if not self.run_.rows.all and not self.live and not self._said:
            self.say("nothing was recorded in this file", "warn")

    def _refresh_list(self) -> None:
        keep = self.filter if self.filter else None
        self._list.show(self.run_.rows, Outline(self.run_.rows, self.list_folds, keep), self.place)
        self._arrange()

    # What is looked at.

    def shown(self, row: Row) -> bool:
        """Whether the filter lets a row through."""
        return self.filter(row)

    def select(self, place: int, anchor: str = "", view: str | None = None, *, listed: bool = False) -> None:
        """Look at a round trip, and at a part of it; `listed` when the list's cursor stands where it should."""
        rows = self.run_.rows
        moved = place != self.place
        self.place, self._anchor = place, anchor
        thread = rows.all[place].thread
        self._tail = rows.threads[thread][-1] if thread is not None else None
        if not listed:
            self._list.stand_on(place)
        if self.following:
            self._behind = sum(own > place for own in self._list.outline.places)
        if view is not None and view != self.view:
            self.view = view
            self._show_view()
        self._wish(anchor=anchor, keep=not moved)
        self._bars()

    def _wish(self, anchor: str = "", keep: bool = False) -> None:
        """Ask the desk for the page of what is looked at."""
        if self.place is None:
            return
        run, place, view, width = self.run_, self.place, self.view, max(16, self._page.room)
        if view == "growth":
            known = len(run.rows.all)
            if self._plot.steps and known == self._before_growth and not self._stale:
                self._plot.show(self._plot.steps, place)
                return
            self._before_growth = known
            self._desk.wish(Wish(place, view, width, lambda: tuple(steps(enumerate(list(run.rows.all))))))
            return
        if view == "output" and (written := self.output) is not None:
            self._desk.wish(Wish(place, view, width, lambda: output(written)))
            return
        make = PAGES[view]
        beside = run.rows.after(place)
        ahead = None if beside is None else lambda: run.detail(beside)
        self._desk.wish(Wish(place, view, width, lambda: make(run, place), anchor, not keep), ahead)

    def on_viewer_made(self, message: Made) -> None:
        wish, made = message.wish, message.made
        if wish.view == "play":
            if self.player.on is not None and isinstance(made, Page):
                self._page.show(made, end=True)
            return
        if wish.view != self.view or (wish.place != self.place and wish.view != "findings"):
            return
        if isinstance(made, Page):
            self._page.needle = self.filter.words
            end = wish.view == "output" and self._page.at_end
            self._page.show(made, wish.anchor, top=wish.top, end=end)
        elif isinstance(made, tuple):
            found: tuple[Step, ...] = made  # pyright: ignore[reportUnknownVariableType]
            self._plot.show(found, wish.place)
        else:
            self.say(str(made), "bad")

    def _show_view(self) -> None:
        self._right.set_class(self.view == "growth", "plot")
        self._bars()

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

    # Keys.

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

    def action_zoom(self) -> None:
        self._zoomed = None if self._zoomed else "list" if self._list.has_focus else "page"
        self._arrange()

    def action_side(self) -> None:
        self._side = not self._body.has_class("side")
        self._arrange()

    def action_follow(self) -> None:
        if not self.live:
            self.say(
                "this recording is over: there is nothing to follow (turntape view --follow waits for more)", "dim"
            )
            return
        self.following = not self.following
        self._behind = 0
        if self.following and self.place is not None and (thread := self.run_.rows.all[self.place].thread) is not None:
            self.select(self.run_.rows.threads[thread][-1])
        self._bars()

    def action_help(self) -> None:
        self.push_screen(PageScreen("turntape view", help_page(), self._palette))

    def action_next_theme(self) -> None:
        names = list(PALETTES)
        self.use_theme(names[(names.index(self._palette.name) + 1) % len(names)])

    def use_theme(self, name: str) -> None:
        """Take one of the themes by its name."""
        self._palette = PALETTES[name]
        self.theme = name
        self._use_palette()
        self.say(f"theme {name}", "dim")

    @override
    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        del screen
        for word, told, action in COMMANDS:
            yield SystemCommand(word, told, lambda action=action: self.call_later(self.run_action, action))
        for name in PALETTES:
            yield SystemCommand(f"Theme: {name}", "how it looks", lambda name=name: self.use_theme(name))

    # Search.

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

    # Playing.

    def action_play(self) -> None:
        """Play from here, or stop."""
        if self.player.on is not None:
            self._stop()
            self._wish()
            self._bars()
        elif self.place is not None:
            if not self.player.start(self.place):
                self.say("there is no turn to play from here on", "dim")
                return
            self.view = "turn"
            self._show_view()
            self._ticked = time.monotonic()
            self._ticks = self.set_interval(TICK, self._tick)
            self._next_played()

    def _next_played(self) -> None:
        playing = self.player.on
        if playing is not None:
            self.place = self._list.playing = playing.place
            self._list.stand_on(playing.place)
            self._list.refresh()
            self._show_played(playing)

    def _tick(self) -> None:
        now = time.monotonic()
        passed, self._ticked = now - self._ticked, now
        what = self.player.tick(passed)
        if what == "next":
            self._next_played()
        elif what == "more" and self.player.on is not None:
            self._show_played(self.player.on)
        elif what == "end":
            self._stop()
            self._wish()
            self.say("played to the end", "dim")
        self._bars()

    def _show_played(self, playing: Playback) -> None:
        run, place, at = self.run_, playing.place, playing.at
        room = max(16, self._page.room)
        self._desk.wish(Wish(place, "play", room, lambda: play_page(run.detail(place), run.rows, place, at)))

    def _stop(self) -> None:
        if self._ticks is not None:
            self._ticks.stop()
            self._ticks = None
        if self.player.on is not None or self._list.playing is not None:
            self.player.stop()
            self._list.playing = None
            self._list.refresh()

    def action_speed(self, by: int) -> None:
        told = self.player.faster(by)
        if self.player.on is None:
            self.say(told, "dim")
        self._bars()

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
