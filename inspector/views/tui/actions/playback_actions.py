"""Playback on the screen: start, stop, speed, and the page of the turn that is played."""

from ..controllers.loader import Loader
from ..controllers.messages import PlaybackAdvanced
from ..widgets.panes import Panes
from .bars import Bars
from .selection import Selection
from .state import ScreenState


class PlaybackActions:
    """Each public method is what a key or a message of the playback does."""

    def __init__(self, state: ScreenState, loader: Loader, selection: Selection, panes: Panes, bars: Bars) -> None:
        self._state, self._playback, self._loader = state, state.playback, loader
        self._selection, self._panes, self._bars = selection, panes, bars

    def toggle(self) -> None:
        """Play from here, or stop."""
        if self._playback.turn is not None:
            self.stop()
            self._selection.request_page(top=True)
            self._bars.refresh()
        elif self._state.place is not None:
            if not self._playback.start(self._state.place):
                self._bars.say("there is no turn to play from here", "dim")
                return
            self._selection.show_view("turn")
            self.show()

    def stop(self) -> None:
        """Stop, if a turn is played. The page stays as it is."""
        self._playback.stop()
        if self._panes.turns.playing is not None:
            self._panes.turns.play(None)
            self._panes.strip.play(None)

    def pause(self) -> None:
        """Let no more time pass, or let it pass again."""
        self._playback.pause()
        self._bars.refresh()

    def seek(self, by: int) -> None:
        """To the next turn, or with `by` -1 back."""
        self._playback.seek(by)
        self.show()

    def advanced(self, message: PlaybackAdvanced) -> None:
        """Time has passed."""
        if message.turn is self._playback.turn and message.redraw:
            self.show()
        else:
            self._bars.refresh()

    def ended(self) -> None:
        """The last turn was played."""
        self.stop()
        self._selection.request_page(top=True)
        self._bars.say("played to the end", "dim")

    def show(self) -> None:
        """Show as much of the played turn as has arrived."""
        turn = self._playback.turn
        if turn is None:
            return
        self._state.navigation.place = turn.place
        self._unfold(turn.place)
        self._panes.turns.play(turn.place, turn.share)
        self._panes.strip.play(turn.place, turn.share)
        self._loader.played(turn, self._selection.width)
        self._bars.refresh()

    def _unfold(self, place: int) -> None:
        """Unfold the thread of the turn that begins, so that its line can be seen."""
        turns, thread = self._panes.turns, self._state.run.rows.all[place].thread
        if thread is not None and turns.playing != place and turns.in_fold(place):
            turns.fold(thread, place, opened=True)

    def change_speed(self, by: int) -> None:
        """Change the speed by this many steps; a negative number is slower."""
        speed = self._playback.faster(by)
        if self._playback.turn is None:
            self._bars.say(speed, "dim")
        self._bars.refresh()
