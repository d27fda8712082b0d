"""A turn that is being played: how much of its answer is shown, and when the next turn begins."""

from dataclasses import dataclass

from ....run.row import Row
from ..formatting import bar
from ..pages.blocks import Spans

SPEEDS: tuple[float | None, ...] = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, None)
"""Multiples of the recorded pace; None shows each answer at once."""
RECORDED = SPEEDS.index(1.0)
PAUSE = 2.0
"""A pause between two turns is shortened to this many recorded seconds."""
LOOK = 0.5
"""How long a turn is shown without timing, in seconds."""


@dataclass
class PlayedTurn:
    """A turn that is being played."""

    place: int
    length: int
    """Microseconds from its request to the last byte of its answer."""
    speed: int = RECORDED
    """An index into `SPEEDS`."""
    at: int = 0
    """Microseconds from its request to what is shown."""
    rest: float = 0.0
    """Seconds since the answer is complete."""
    gap: float = 0.0
    """The recorded seconds from the end of the answer to the next turn."""

    @property
    def times(self) -> float | None:
        return SPEEDS[self.speed]

    def advance(self, seconds: float) -> None:
        """Advance by this many seconds of real time."""
        times = self.times
        if times is None:
            self.at = self.length
        if self.at < self.length:
            assert times is not None
            self.at = min(self.length, self.at + round(seconds * times * 1_000_000))
        else:
            self.rest += seconds

    @property
    def complete(self) -> bool:
        """True when the whole answer is shown."""
        return self.at >= self.length

    @property
    def over(self) -> bool:
        """True when the next turn begins."""
        times = self.times
        pause = LOOK if times is None else max(0.2, min(PAUSE, max(self.gap, 0.0)) / times)
        return self.complete and self.rest >= pause

    def status(self, row: Row, width: int) -> Spans:
        """The status line: the turn, the pace, how much of it was played."""
        times = self.times
        pace = "without timing" if times is None else "as recorded" if times == 1 else f"{times:g}×"
        share = self.at / self.length if self.length else 1.0
        lead = [
            (" ▶ ", "good"),
            (f"turn {row.turn} of {row.thread}  ", "bold"),
            (f"{pace}  ", "accent"),
            (f"{self.at / 1e6:6.2f} of {self.length / 1e6:.2f} s ", "plain"),
        ]
        keys = "  + - speed, p stops"
        room = min(30, width - len(keys) - 2 - sum(len(text) for text, _ in lead))
        gauge = [(f"▕{bar(share, room)}▏", "good")] if room >= 6 else []
        return [*lead, *gauge, (keys, "dim")]
