"""The result of a replay: what was played, and what differed from the recording."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Literal

from ..counted import several
from ..frozen import frozen
from ..matching.bindings import Mapped
from ..matching.grades import Match
from ..tape.model import RoundTrip
from ..tape.turn_names import TurnName
from .miss import Miss

_SHOWN_MAPPED = 8
"""How many values that replace recorded ones are listed."""


@frozen
class Reordered:
    """Two turns in the wrong order: `turn` was requested before `before`, which was recorded first."""

    turn: TurnName
    before: TurnName

    def __str__(self) -> str:
        return f"{self.turn} was requested before {self.before}, which was recorded first"


@frozen
class Divergence:
    """The first difference between a replay and its recording."""

    layer: Literal["client", "api"]
    """`client`, because the answers come from the tape; `api` if a fault was injected before."""
    turn: TurnName | None
    pointer: str | None
    words: str

    def __str__(self) -> str:
        return f"first to diverge: {self.layer}, {self.words}"


@frozen
class Report:
    """The end of a replay, by turn."""

    played: tuple[Match, ...]
    """In the order of the requests."""
    changed: tuple[Miss, ...]
    """Requests that are a recorded turn with something changed, and were not answered."""
    extra: tuple[Miss, ...]
    """Requests that are not a recorded turn, or repeat a turn that was already played."""
    unplayed: tuple[TurnName, ...]
    """Recorded turns that were never requested."""
    reordered: tuple[Reordered, ...]
    first: Divergence | None
    """None when everything was as recorded."""
    mapped: tuple[Mapped, ...] = ()
    """Values of this run that replace recorded ones. They are not differences."""

    @property
    def tolerated(self) -> tuple[Match, ...]:
        """Answers that were given although the request differs."""
        return tuple(match for match in self.played if match.grade != "exact")

    @property
    def faults(self) -> tuple[Match, ...]:
        """Answers that a fault replaced or changed."""
        return tuple(match for match in self.played if match.fault)

    @property
    def clean(self) -> bool:
        """True when every recorded turn was requested exactly as recorded, in order, and nothing else was."""
        return not (self.changed or self.extra or self.unplayed or self.reordered or self.tolerated)

    def lines(self) -> list[str]:
        """One line for each difference; none when the replay was clean."""
        missing = {miss.turn for miss in self.changed}
        return [
            *([str(self.first)] if self.first else []),
            *(f"changed: {miss}" for miss in self.changed),
            *(f"tolerated: {match}" for match in self.tolerated),
            *(f"extra: {miss}" for miss in self.extra),
            *(f"order: {moved}" for moved in self.reordered),
            *(f"not requested: {turn}" for turn in self.unplayed if turn not in missing),
        ]

    def mapped_lines(self) -> list[str]:
        """One line for each of the first values that replace recorded ones, and how many more there are."""
        more = len(self.mapped) - _SHOWN_MAPPED
        lines = [f"mapped: {mapped}" for mapped in self.mapped[:_SHOWN_MAPPED]]
        return [*lines, f"mapped: {several(more, 'more value')}"] if more > 0 else lines

    def __str__(self) -> str:
        head = f"{several(len(self.played), 'answer')} played"
        return "\n".join([f"{head}, all as recorded" if self.clean else head, *self.lines(), *self.mapped_lines()])


def reordered(asked: Sequence[int], trips: Sequence[RoundTrip], names: Sequence[TurnName]) -> tuple[Reordered, ...]:
    """The smallest set of moved turns that explains the order of the requests.

    Round trips that overlapped when they were recorded have no order, and neither have threads that ran in parallel:
    which of them comes first is random.
    """
    kept = _longest_rising(asked)
    if len(kept) == len(asked):
        return ()
    beside = _beside_each_other(trips, names)

    def before(one: int, other: int) -> bool:
        return (names[one].thread, names[other].thread) not in beside and _was_before(trips, one, other)

    in_order = [(at, asked[at]) for at in sorted(kept)]
    found: list[Reordered] = []
    for at, place in enumerate(asked):
        if at in kept:
            continue
        earlier = [other for when, other in in_order if when > at and before(other, place)]
        later = [other for when, other in in_order if when < at and before(place, other)]
        if earlier:
            found.append(Reordered(names[place], names[earlier[0]]))
        elif later:
            found.append(Reordered(names[later[0]], names[place]))
    return tuple(found)


def _beside_each_other(trips: Sequence[RoundTrip], names: Sequence[TurnName]) -> set[tuple[str | None, str | None]]:
    """Pairs of threads, in both orders, that have overlapping round trips."""
    timed = sorted((trip.started_at, place) for place, trip in enumerate(trips) if trip.started_at and trip.ended_at)
    running: list[int] = []
    found: set[tuple[str | None, str | None]] = set()
    for started, place in timed:
        running = [other for other in running if _ended(trips[other]) > started]
        thread = names[place].thread
        for other in running:
            found |= {(thread, names[other].thread), (names[other].thread, thread)}
        running.append(place)
    return found


def _ended(trip: RoundTrip) -> float:
    return trip.started_at + (trip.ended_at or 0) / 1_000_000


def _was_before(trips: Sequence[RoundTrip], one: int, other: int) -> bool:
    """True when `one` had ended before `other` began. Without recorded times, the numbers decide.

    A recording of another tool that does not know when an answer ended does not know what overlapped: it has no order.
    """
    first, second = trips[one], trips[other]
    if "import" in (first.route, second.route) and (first.ended_at is None or second.ended_at is None):
        return False
    if first.ended_at is None or first.started_at == second.started_at == 0.0:
        return one < other
    return _ended(first) <= second.started_at


def _longest_rising(values: Sequence[int]) -> set[int]:
    """The positions of a longest increasing subsequence."""
    tails: list[int] = []
    at: list[int] = []
    before: list[int] = []
    for position, value in enumerate(values):
        size = bisect_left(tails, value)
        if size == len(tails):
            tails.append(value)
            at.append(position)
        else:
            tails[size], at[size] = value, position
        before.append(at[size - 1] if size else -1)
    found: set[int] = set()
    position = at[-1] if at else -1
    while position >= 0:
        found.add(position)
        position = before[position]
    return found
