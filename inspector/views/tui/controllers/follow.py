"""Following: the cursor moves with a run that is being recorded."""

from collections.abc import Iterable

from ....run.rows import Rows


class Follow:
    """Decides where the cursor goes when rows are added.

    Only a cursor on the last turn of its thread moves, so a subagent that starts meanwhile does not take it away.
    """

    def __init__(self, rows: Rows, *, live: bool) -> None:
        self._rows = rows
        self.live = live
        """True while the file may grow."""
        self.on = live
        """True while the cursor follows."""
        self.behind = 0
        """How many visible turns came after the selected one."""
        self._tail: int | None = None
        """The last turn of the selected thread, when it was selected."""

    def toggle(self) -> None:
        self.on = not self.on
        self.behind = 0

    def end(self) -> None:
        """The recording has ended."""
        self.live = self.on = False

    def selected(self, place: int, visible: Iterable[int]) -> None:
        """The user, or a jump, selected the round trip at `place`."""
        self._tail = self.last_of_thread(place)
        self.count(place, visible)

    def count(self, place: int, visible: Iterable[int]) -> None:
        """Count the visible turns after `place`."""
        if self.on:
            self.behind = sum(other > place for other in visible)

    def last_of_thread(self, place: int) -> int | None:
        """The last turn of the thread at `place`; None for a round trip of no thread."""
        thread = self._rows.all[place].thread
        return self._rows.threads[thread][-1] if thread is not None else None

    def target(self, place: int | None, *, on_turn: bool) -> int | None:
        """Where the cursor goes, if it follows and was on the last turn; `on_turn` is False on the head of a thread."""
        if not self.on or place is None or not on_turn or place != self._tail:
            return None
        last = self.last_of_thread(place)
        return last if last != place else None
