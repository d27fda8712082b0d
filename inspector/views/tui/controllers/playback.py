"""Playback of a run: how much of a streamed answer has arrived, and when the next turn begins."""

import time
from collections.abc import Callable
from typing import Literal, Protocol

from ....run.row import Row
from ....run.rows import Rows
from .messages import PlaybackAdvanced, PlaybackEnded, Post
from .navigation import next_turn, turn_before
from .played_turn import RECORDED, SPEEDS, PlayedTurn

TICK = 0.05
"""How often a turn that is played is drawn, in seconds."""
JUST_BEGUN = 1_000_000
"""Up to this many recorded microseconds a turn is just begun."""


class Stoppable(Protocol):
    """A running timer."""

    def stop(self) -> None: ...


class Playback:
    """Plays turn after turn, as they were recorded. Posts `PlaybackAdvanced` and `PlaybackEnded`.

    `every` calls a function at an interval in seconds, until the timer that it gives is stopped.
    """

    def __init__(
        self,
        rows: Rows,
        visible: Callable[[Row], bool],
        post: Post,
        every: Callable[[float, Callable[[], None]], Stoppable],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rows, self._visible, self._post = rows, visible, post
        self._every, self._clock = every, clock
        self.turn: PlayedTurn | None = None
        """The turn that is being played."""
        self.speed = RECORDED
        """An index into `SPEEDS`."""
        self.timer: Stoppable | None = None
        self._ticked = 0.0
        self.paused = False

    def start(self, place: int) -> bool:
        """Play from the round trip at `place`; False when no turn follows."""
        first = place if self._rows.all[place].is_turn else next_turn(self._rows, self._visible, place)
        if first is None:
            return False
        self._begin(first)
        self.paused = False
        self._ticked = self._clock()
        self.timer = self._every(TICK, self._on_timer)
        return True

    def stop(self) -> bool:
        """Stop; False when nothing was played."""
        played, self.turn = self.turn, None
        if self.timer is not None:
            self.timer.stop()
            self.timer = None
        return played is not None

    def pause(self) -> None:
        """Let no more time pass, or let it pass again."""
        self.paused = not self.paused

    def seek(self, by: int) -> None:
        """To the next turn, or with `by` -1 to the begin of this one, or of the one before when that is just begun.

        Beyond the last turn it pauses, so that a key too many ends nothing and the way back stays open.
        """
        turn = self.turn
        if turn is None:
            return
        if by > 0:
            place = next_turn(self._rows, self._visible, turn.place)
        else:
            place = turn.place if turn.at > JUST_BEGUN else turn_before(self._rows, self._visible, turn.place)
        if place is not None:
            self._begin(place)
        elif by < 0:
            self._begin(turn.place)
        else:
            turn.at = turn.length
            self.paused = True

    def faster(self, by: int) -> str:
        """Change the speed by this many steps. Returns the new speed as a sentence."""
        self.speed = max(0, min(self.speed + by, len(SPEEDS) - 1))
        if self.turn is not None:
            self.turn.speed = self.speed
        times = SPEEDS[self.speed]
        return "plays without timing" if times is None else f"plays at {times:g}× the recorded pace"

    def tick(self, seconds: float) -> Literal["same", "more", "next", "end"]:
        """Advance the time. The result says what is new: nothing, more of the answer, the next turn, or the end."""
        turn = self.turn
        if turn is None:
            return "end"
        complete = turn.complete
        turn.advance(seconds)
        if not turn.over:
            return "same" if complete else "more"
        following = next_turn(self._rows, self._visible, turn.place)
        if following is None:
            self.stop()
            return "end"
        self._begin(following)
        return "next"

    def _begin(self, place: int) -> None:
        rows = self._rows.all
        length = round((rows[place].duration_ms or 0) * 1000)
        following = next_turn(self._rows, self._visible, place)
        gap = 0.0
        if following is not None:
            gap = rows[following].started_at - rows[place].started_at - length / 1_000_000
        self.turn = PlayedTurn(place, length, self.speed, gap=gap)

    def _on_timer(self) -> None:
        now = self._clock()
        passed, self._ticked = now - self._ticked, now
        if self.paused:
            return
        what = self.tick(passed)
        if what == "end" or self.turn is None:
            self._post(PlaybackEnded())
        else:
            self._post(PlaybackAdvanced(self.turn, what != "same"))
