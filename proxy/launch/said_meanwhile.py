"""What stderr says while a recording runs, and while somebody waits for its end."""

import sys
from contextlib import suppress


def say_problem(sentence: str) -> None:
    """One sentence, at once."""
    # Not through the log: the proxy takes what is logged. In one write: the command writes there too.
    with suppress(OSError, ValueError):
        sys.stderr.write(f"turntape: {sentence}\n")
        sys.stderr.flush()


class LabelsAwaited:
    """Says how far the labels are, while somebody waits for the end of a recording."""

    def __init__(self) -> None:
        self._calls = 0

    def say(self, done: int, count: int) -> None:
        """Called every second; it writes the first time and every fifth."""
        if self._calls % 5 == 0 and done < count:
            say_problem(f"labelling what is recorded: {done:,} of {count:,} round trips; Ctrl-C does not wait")
        self._calls += 1


def say_waiting(names: list[str]) -> None:
    """Which tool servers have not ended."""
    say_problem(f"waiting for the end of {' and '.join(names)}; Ctrl-C does not wait")


def say_nothing(*_: object) -> None:
    """Takes the place of what says how far something is."""
