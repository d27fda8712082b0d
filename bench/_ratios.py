"""The ratio of two things that were measured in the same rounds, and how far chance can move it."""

import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

DRAWS = 2_000
"""How often the rounds are drawn again, each time with some twice and others not at all."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """The median of the ratios of the rounds, and the two values between which 95 of 100 draws of the rounds put it."""

    middle: float
    low: float
    high: float

    @classmethod
    def of(cls, ours: Sequence[float], other: Sequence[float]) -> Self:
        """The ratio of `ours` to `other`, which have one value for each round. Raises ValueError without rounds."""
        rounds = [one / two for one, two in zip(ours, other, strict=True)]
        if not rounds:
            raise ValueError("a ratio needs at least one round")
        chance = random.Random(0)
        draws = sorted(statistics.median(chance.choices(rounds, k=len(rounds))) for _ in range(DRAWS))
        edge = DRAWS // 40
        return cls(statistics.median(rounds), draws[edge], draws[-1 - edge])

    def misses(self, bar: float) -> bool:
        """Whether it is above the bar by more than chance explains."""
        return self.low > bar

    def verdict(self, bar: float) -> str:
        """`ok`, `MISSED`, or that chance alone can move it over the bar."""
        if self.misses(bar):
            return "MISSED"
        return "ok" if self.middle <= bar else "above the bar, but within the noise"

    def __str__(self) -> str:
        return f"{self.middle:.2f}x ({self.low:.2f} to {self.high:.2f})"
