"""The player: which recorded round trip answers a request.

An index and no scan. A request that equals a recording byte for byte is found by the hash of its body; else it is
read, and looked up by its canonical JSON, then without what is volatile, then (where `Matching` allows) by its
turn. Equal requests are answered in the order in which they were recorded, each recording once; requests under way
at the same time are answered in order of arrival.
"""

import os
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from ..faults.fault import Faults
from ..faults.schedule import Faulted, Overlay
from ..matching.fingerprints import Form, compared
from ..matching.grades import Grade, Match, Matching, TurnName, grade_of
from ..matching.request_index import Alike, Places, RequestIndex
from ..matching.request_key import path_key, plain
from ..redaction.redactor import Redactor
from ..tape.delta import common_prefix, common_suffix
from ..tape.model import Headers, RoundTrip
from ..tape.reader import Cassette
from ..tape.turn_names import name_turns
from .miss import Miss
from .report import Divergence, Report, reordered

__all__ = ["Miss", "Played", "Player", "Source"]

type Source = "Cassette | str | os.PathLike[str] | Iterable[RoundTrip]"
type Taken = tuple[int, Faulted | None]


@dataclass(frozen=True, slots=True)
class Played:
    """An answer, and how it was found."""

    trip: RoundTrip
    match: Match
    faulted: Faulted | None = None
    """The fault that stands in place of the recorded answer, or in it."""


class Player:
    """`Player(cassette).answer(method, url, headers, body)` gives the recording of a request, or raises Miss.

    `matching` says what may differ (`strict` when None). `faults` are values, or a TOML file of them. Raises
    CassetteError when a fault addresses a turn that was not recorded or cannot be made of its answer.
    """

    def __init__(
        self,
        source: Source,
        *,
        matching: Matching | None = None,
        faults: Faults | None = None,
    ) -> None:
        if isinstance(source, Cassette):
            self.cassette = source
        elif isinstance(source, str | os.PathLike):
            self.cassette = Cassette.load(source)
        else:
            self.cassette = Cassette.from_round_trips(source)
        self.matching = matching or Matching()
        self.misses: list[Miss] = []
        """What was asked for and not answered, in order."""
        self._redactor = Redactor(salt=self.cassette.salt)
        self._lock = threading.Lock()
        self._building = threading.Lock()
        self._raw: defaultdict[tuple[str, str, int], Places] = defaultdict(Places)
        """Places by the hash of the body as it came, which costs a fifth of a digest."""
        self._trips: list[RoundTrip] = []
        """Answers at hand, request bodies in the cassette."""
        for place, trip in enumerate(self.cassette):
            request = trip.request
            self._raw[(request.method.upper(), path_key(request.url), hash(request.body))].add(place)
            self._trips.append(replace(trip, request=replace(request, content=self._body_of(place))))
        self._taken = bytearray(len(self._trips))
        self._index: RequestIndex | None = None
        self.turns: Sequence[TurnName] = name_turns(self._trips, self.cassette.labels)
        """The name of each recorded round trip, by place."""
        self._exact = [Match("exact", turn) for turn in self.turns]
        self._asked: list[tuple[int, Match]] = []
        self._inexact: dict[int, Match] = {}
        """Places that a request took which differs."""
        self._first: Divergence | None = None
        self._overlay = Overlay.of(faults, self._trips, self.turns) if faults is not None else None

    def _body_of(self, place: int) -> Callable[[], bytes]:
        return lambda: self.cassette[place].request.body

    @property
    def unplayed(self) -> list[int]:
        """The places in the cassette of what was not asked for so far."""
        with self._lock:
            return [place for place, taken in enumerate(self._taken) if not taken]

    @property
    def faulty(self) -> bool:
        """True when faults are put into this replay."""
        return self._overlay is not None

    @property
    def matches(self) -> list[Match]:
        """How each answer so far was found, in the order in which they were asked for."""
        with self._lock:
            return [match for _, match in self._asked]

    def answer(self, method: str, url: str, headers: Headers, body: bytes) -> RoundTrip:
        """The next recording that answers this request. Any thread may call this. Raises Miss."""
        return self.play(method, url, headers, body).trip

    def play(self, method: str, url: str, headers: Headers, body: bytes) -> Played:
        """As `answer`, with how the recording was found. Raises Miss."""
        method, path = method.upper(), path_key(url)
        body = plain(body, headers)
        # A body that is byte-equal to a recorded one needs neither parsing nor redaction.
        places = self._raw.get((method, path, hash(body)))
        if places is not None:
            with self._lock:
                taken = self._take(places)
                if taken is not None:
                    return self._played(taken, self._exact[taken[0]])
        try:
            return self._play_alike(self._index_at_hand().given(method, path, headers, body))
        except Miss as miss:
            with self._lock:
                self.misses.append(miss)
                miss.after = self._asked[-1][1].turn if self._asked else None
                if self._first is None:
                    self._first = _divergence(miss)
            raise

    def _index_at_hand(self) -> RequestIndex:
        if self._index is None:
            with self._building:
                if self._index is None:
                    self._index = RequestIndex(self.cassette, self.matching, self._redactor)
        return self._index

    def _take(self, places: Places) -> Taken | None:
        """The first of `places` that is free, and now taken unless a fault leaves it for a retry. Under the lock."""
        place = places.first_free(self._taken)
        return None if place is None else self._take_one(place)

    def _take_one(self, place: int) -> Taken:
        faulted = self._overlay.next(place) if self._overlay is not None else None
        if faulted is None or faulted.takes:
            self._taken[place] = 1
        return place, faulted

    def _played(self, taken: Taken, match: Match) -> Played:
        """Under the lock."""
        place, faulted = taken
        if faulted is not None:
            match = replace(match, fault=str(faulted.fault))
            if self._first is None:
                self._first = Divergence("api", match.turn, None, f"{match.turn}: a fault was put there, {match.fault}")
        elif match.differences and self._first is None:
            one = match.differences[0]
            self._first = Divergence("client", match.turn, one.pointer, f"{match.turn}: {one}")
        self._asked.append((place, match))
        return Played(faulted.trip if faulted is not None else self._trips[place], match, faulted)

    def _play_alike(self, given: Form) -> Played:
        index = self._index_at_hand()
        equal: Places | None = None
        for found in (index.exact, index.stable):
            places = found.get(given.exact if found is index.exact else given.stable)
            if places is None:
                continue
            equal = places
            with self._lock:
                taken = self._take(places)
            if taken is None:
                continue
            match = self._exact[taken[0]]
            if found is index.stable:
                match = replace(match, ignored=tuple(compared(index.recorded(taken[0]), given)[1]))
            with self._lock:
                return self._played(taken, match)
        if equal is not None:
            raise self._repeated(given, equal.all)
        if self.matching.is_tolerant:
            played = self._play_turn(given, index)
            if played is not None:
                return played
        raise self._miss(given, index)

    def _play_turn(self, given: Form, index: RequestIndex) -> Played | None:
        """The recording of the same turn, where all that differs may differ."""
        for alike in (index.same_turn.get(given.same_turn), index.same_place.get(given.same_place)):
            if alike is None:
                continue
            while True:
                with self._lock:
                    free = [place for place in alike.places if not self._taken[place]]
                if not free:
                    break
                place = self._nearest(alike, given, free, index)
                if place is None:
                    break
                recorded = index.recorded(place)
                found, ignored = compared(recorded, given)
                grade = grade_of(tuple(found), recorded.stable_value, given.stable_value)
                match = Match(grade, self.turns[place], tuple(found), tuple(ignored))
                with self._lock:
                    if self._taken[place]:
                        continue
                    self._inexact[place] = match
                    return self._played(self._take_one(place), match)
        return None

    def _nearest(self, alike: Alike, given: Form, free: list[int], index: RequestIndex) -> int | None:
        place = alike.nearest(given, free, index.recorded)
        if alike is index.same_turn.get(given.same_turn):
            return place
        # The client rewrote what was answered before: only a history that is alike for the greater part will do.
        recorded = index.recorded(place).items
        shared = len(set(recorded) & set(given.items))
        return place if shared * 2 >= max(len(recorded), 1) else None

    def _repeated(self, given: Form, places: Sequence[int]) -> Miss:
        by = next((str(self._inexact[place]) for place in places if place in self._inexact), None)
        return Miss(
            given.method,
            f"/{given.path}",
            None,
            [],
            len(places),
            len(self._trips),
            turn=self.turns[places[-1]],
            taken_by=by,
        )

    def _miss(self, given: Form, index: RequestIndex) -> Miss:
        path = f"/{given.path}"
        near = index.near(given, lambda place: not self._taken[place])
        if not near:
            return Miss(given.method, path, None, [], 0, len(self._trips))

        def likeness(place: int) -> tuple[bool, bool, int, int]:
            recorded = self.cassette[place].request.body
            shared = common_prefix(recorded, given.body)
            size = shared + common_suffix(recorded, given.body, min(len(recorded), len(given.body)) - shared)
            return index.is_same_turn(given, place), not self._taken[place], size, -place

        place = max(near, key=likeness)
        recorded = index.recorded(place)
        found, ignored = compared(recorded, given)
        grade: Grade = "miss"
        # A recording that was played already is no longer what this request could be.
        if index.is_same_turn(given, place) and not self._taken[place]:
            grade = grade_of(tuple(found), recorded.stable_value, given.stable_value)
        nearest = self.cassette[place]
        if nearest.index < 0:  # made by hand, so its place is its number
            nearest = replace(nearest, index=place)
        return Miss(
            given.method,
            path,
            nearest,
            found,
            0,
            len(self._trips),
            turn=self.turns[place],
            likeness=grade,
            nearest_played=bool(self._taken[place]),
            ignored=tuple(ignored),
        )

    def report(self) -> Report:
        """What was played so far, and what was not as recorded."""
        with self._lock:
            asked, misses = list(self._asked), list(self.misses)
            reached = {place for place, _ in asked}
            unplayed = [p for p, taken in enumerate(self._taken) if not taken and p not in reached]
            first = self._first
        order = list(dict.fromkeys(place for place, _ in asked))
        waiting = {self.turns[place] for place in unplayed}
        changed = tuple(miss for miss in misses if miss.is_same_turn and miss.turn in waiting)
        moved = reordered(order, self._trips, self.turns)
        if first is None and (moved or unplayed):
            turn = moved[0].turn if moved else self.turns[unplayed[0]]
            said = str(moved[0]) if moved else f"{turn} was not asked for"
            first = Divergence("client", turn, None, said)
        return Report(
            played=tuple(match for _, match in asked),
            changed=changed,
            extra=tuple(miss for miss in misses if miss not in changed),
            unplayed=tuple(self.turns[place] for place in unplayed),
            reordered=moved,
            first=first,
        )


def _divergence(miss: Miss) -> Divergence:
    """What a miss says of where the replay left the recording."""
    where = str(miss.turn) if miss.turn else f"{miss.method} {miss.path}"
    if miss.played:
        said = f"{where} was asked for once more"
    elif miss.is_same_turn or (miss.nearest is not None and not miss.nearest_played):
        said = f"{where}: {miss.differences[0] if miss.differences else 'changed'}"
    else:
        behind = f"after {miss.after}, " if miss.after else ""
        said = f"{behind}{miss.method} {miss.path} was asked for, and was not recorded"
    return Divergence("client", miss.turn, miss.pointer, said)
