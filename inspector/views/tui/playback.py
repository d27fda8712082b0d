"""Playing a run: how far the streamed answer of a turn has come, and when the next turn begins."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ...run.row import Row
from ...run.rows import Rows
from .formatting import bar
from .navigation import next_turn
from .pages.page import Spans

SPEEDS: tuple[float | None, ...] = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, None)
"""How many times the recorded pace; None is without timing."""
RECORDED = SPEEDS.index(1.0)
PAUSE = 2.0
"""A pause between two turns is shortened to this many recorded seconds."""
LOOK = 0.5
"""How long a turn is shown without timing, in seconds."""


@dataclass
class Playback:
    """A turn that is being played. `advance` by the seconds that went by."""

    place: int
    length: int
    """Microseconds from its start to its last byte."""
    speed: int = RECORDED
    """A place in `SPEEDS`."""
    at: int = 0
    rest: float = 0.0
    """Seconds since the answer was whole."""
    gap: float = 0.0
    """The recorded seconds until the next turn begins."""

    @property
    def times(self) -> float | None:
        return SPEEDS[self.speed]

    def advance(self, seconds: float) -> None:
        times = self.times
        if times is None:
            self.at = self.length
        if self.at < self.length:
            assert times is not None
            self.at = min(self.length, self.at + round(seconds * times * 1_000_000))
        else:
            self.rest += seconds

    @property
    def whole(self) -> bool:
        """True when the answer has come whole."""
        return self.at >= self.length

    @property
    def over(self) -> bool:
        """True when the next turn begins."""
        times = self.times
        pause = LOOK if times is None else max(0.2, min(PAUSE, max(self.gap, 0.0)) / times)
        return self.whole and self.rest >= pause

    def told(self, row: Row, width: int) -> Spans:
        """The line that says what is being played."""
        times = self.times
        pace = "without timing" if times is None else "as recorded" if times == 1 else f"{times:g}×"
        share = self.at / self.length if self.length else 1.0
        room = max(6, min(30, width - 60))
        return [
            (" ▶ ", "good"),
            (f"turn {row.turn} of {row.thread}  ", "bold"),
            (f"{pace}  ", "accent"),
            (f"{self.at / 1e6:6.2f} of {self.length / 1e6:.2f} s ", "plain"),
            (f"▕{bar(share, room)}▏", "good"),
            ("  + - speed, p stops", "dim"),
        ]


def playback(row: Row, following: Row | None, place: int, speed: int) -> Playback:
    """Play this row from its beginning."""
    length = round((row.duration_ms or 0) * 1000)
    gap = following.started_at - row.started_at - length / 1_000_000 if following is not None else 0.0
    return Playback(place, length, speed, gap=gap)


class Player:
    """Plays turn after turn, as they were recorded: `start`, `tick` as time goes by, `stop`."""

    def __init__(self, rows: Rows, shown: Callable[[Row], bool]) -> None:
        self._rows, self._shown = rows, shown
        self.on: Playback | None = None
        """What is being played."""
        self.speed = RECORDED

    def start(self, place: int) -> bool:
        """Play from a place on; false when no turn is there."""
        rows = self._rows.all
        at = place if rows[place].is_turn else next_turn(self._rows, self._shown, place)
        if at is None:
            return False
        following = next_turn(self._rows, self._shown, at)
        self.on = playback(rows[at], rows[following] if following is not None else None, at, self.speed)
        return True

    def stop(self) -> None:
        self.on = None

    def faster(self, by: int) -> str:
        """Change the speed; says what it is now."""
        self.speed = max(0, min(self.speed + by, len(SPEEDS) - 1))
        if self.on is not None:
            self.on.speed = self.speed
        times = SPEEDS[self.speed]
        return "plays without timing" if times is None else f"plays at {times:g}× the recorded pace"

    def tick(self, seconds: float) -> Literal["same", "more", "next", "end"]:
        """Time went by: nothing new is to be seen, more of the answer, the next turn, or the run is over."""
        on = self.on
        if on is None:
            return "end"
        whole = on.whole
        on.advance(seconds)
        if not on.over:
            return "same" if whole else "more"
        following = next_turn(self._rows, self._shown, on.place)
        if following is None:
            self.stop()
            return "end"
        self.start(following)
        return "next"
