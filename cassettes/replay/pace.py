"""How fast recorded chunks are sent: at once, at the recorded pace, or faster; with an optional longest wait.

instant         no wait
recorded        each chunk at its recorded time
10              ten times faster
max=0.5         as recorded, and no wait is longer than half a second
10,max=0.5      both
"""

import math
from typing import NoReturn

from ..frozen import frozen


@frozen
class Pace:
    """`Pace.of(text)` parses a pace; `pauses()` gives the waits of one answer."""

    factor: float | None = None
    """How many times faster than recorded; None for no wait at all."""
    longest: float = math.inf
    """The longest wait, in seconds."""

    @classmethod
    def of(cls, said: "str | float | Pace") -> "Pace":
        """Parse a pace such as `recorded` or `10,max=0.5`. Raises ValueError for any other text."""
        if isinstance(said, Pace):
            return said
        speed, comma, cap = str(said).replace(" ", "").partition(",")
        if not comma and speed.startswith("max="):
            speed, cap = "recorded", speed
        longest = math.inf
        if cap or comma:
            if not cap.startswith("max=") or speed == "instant":
                _refuse(said)
            longest = _above_zero(cap.removeprefix("max="), said)
        if speed == "instant":
            return cls()
        return cls(1.0 if speed == "recorded" else _above_zero(speed, said), longest)

    def pauses(self) -> "Pauses":
        return Pauses(self)


class Pauses:
    """The waits between the chunks of one answer, in seconds."""

    def __init__(self, pace: Pace, start: int = 0) -> None:
        self._pace = pace
        self._last = start

    def before(self, at: int) -> float:
        """How long to wait for the chunk that was recorded at `at` microseconds."""
        if self._pace.factor is None:
            return 0.0
        wait, self._last = max(0, at - self._last), at
        return min(wait / 1_000_000 / self._pace.factor, self._pace.longest)


def _above_zero(number: str, said: object) -> float:
    try:
        value = float(number)
    except ValueError:
        _refuse(said)
    return value if 0 < value < math.inf else _refuse(said)


def _refuse(said: object) -> NoReturn:
    raise ValueError(
        f"the pace {said!r} is not instant, recorded, or how many times faster (above 0), alone or with a longest wait "
        "in seconds; write it like 10, max=0.5 or 10,max=0.5"
    )
