"""The position in a run, and the targets of jumps: the next finding, error, tool call or thread."""

from collections.abc import Callable
from typing import Literal

from turntape.cassettes.frozen import frozen

from ....run.row import Row
from ....run.rows import Rows

type Step = Literal["line", "turn"]
"""To the next line of the list, which may be the head of a thread, or to the next turn."""
type Stops = Callable[[int, Row], list[str]]
"""The anchors in a row where a jump stops, in order; none when it passes the row."""


@frozen
class Spot:
    """A round trip, and the part of it to show."""

    place: int
    anchor: str = ""


def _finding(place: int, row: Row) -> list[str]:
    return [f"finding:{number}" for number in range(len(row.findings))]


def _error(place: int, row: Row) -> list[str]:
    number = next((n for n, mark in enumerate(row.findings) if mark.severity == "error"), None)
    return [] if number is None else [f"finding:{number}"]


def _call(place: int, row: Row) -> list[str]:
    return [f"answer/call/{number}" for number in range(len(row.calls))]


STOPS: dict[str, Stops] = {"finding": _finding, "error": _error, "call": _call}
"""What a jump can look for, by its name in the key bindings."""


def jump(rows: Rows, visible: Callable[[Row], bool], what: str, here: Spot, by: int) -> Spot | None:
    """The next stop after `here`, or with `by` -1 the one before; None when there is none. It does not wrap around."""
    return _in_turn(rows, visible, STOPS[what], here, by) or _in_other_turn(rows, visible, STOPS[what], here, by)


def _in_turn(rows: Rows, visible: Callable[[Row], bool], stops: Stops, here: Spot, by: int) -> Spot | None:
    if here.place >= len(rows.all) or not visible(rows.all[here.place]):
        return None
    own = stops(here.place, rows.all[here.place])
    if here.anchor in own:
        at = own.index(here.anchor) + by
    else:
        # On a turn, but not on one of its stops: the next stop is its first one.
        at = 0 if by > 0 else -1
    return Spot(here.place, own[at]) if 0 <= at < len(own) else None


def _in_other_turn(rows: Rows, visible: Callable[[Row], bool], stops: Stops, here: Spot, by: int) -> Spot | None:
    for place in range(here.place + by, len(rows.all) if by > 0 else -1, by):
        if visible(rows.all[place]) and (found := stops(place, rows.all[place])):
            return Spot(place, found[0 if by > 0 else -1])
    return None


def thread_beside(rows: Rows, place: int, by: int) -> Spot | None:
    """The first turn of the next thread, or of the one before, in the order in which the threads began."""
    begins = [places[0] for places in rows.threads.values()]
    thread = rows.all[place].thread
    own = rows.threads[thread][0] if thread is not None else place
    ahead = [start for start in begins if (start - own) * by > 0]
    if not ahead:
        return None
    return Spot(min(ahead) if by > 0 else max(ahead))


def next_turn(rows: Rows, visible: Callable[[Row], bool], place: int) -> int | None:
    """The visible turn that was recorded next."""
    return next((p for p in range(place + 1, len(rows.all)) if rows.all[p].is_turn and visible(rows.all[p])), None)


def turn_before(rows: Rows, visible: Callable[[Row], bool], place: int) -> int | None:
    """The visible turn that was recorded before."""
    return next((p for p in range(place - 1, -1, -1) if rows.all[p].is_turn and visible(rows.all[p])), None)


class Navigation:
    """The selected round trip and the view in which it is shown.

    `visible` is the filter of the list: a jump passes the rows that it leaves out.
    """

    def __init__(self, rows: Rows, visible: Callable[[Row], bool], turn: int | None = None) -> None:
        self._rows, self._visible = rows, visible
        self.place: int | None = None
        """The selected round trip; None until the first one is read."""
        self.anchor = ""
        """The part of it that was jumped to."""
        self.view = "turn"
        self.wanted_turn = turn
        """The number of the turn to begin with, until it is found."""
        self.wanted_thread: str | None = None
        """The thread of that turn; None for the first that has it."""
        self.wanted_steps: list[Step] = []
        """How the user went further while the next turns were not read yet, key by key."""

    def go(self, place: int, anchor: str = "") -> bool:
        """Select a round trip. True when it was not selected before."""
        moved = place != self.place
        self.place, self.anchor = place, anchor
        return moved

    def jump(self, what: str, by: int) -> Spot | None:
        """The next `finding`, `error` or `call` from here."""
        return None if self.place is None else jump(self._rows, self._visible, what, Spot(self.place, self.anchor), by)

    def has(self, what: str) -> bool:
        """Whether there is one anywhere in the run; of threads, whether there is more than one."""
        rows = self._rows
        if what == "thread":
            return len(rows.threads) > 1
        return any(STOPS[what](place, row) for place, row in enumerate(rows.all))

    def thread(self, by: int) -> Spot | None:
        """The first turn of the thread after or before this one."""
        return None if self.place is None else thread_beside(self._rows, self.place, by)

    def numbered(self, number: int, of: str | None = None) -> int | None:
        """The turn with that number: the last attempt in thread `of`.

        Without `of` in the selected thread, else the first turn that has the number.
        """
        rows = self._rows.all
        selected = rows[self.place].thread if self.place is not None and self.place < len(rows) else None
        thread = of or selected
        own = [place for place in self._rows.threads.get(thread or "", ()) if rows[place].turn == number]
        if own or of is not None:
            return own[-1] if own else None
        return next((place for place, row in enumerate(rows) if row.turn == number), None)

    def first_with_wanted_number(self) -> int | None:
        """The first turn with the number to begin with."""
        found = (place for place, row in enumerate(self._rows.all) if row.turn == self.wanted_turn)
        return next((place for place in found if self.wanted_thread in (None, self._rows.all[place].thread)), None)


def turn_name(number: int | None, thread: str | None) -> str:
    """A turn as someone asked for it: `turn 6`, `turn 6 of t2`."""
    return f"turn {number}" + (f" of {thread}" if thread else "")
