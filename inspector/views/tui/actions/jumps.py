"""The keys that go to another turn: the next finding, error, call, thread or line, and the end of a live run."""

from ..controllers.navigation import Step, turn_name
from ..widgets.panes import Panes
from .bars import Bars
from .playback_actions import PlaybackActions
from .selection import Selection
from .state import ScreenState

NOT_LIVE = "this recording is over; `turntape view --follow` waits for more"


class Jumps:
    """Each method is what a key does; `by` is 1 for the next one, -1 for the one before."""

    def __init__(
        self, state: ScreenState, selection: Selection, playing: PlaybackActions, panes: Panes, bars: Bars
    ) -> None:
        self._state, self._selection, self._playing = state, selection, playing
        self._panes, self._bars = panes, bars

    def jump(self, what: str, by: int) -> None:
        """To the next `finding`, `error` or `call`."""
        if self._state.place is None:
            return
        self._playing.stop()
        found = self._state.navigation.jump(what, by)
        if found is None:
            self._say_no(what, by)
        else:
            self._selection.select(found.place, found.anchor, "turn")

    def thread(self, by: int) -> None:
        """To the first turn of the next thread, which is unfolded."""
        self._playing.stop()
        found = self._state.navigation.thread(by)
        if found is None:
            self._say_no("thread", by)
            return
        thread = self._state.run.rows.all[found.place].thread
        if thread is not None:
            self._panes.turns.fold(thread, self._state.place, opened=True)
        self._selection.select(found.place)

    def turn(self, number: int, of: str | None = None) -> None:
        """To the turn with that number of thread `of`; without `of` of the selected thread, else to the first one."""
        self._playing.stop()
        place = self._state.navigation.numbered(number, of)
        if place is None:
            self._wait_for(number, of)
            return
        thread = self._state.run.rows.all[place].thread
        if thread is not None and place not in self._panes.turns.places:
            self._bars.say(f"turn {number} is not among the turns that the filter shows", "warn")
            return
        if thread is not None and self._state.place is not None:
            self._panes.turns.fold(thread, self._state.place, opened=True)
        self._selection.select(place)

    def _wait_for(self, number: int, of: str | None) -> None:
        """Go to a turn as soon as it is read; after the last one say that there is none."""
        name = turn_name(number, of)
        if not self._state.reading:
            unread = " so far" if self._state.follow.live else ""
            self._bars.say(f"there is no {name} in this run{unread}", "warn")
            return
        navigation = self._state.navigation
        navigation.wanted_turn, navigation.wanted_thread = number, of
        self._bars.say(f"{name} is not read yet; it is shown as soon as it is", "dim")

    def step(self, by: int) -> None:
        """Go to the next turn of the list, whichever pane has the focus; one that is not read yet is waited for."""
        self._playing.stop()
        turns = self._panes.turns
        place = turns.beside(by) if self._state.place is not None and turns.places else None
        if place is not None:
            self._selection.select(place)
        elif by > 0:
            self._want("turn")
        else:
            self._state.navigation.wanted_steps = self._state.navigation.wanted_steps[:-1]

    def pass_end(self) -> None:
        """Go to the line below the last one of the list as soon as it is read."""
        self._playing.stop()
        self._want("line")

    def _want(self, step: Step) -> None:
        if self._state.reading:
            self._state.navigation.wanted_steps.append(step)

    def toggle_follow(self) -> None:
        """Follow the recording from its last turn on, or stop following."""
        follow, place = self._state.follow, self._state.place
        if not follow.live:
            self._bars.say(NOT_LIVE, "dim")
            return
        follow.toggle()
        if follow.on and place is not None and (last := follow.last_of_thread(place)) is not None:
            self._selection.select(last)
        self._bars.refresh()

    def _say_no(self, what: str, by: int) -> None:
        more = self._state.reading or self._state.follow.live
        beside = more or self._has(what)
        where = f"{'after' if by > 0 else 'before'} this one" if beside else "in this run"
        so_far = ", but not all turns are read yet" if more and by > 0 else ""
        # Without an error the findings are what went wrong.
        instead = "; n goes to the next finding" if what == "error" and not beside and self._has("finding") else ""
        self._bars.say(f"no {'other ' if what == 'thread' else ''}{what} {where}{so_far}{instead}", "dim")

    def _has(self, what: str) -> bool:
        return self._state.navigation.has(what)
