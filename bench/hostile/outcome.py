"""One attempt and how it ended, and the table of all."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    who: str
    target: str
    attempt: str
    held: bool | None
    """True when it had no effect; None when it could not be tried."""
    seen: str
    """What happened."""


def table(outcomes: Sequence[Outcome]) -> list[str]:
    """The lines of the table, then the sum."""
    words = {True: "held", False: "BROKEN", None: "not tried"}
    rows = [(one.who, one.target, one.attempt, words[one.held], one.seen) for one in outcomes]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = ["  ".join(f"{word:{width}}" for word, width in zip(row, [*widths, 0], strict=True)) for row in rows]
    tried = [one for one in outcomes if one.held is not None]
    held = sum(one.held is True for one in tried)
    return [*lines, "", f"{held} of {len(tried)} attempts had no effect; {len(outcomes) - len(tried)} were not tried"]
