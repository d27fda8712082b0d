"""The result of a replay: what was played, and what differed from the recording."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
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


def reordered(
    asked: Sequence[int], trips: Sequence[RoundTrip], names: Sequence[TurnName], *, at_once: bool = False
) -> tuple[Reordered, ...]:
    """The smallest set of moved turns that explains the order of the requests.

    A run that sends one request at a time has one order. In a run that sends several at once, when it was recorded or
    in this replay (`at_once`), which of them comes first is random: only the turns of one conversation have an order.
    """
    if len(_longest_rising(asked)) == len(asked):
        return ()
    if not at_once and not _overlap(trips):
        return tuple(_moved(asked, trips, names))
    conversations: dict[str, list[int]] = {}
    for place in asked:
        if (thread := names[place].thread) is not None:
            conversations.setdefault(thread, []).append(place)
    return tuple(one for turns in conversations.values() for one in _moved(turns, trips, names))


def _moved(asked: Sequence[int], trips: Sequence[RoundTrip], names: Sequence[TurnName]) -> Iterator[Reordered]:
    kept = _longest_rising(asked)
    in_order = [(at, asked[at]) for at in sorted(kept)]
    for at, place in enumerate(asked):
        if at in kept:
            continue
        earlier = [other for when, other in in_order if when > at and _was_before(trips, other, place)]
        later = [other for when, other in in_order if when < at and _was_before(trips, place, other)]
        if earlier:
            yield Reordered(names[place], names[earlier[0]])
        elif later:
            yield Reordered(names[later[0]], names[place])


def _overlap(trips: Sequence[RoundTrip]) -> bool:
    """True when a request was sent before an earlier one had its answer."""
    timed = sorted((trip.started_at, _ended(trip)) for trip in trips if trip.started_at and trip.ended_at)
    return any(later[0] < earlier[1] for earlier, later in pairwise(timed))


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
