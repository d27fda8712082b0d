"""Where a jump leads: the next finding, error, tool call or thread, seen from a place in the run."""

from collections.abc import Callable
from dataclasses import dataclass

from ...run.row import Row
from ...run.rows import Rows

type Stops = Callable[[int, Row], list[str]]
"""The anchors of a row that a jump stops at, in order; none when it passes by."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in the run, and what to show of it."""

    place: int
    anchor: str = ""


def _finding(place: int, row: Row) -> list[str]:
    return [f"finding:{number}" for number in range(len(row.findings))]


def _error(place: int, row: Row) -> list[str]:
    number = next((n for n, mark in enumerate(row.findings) if mark.severity == "error"), None)
    if number is not None:
        return [f"finding:{number}"]
    return ["answer"] if row.error or (row.status is not None and row.status >= 400) else []


def _call(place: int, row: Row) -> list[str]:
    return [f"answer/call/{number}" for number in range(len(row.calls))]


STOPS: dict[str, Stops] = {"finding": _finding, "error": _error, "call": _call}
"""What can be jumped to within turns, by the word of the action."""


def jump(rows: Rows, shown: Callable[[Row], bool], what: str, here: Spot, by: int) -> Spot | None:
    """The next stop after `here`, or with `by` -1 the one before; None when there is none. It does not wrap round."""
    stops = STOPS[what]
    row = rows.all[here.place] if here.place < len(rows.all) else None
    own = stops(here.place, row) if row is not None else []
    at = own.index(here.anchor) + by if here.anchor in own else 0 if by > 0 else -1
    # Standing on a turn without standing on one of its stops: its own first stop counts as ahead.
    if 0 <= at < len(own) and row is not None and shown(row):
        return Spot(here.place, own[at])
    for place in range(here.place + by, len(rows.all) if by > 0 else -1, by):
        if shown(rows.all[place]) and (found := stops(place, rows.all[place])):
            return Spot(place, found[0 if by > 0 else -1])
    return None


def thread_beside(rows: Rows, place: int, by: int) -> Spot | None:
    """The first turn of the next thread, or of the one before, in the order in which they began."""
    begins = [places[0] for places in rows.threads.values()]
    thread = rows.all[place].thread
    own = rows.threads[thread][0] if thread is not None else place
    ahead = [start for start in begins if (start - own) * by > 0]
    if not ahead:
        return None
    return Spot(min(ahead) if by > 0 else max(ahead))


def next_turn(rows: Rows, shown: Callable[[Row], bool], place: int) -> int | None:
    """The turn that was recorded next, for playing."""
    return next((p for p in range(place + 1, len(rows.all)) if rows.all[p].is_turn and shown(rows.all[p])), None)
