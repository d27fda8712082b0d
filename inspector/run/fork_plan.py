"""The plan of a fork: which turns are replayed, and which must have been requested before the run continues live."""

from collections.abc import Callable
from dataclasses import replace

from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.frozen import frozen
from turntape.cassettes.tape.model import RoundTrip
from turntape.cassettes.tape.provenance import ForkSource
from turntape.cassettes.tape.reader import Cassette

from ..analysis.turn import Turn
from ..wire.printable import several


@frozen
class ForkPlan:
    """Which turns are replayed, and which must have been requested before the run continues live."""

    name: str
    """The file that it is from."""
    trips: tuple[RoundTrip, ...]
    """All round trips that began before the fork, in the order in which they began."""
    at: int
    """The first live turn."""
    turns: tuple[int, ...]
    """The numbers of those that are turns of the forked thread."""
    edited: frozenset[int] = frozenset()
    """The numbers of those whose answer was changed."""
    strays_go_live: bool = False
    """True when a request before the fork that was not recorded goes to the API."""

    @property
    def tape(self) -> ForkSource:
        """The parts that a player and a recorder need."""
        return ForkSource(self.name, self.at, self.trips, self.turns, self.edited)

    def changed(self, edit: Callable[[RoundTrip], RoundTrip]) -> "ForkPlan":
        """The script with the answer of its last turn changed. Raises TurntapeError when there is none."""
        if not self.turns:
            raise TurntapeError("there is no turn before turn 1 whose answer could be edited; fork at a later turn")
        last = self.turns[-1]
        trips = tuple(edit(trip) if trip.index == last else trip for trip in self.trips)
        return replace(self, trips=trips, edited=frozenset({*self.edited, last}))


def plan_fork(cassette: Cassette, at: int, thread: str | None = None, *, strays_go_live: bool = False) -> ForkPlan:
    """The plan for a fork of `thread` (the first one by default) at turn `at`.

    `at` may be one more than the last turn: then the run continues from its end. Raises TurntapeError when there is
    no such thread or turn.
    """
    name = str(cassette.path or "the recording")
    numbered = [trip if trip.index >= 0 else replace(trip, index=place) for place, trip in enumerate(cassette)]
    turns = _turns_of_thread(numbered, name, thread)
    _check_turn(turns, at, name)
    before = [turn.round_trip for turn in turns if turn.number < at]
    following = [turn.round_trip for turn in turns if turn.number >= at]
    limit = min(map(_began, following)) if following else None
    ordered = sorted(numbered, key=_began)
    played = tuple(trip for trip in ordered if not trip.frames and (limit is None or _began(trip) < limit))
    return ForkPlan(name, played, at, tuple(trip.index for trip in before), strays_go_live=strays_go_live)


def _turns_of_thread(round_trips: list[RoundTrip], name: str, thread: str | None) -> list[Turn]:
    from .labels import label_all

    turns = [one.turn for one in label_all(round_trips) if one.turn is not None]
    if not turns:
        raise TurntapeError(f"{name!r} holds no turn of an LLM, so it cannot be forked; record a run first")
    wanted = thread or turns[0].thread
    found = [turn for turn in turns if turn.thread == wanted]
    if not found:
        names = ", ".join(dict.fromkeys(turn.thread for turn in turns))
        raise TurntapeError(f"{name!r} has no thread {wanted!r}; it has {names}")
    return found


def _check_turn(turns: list[Turn], at: int, name: str) -> None:
    thread, last = turns[0].thread, max(turn.number for turn in turns)
    if not 1 <= at <= last + 1:
        known = several(last, "turn")
        raise TurntapeError(
            f"thread {thread} of {name!r} has {known}, so recording can begin at turn 1 to {last + 1}, not {at}"
        )
    if any(turn.round_trip.frames for turn in turns):
        raise TurntapeError(f"thread {thread} of {name!r} was held over a WebSocket, which cannot be forked")


def _began(trip: RoundTrip) -> tuple[float, int]:
    return trip.started_at, trip.index
