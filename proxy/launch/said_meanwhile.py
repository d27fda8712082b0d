"""What stderr says while a recording runs, and while somebody waits for its end."""

from ..stderr import say_problem


class EndAwaited:
    """Says how far the end of a recording is, while somebody waits for it: at once, and then every fifth call.

    Each is called about every second.
    """

    def __init__(self) -> None:
        self._calls = 0

    def workers(self) -> None:
        """Processes still record what they have."""
        self._say("searching what is recorded for secrets")

    def search(self, left: int) -> None:
        """So many bytes are not yet searched and written."""
        self._say(f"searching what is recorded for secrets: {left / 1e6:,.0f} MB to go")

    def labels(self, done: int, count: int) -> None:
        """So many round trips have their labels."""
        if not count:
            self._say("waiting for the process that labels, which has nothing to do")
            return
        what = f"{done:,} of {count:,} round trips" if done < count else "the ends of the threads"
        self._say(f"labelling what is recorded: {what}")

    def _say(self, sentence: str) -> None:
        if self._calls % 5 == 0:
            say_problem(f"{sentence}; Ctrl-C does not wait")
        self._calls += 1


def say_waiting(names: list[str]) -> None:
    """Which tool servers have not ended."""
    say_problem(f"waiting for the end of {' and '.join(names)}; Ctrl-C does not wait")


def say_nothing(*_: object) -> None:
    """Takes the place of what says how far something is."""
