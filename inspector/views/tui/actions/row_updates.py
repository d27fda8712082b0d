"""Rows as they are read from the file: drawn at a bounded pace, with the cursor following a live run."""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...vocabulary.nothing import NOTHING_RECORDED
from ..controllers.loader import Loader
from ..controllers.messages import FirstRowRead, GrowthReady, LedgerReady, ReadingEnded, RowsRead
from ..controllers.navigation import turn_name
from ..headings import ended_notice, several_problems
from ..pages.blocks import Block
from ..pages.page import Page
from ..pages.text_lines import flowing
from ..widgets.panes import Panes
from .bars import Bars
from .selection import OF_THE_LEDGER, Selection
from .state import OF_THE_RUN, ScreenState

if TYPE_CHECKING:
    from ....ledger import Ledger

PAUSE = 10
"""While a file is read, it is drawn again when all threads together took this many times the processor time that the
screen took since the last drawing: the screen takes a tenth, and the reader the rest, on a busy machine as well."""
REFRESH = 0.12
"""Seconds between two drawings of a run that is being read, at least."""
LONGEST = 2.0
"""Seconds between two drawings at most."""

_NOTHING = Page("empty", [Block("empty", (), flowing([(NOTHING_RECORDED, "warn")]))])
"""The page of a recording without round trips."""


class RowUpdates:
    """Handles `FirstRowRead`, `RowsRead` and `ReadingEnded`. `later` calls a function after a number of seconds."""

    def __init__(
        self,
        state: ScreenState,
        loader: Loader,
        selection: Selection,
        panes: Panes,
        bars: Bars,
        later: Callable[[float, Callable[[], None]], object],
    ) -> None:
        self._state, self._loader, self._selection = state, loader, selection
        self._panes, self._bars, self._later = panes, bars, later
        self.stale = False
        """True when more rows were read than are drawn."""
        self._ledger: Ledger | None = None
        """When the file was read to its end."""
        self.summing = False
        """True from then until the ledger is there: the strip waits for it, because both need the processor."""
        self._drawn = 0.0
        """When rows were drawn last."""
        self._worked = 0.0
        """The processor time of the screen's thread then, before the drawing."""
        self._all_worked = 0.0
        """The processor time of all threads then."""
        self._waiting = False
        """Whether rows will be drawn later."""
        self._opened: int | None = None
        """The place at which the run was opened, until the user does something."""

    def first_read(self, message: FirstRowRead) -> None:
        """Show the first row, while there is nothing else to show."""
        self._state.run.rows.put([message.row])
        self._state.alone = True
        self._draw_list()
        self._select_first(0)

    def rows_read(self, message: RowsRead) -> None:
        """Take more rows; the first ones are drawn at once."""
        state, rows = self._state, self._state.run.rows
        change = rows.put(message.rows)
        was_alone, state.alone = state.alone, state.alone and len(rows.all) == 1
        if state.place is None and rows.all:
            self._draw_list()
            turn = rows.first_of_agent()
            other = next((at for at, row in enumerate(rows.all) if not row.is_tool_wire), None)
            self._select_first(turn if turn is not None else other)
            return
        self.stale = True
        if state.place != self._opened:
            self._opened = None  # the user went on
        if self._opened_on_side_call():
            self._redraw()
            self._select_first(rows.first_of_agent())
            return
        if self._page_changed(change.first, change.again):
            self._selection.request_page()
        if (was_alone and not state.alone) or state.navigation.wanted_steps:
            self._redraw()  # at once: keys wait for the next row
        else:
            self._redraw_in_time()

    def _select_first(self, first: int | None) -> None:
        """Select the first round trip, or the last turn of its thread when the cursor follows."""
        if first is None:
            return
        follow = self._state.follow
        last = follow.last_of_thread(first) if follow.on else None
        self._selection.select(first if last is None else last)
        self._opened = self._state.place if self._state.navigation.wanted_turn is None else None

    def _opened_on_side_call(self) -> bool:
        """Whether the run is still where it was opened, and that only named the task of the agent that has begun."""
        rows, place = self._state.run.rows, self._state.place
        if place is None or place != self._opened or not rows.in_side_call(place):
            return False
        first = rows.first_of_agent()
        return first is not None and not rows.in_side_call(first)

    def user_acted(self) -> None:
        """A key was pressed: what is shown is what the user wants to see."""
        self._opened = None

    def reading_ended(self, message: ReadingEnded) -> None:
        """Draw the last rows and say what the user should know of the file."""
        state, rows = self._state, self._state.run.rows
        state.reading, state.alone, self.stale = False, False, True
        self.summing = message.final and message.problem is None
        if state.follow.live and message.final:
            state.follow.end()
            self._bars.say(ended_notice(recorded=bool(rows.all), command=state.output is not None), "accent")
        self._redraw()
        if state.place is None and rows.all:  # only messages of tool servers
            self._select_first(next((at for at, row in enumerate(rows.all) if not row.is_quiet), 0))
        if message.problem is not None:
            self._bars.say(message.problem, "bad")
        elif problems := state.run.problems:
            self._bars.say(several_problems(problems), "warn")
        elif not rows.all and not state.follow.live:
            self._panes.page.show(_NOTHING)

    def ledger_ready(self, message: LedgerReady) -> None:
        """Request the strip with what the ledger knows of misses and additions, and a page made of fewer turns."""
        self._ledger, self.summing = message.ledger, False
        self._grow()
        state = self._state
        entry = message.ledger.at(state.place) if message.ledger is not None and state.place is not None else None
        missed = entry is not None and entry.cache is not None and entry.cache.miss is not None
        if state.view in OF_THE_LEDGER or (state.view == "turn" and missed):
            self._selection.request_page()  # the page of a turn says why there is a cache miss

    def growth_ready(self, message: GrowthReady) -> None:
        """Draw the growth strip that was requested."""
        self._panes.strip.show(message.strip, self._state.place)

    def _page_changed(self, first: int, again: Sequence[int]) -> bool:
        """Whether new rows from `first` on, or the changed rows `again`, change the page that is shown."""
        state = self._state
        if state.playback.turn is not None or state.place is None:
            return False
        after = state.run.rows.after(state.place)
        return state.view in (*OF_THE_RUN, "timeline") or state.place in again or (after is not None and after >= first)

    def _redraw_in_time(self) -> None:
        """Draw the rows that were read, at once or when enough time has passed."""
        if self._waiting or not self.stale:
            return
        wait = self._wait()
        if wait <= 0:
            self._redraw()
        else:
            self._waiting = True
            self._later(wait, self._waited)

    def _wait(self) -> float:
        """The seconds until the next drawing. Maybe it has to wait again then, as others have the processor too."""
        since = time.monotonic() - self._drawn
        owed = PAUSE * (time.thread_time() - self._worked) - (time.process_time() - self._all_worked)
        return min(LONGEST - since, max(REFRESH - since, owed if self._state.reading else 0.0))

    def _waited(self) -> None:
        """Enough time has passed, unless the screen worked meanwhile."""
        self._waiting = False
        self._redraw_in_time()

    def _redraw(self) -> None:
        """Draw the rows that were read, and let the cursor follow."""
        self._worked, self._all_worked, self._drawn = time.thread_time(), time.process_time(), time.monotonic()
        self.stale = False
        state, turns = self._state, self._panes.turns
        target = state.follow.target(state.place, on_turn=turns.on_turn)
        self._draw_list()
        if state.navigation.wanted_turn is not None:
            self._go_to_wanted_turn()
        elif state.navigation.wanted_steps:
            self._go_wanted_steps()
        elif target is not None and state.playback.turn is None:
            self._selection.select(target)
        else:
            state.follow.count(state.place or 0, turns.places)
        self._bars.refresh()

    def _go_wanted_steps(self) -> None:
        """Go on by the lines and turns that were not read when the user went there, as far as they are read now."""
        navigation, turns = self._state.navigation, self._panes.turns
        steps = navigation.wanted_steps
        while steps and (place := turns.place_below() if steps[0] == "line" else turns.beside(1)) is not None:
            if steps[0] == "line":
                turns.go(turns.cursor + 1, quietly=True)
            self._selection.select(place, listed=steps[0] == "line")
            steps = steps[1:]
        navigation.wanted_steps = steps if self._state.reading else []

    def _grow(self) -> None:
        """Request the growth strip of the rows so far. Before they have prices it would show tokens for a moment.

        One that is shown already waits for the ledger; an empty place does not.
        """
        run = self._state.run
        if run.priced and (not self.summing or self._panes.strip.blank):
            self._loader.growth((*run.rows.all,), self._ledger, final=not self._state.reading)

    def _draw_list(self) -> None:
        self._grow()
        self._bars.summarize()
        self._selection.refresh_list()

    def _go_to_wanted_turn(self) -> None:
        state, navigation = self._state, self._state.navigation
        number, place = navigation.wanted_turn, navigation.first_with_wanted_number()
        if place is not None:
            self._bars.forget_notice()
            self._selection.select(place)
        elif not state.reading:
            self._bars.say(f"there is no {turn_name(number, navigation.wanted_thread)} in this run", "warn")
        if place is not None or not state.reading:
            navigation.wanted_turn = None
