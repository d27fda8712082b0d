"""The beginning of a history whose pairs are final, so that the next request pairs only what is new.

Where everything fits together, later messages cannot change how the calls and results before the last answer are
paired: each of these answers has its results, and an answer after them ends the place where they belong.
"""

from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import field
from threading import Lock

from turntape.cassettes.frozen import mutable

from ...wire.protocols.traits import Pairing
from ...wire.shared_tuple import in_both, shared
from ...wire.values import Part
from .model import Entry, ResultPart, known_ids

_KEPT = 8
"""How many beginnings are remembered: those of agents that take turns."""


@mutable(eq=False)
class Settled:
    """The calls and results of a beginning, in which nothing is missing, repeated or out of place."""

    rules: Pairing
    history: Sequence[Entry] = ()
    """The latest history that begins so."""
    count: int = 0
    """How many of its entries are settled."""
    calls: dict[str, Part] = field(default_factory=dict[str, Part])
    """By id."""
    places: dict[str, int] = field(default_factory=dict[str, int])
    """The order of the calls with ids."""
    results: dict[str, ResultPart] = field(default_factory=dict[str, ResultPart])
    """By id."""
    listed: set[str] = field(default_factory=set[str])
    """As `known_ids`."""
    nameless: set[tuple[str | None, str]] = field(default_factory=set[tuple[str | None, str]])
    """The names and texts of results without ids."""
    refers: bool = False
    """True when parts of answers are only named, and some of them are not known."""

    def take(self, entries: Sequence[Entry], history: Sequence[Entry]) -> None:
        """These entries of a history, which follow the settled ones, are settled too."""
        self.history, self.count = history, self.count + len(entries)
        self.listed |= known_ids(entries)
        for entry in entries:
            self.calls.update((call.id, call.part) for call in entry.calls if call.id)
            for call in entry.calls:
                if call.id:
                    self.places.setdefault(call.id, len(self.places))
            self.results.update((result.id, result) for result in entry.results if result.id)
            self.nameless.update(
                (one.name, one.part.result.text) for one in entry.results if one.id is None and one.part.result
            )
            self.refers = self.refers or entry.is_open

    def repeats(self, result: ResultPart) -> bool:
        """True for a result without an id that an earlier one repeats word by word."""
        given = result.part.result
        return result.id is None and given is not None and (result.name, given.text) in self.nameless


class Beginnings:
    """The settled beginnings of recent histories. Any thread may use it: each gets a beginning for itself."""

    def __init__(self, kept: int = _KEPT) -> None:
        self._recent: deque[Settled] = deque(maxlen=kept)
        self._lock = Lock()

    def of(self, entries: Sequence[Entry], rules: Pairing) -> Settled:
        """The longest one with which this history begins, which the caller gives back; a new one without any."""
        with self._lock:
            fitting = [one for one in self._recent if one.rules == rules and _begins(entries, one)]
            if not fitting:
                return Settled(rules)
            best = max(fitting, key=lambda one: one.count)
            self._recent.remove(best)
            return best

    def give_back(self, settled: Settled) -> None:
        """Keep it for the next history."""
        if settled.count:
            with self._lock:
                self._recent.append(settled)


def _begins(entries: Sequence[Entry], settled: Settled) -> bool:
    """Whether a history begins with the settled entries, whatever is said in messages without calls and results."""
    history, last = settled.history, settled.count - 1
    if len(entries) <= last or not (history[last] is entries[last] or history[last].is_like(entries[last])):
        return False
    same = shared(history, entries)
    while same < settled.count:
        first, place, count = in_both(history, entries)
        if not (first == place <= settled.count <= first + count):
            return False
        pairs = zip(history[same:first], entries[same:first], strict=True)
        return all(one is other or one.is_like(other) for one, other in pairs)
    return True


def last_answer(entries: Sequence[Entry]) -> int:
    """The place where the last answer begins, which may be several messages; 0 without one."""
    place = len(entries)
    while place and not entries[place - 1].is_answer:
        place -= 1
    while place and entries[place - 1].is_answer:
        place -= 1
    return place


def is_whole(entries: Sequence[Entry], listed: Collection[str] = ()) -> bool:
    """True when all calls with an id have their results among these entries, and all results with an id their calls.

    `listed` are the ids of earlier calls.
    """
    calls = {call.id for entry in entries for call in entry.calls} - {None}
    results = {result.id for entry in entries for result in entry.results} - {None}
    known = known_ids(entries)
    return calls <= results and all(one in known or one in listed for one in results)
