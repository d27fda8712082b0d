"""A turn that is being played: how much of its answer is shown, and when the next turn begins."""

from dataclasses import dataclass

from ....run.row import Row
from ....run.stream_timeline import Arrivals
from ...text.number_format import lasted
from ..formatting import bar, clipped
from ..pages.blocks import Spans

SPEEDS: tuple[float | None, ...] = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, None)
"""Multiples of the recorded pace; None shows each answer at once."""
RECORDED = SPEEDS.index(1.0)
PAUSE = 2.0
"""A pause between two turns is shortened to this many recorded seconds."""
REST = 0.8
"""A turn rests at least this many seconds when its answer is complete, at every speed."""
WAIT = 2_000_000
"""A wait for the next byte is shortened to this many recorded microseconds."""


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
    arrivals: Arrivals | None = None
    """When the bytes of its answer arrived; None until that was read."""

    @property
    def times(self) -> float | None:
        return SPEEDS[self.speed]

    def advance(self, seconds: float) -> None:
        """Advance by this many seconds of real time. A long wait passes faster, so that it lasts `WAIT`."""
        times = self.times
        if times is None:
            self.at = self.length
        if self.at >= self.length:
            self.rest += seconds
            return
        assert times is not None
        left = seconds * times * 1_000_000
        while left > 0 and self.at < self.length:
            begin, end = self._wait() or (self.length, self.length)
            if self.at < begin:
                step = min(left, begin - self.at)
                self.at += round(step)
                left -= step
            else:
                faster = (end - begin) / WAIT
                step = min(left, (end - self.at) / faster)
                self.at = min(end, self.at + round(step * faster))
                left -= step
            if step < 1:
                break
        self.at = min(self.length, self.at)

    def _wait(self) -> tuple[int, int] | None:
        """The long wait that the turn is in, or the next one."""
        waits = self.arrivals.waits(WAIT) if self.arrivals is not None else []
        return next((wait for wait in waits if wait[1] > self.at), None)

    @property
    def share(self) -> float:
        """How much of the answer is shown, from 0 to 1."""
        if self.complete:
            return 1.0
        return self.arrivals.share(self.at) if self.arrivals is not None else 0.0

    @property
    def complete(self) -> bool:
        """True when the whole answer is shown."""
        return self.at >= self.length

    @property
    def over(self) -> bool:
        """True when the next turn begins."""
        pause = 0.0 if self.times is None else min(PAUSE, max(self.gap, 0.0)) / self.times
        return self.complete and self.rest >= max(REST, pause)

    @property
    def shortened(self) -> str:
        """What of the present wait is left out, in a few words; empty when it is played as it was."""
        if self.complete:
            return f"the client took {lasted(self.gap * 1000)}, shortened" if self.gap > PAUSE else ""
        wait = self._wait()
        if wait is None or not wait[0] <= self.at < wait[1]:
            return ""
        return f"a wait of {lasted((wait[1] - wait[0]) / 1000)}, shortened"

    def status(self, row: Row, width: int, *, paused: bool = False) -> Spans:
        """The status line: the turn, the pace, how much of it was played, and what is shortened."""
        times = self.times
        pace = "without timing" if times is None else "as recorded" if times == 1 else f"{times:g}×"
        share = self.at / self.length if self.length else 1.0
        lead = [
            (" ⏸ " if paused else " ▶ ", "warn" if paused else "good"),
            (f"turn {row.label} of {row.thread}  ", "bold"),
            ("paused  " if paused else f"{pace}  ", "accent"),
            (f"{self.at / 1e6:6.2f} of {self.length / 1e6:.2f} s ", "plain"),
        ]
        note = f"  {self.shortened}" if self.shortened else ""
        room = min(30, width - len(note) - 2 - sum(len(text) for text, _ in lead))
        gauge = [(f"▕{bar(share, room)}▏", "good")] if room >= 6 else []
        return clipped([*lead, *gauge, (note, "dim")], width)
