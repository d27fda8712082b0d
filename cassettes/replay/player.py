"""The player: which recorded round trip answers a request.

A request goes one way: its key, the recordings under that key, the first free one, how well it matches, the answer.
It is looked up by the hash of its bytes, then by its canonical JSON, then without ignored fields, then (where
`Matching` allows) by its turn. If nothing is found, the miss names the recording that is most like the request.

Nothing is scanned: each step is a lookup in an index. Equal requests are answered in the order in which they were
recorded, each recording once; concurrent requests are answered in the order of their arrival.
"""

import os
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from ..faults.fault import Faults
from ..faults.schedule import Faulted, Overlay
from ..frozen import frozen
from ..matching.bindings import Bindings
from ..matching.fingerprints import Fingerprint
from ..matching.grades import Match, Matching
from ..matching.json_diff import Difference
from ..matching.request_index import Places, RequestIndex
from ..matching.request_key import is_without_address, path_key, plain
from ..matching.volatile_text import names_for
from ..redaction.marks import MARK
from ..redaction.prose_of_tape import prose_of, without_prose
from ..redaction.redactor import Redactor
from ..tape.delta import common_prefix, common_suffix
from ..tape.model import Headers, RoundTrip
from ..tape.reader import Cassette
from ..tape.turn_names import TurnName, name_turns
from .miss import Miss
from .report import Divergence, Report, reordered
from .rewriting import rewritten
from .senders import Senders
from .uploads import is_upload

__all__ = ["Miss", "Played", "Player", "Source"]

type Source = "Cassette | str | os.PathLike[str] | Iterable[RoundTrip]"
type Taken = tuple[int, Faulted | None]


@frozen
class Played:
    """An answer, and how it was found."""

    trip: RoundTrip
    match: Match
    faulted: Faulted | None = None
    """The fault that replaced or changed the recorded answer."""


class Player:
    """`Player(cassette).answer(method, url, headers, body)` gives the recorded answer of a request, or raises Miss.

    `matching` says what may differ (`strict` when None). `on_miss` is called for each request that is not answered.
    `faults` are `Fault` values, or the path of a TOML file of them. `keep` adds to the settings' `redact_keep`. Raises
    CassetteError when a fault names a turn that was not recorded, or cannot be built from its answer.
    """

    def __init__(
        self,
        source: Source,
        *,
        matching: Matching | None = None,
        faults: Faults | None = None,
        on_miss: Callable[[Miss], object] | None = None,
        keep: Sequence[str] = (),
    ) -> None:
        self._on_miss = on_miss
        if isinstance(source, Cassette):
            self.cassette = source
        elif isinstance(source, str | os.PathLike):
            self.cassette = Cassette.load(source)
        else:
            self.cassette = Cassette.from_round_trips(source)
        self.cassette = self.cassette.without_tool_wire()
        self.matching = matching or Matching()
        self.misses: list[Miss] = []
        """The requests that were not answered, in order."""
        self._message_misses: list[Miss] = []
        self._redactor = Redactor.from_config(salt=self.cassette.salt).keeping(keep)
        self._prose = prose_of(self.cassette)
        """Removes the prose of requests, when that of the recording was removed."""
        self._lock = threading.Lock()
        self._building = threading.Lock()
        self._by_bytes: defaultdict[tuple[str, str, int], Places] = defaultdict(Places)
        """Places by the hash of the received body, which costs a fifth of a digest."""
        self._by_path: defaultdict[tuple[str, str], Places] = defaultdict(Places)
        """Places by method and path, with and without the query."""
        self._nowhere: str | None = None
        """The path of recordings whose address was replaced before they were imported: `**REDACTED**`."""
        self._trips: list[RoundTrip] = []
        """The recordings; their answers are in memory, their request bodies are read from the cassette."""
        for place, trip in enumerate(self.cassette):
            request = trip.request
            self._by_bytes[(request.method.upper(), path_key(request.url), hash(request.body))].add(place)
            for key in {path_key(request.url), path_key(request.url).partition("?")[0]}:
                self._by_path[(request.method.upper(), key)].add(place)
            if is_without_address(request.url):
                self._nowhere = path_key(request.url)
            self._trips.append(replace(trip, request=replace(request, content=self._body_of(place))))
        self._earliest = bool(self.matching.ignore) and all(trip.route == "import" for trip in self._trips)
        """True where what is ignored does not choose among recordings of equal requests, as with a matcher."""
        self._taken = bytearray(len(self._trips))
        self._indexes: dict[str | None, RequestIndex] = {}
        """By the path that recordings without an address are taken to be of."""
        self.turns: Sequence[TurnName] = name_turns(self._trips, self.cassette.labels)
        """The name of each recorded round trip, by place."""
        self._exact = [Match("exact", turn) for turn in self.turns]
        self._asked: list[tuple[int, Match]] = []
        self.senders = Senders()
        self._inexact: dict[int, Match] = {}
        """Places that were played for a different request."""
        self._uploads: dict[str, int] = {}
        """The places of recorded uploads, by path; they are neither expected nor counted."""
        for place, trip in enumerate(self._trips):
            if trip.response is not None and is_upload(trip.request.method, trip.request.url):
                self._uploads[path_key(trip.request.url)] = place
                self._taken[place] = 1
        self._first: Divergence | None = None
        self.bindings = Bindings()
        """The values of this run that replace recorded ones."""
        self._schedule = Overlay.of(faults, self._trips, self.turns) if faults is not None else None

    def _body_of(self, place: int) -> Callable[[], bytes]:
        return lambda: self.cassette[place].request.body

    def leave_out(self, trips: Iterable[RoundTrip]) -> None:
        """Do not expect these recordings to be requested: something else plays them."""
        others = {(trip.index, trip.started_at) for trip in trips}
        with self._lock:
            for place, trip in enumerate(self._trips):
                if (trip.index, trip.started_at) in others:
                    self._taken[place] = 1

    @property
    def unplayed(self) -> list[int]:
        """The places in the cassette of the recordings that were not played yet."""
        with self._lock:
            return [place for place, taken in enumerate(self._taken) if not taken]

    @property
    def faulty(self) -> bool:
        """True when this replay injects faults."""
        return self._schedule is not None

    @property
    def matches(self) -> list[Match]:
        """How each answer was found, in the order of the requests."""
        with self._lock:
            return [match for _, match in self._asked]

    def answer(self, method: str, url: str, headers: Headers, body: bytes) -> RoundTrip:
        """The next recording that answers this request. Any thread may call this. Raises Miss."""
        return self.play(method, url, headers, body).trip

    def play(self, method: str, url: str, headers: Headers, body: bytes) -> Played:
        """As `answer`, with how the recording was found. Raises Miss."""
        url = self._redactor.knowing(headers).url(url) if "?" in url else url
        method, path, body = method.upper(), path_key(url), plain(body, headers)
        self.senders.note()
        asked = path
        if self._nowhere is not None and (method, path) not in self._by_path:
            path = self._nowhere
        if self._prose is not None:
            body = without_prose(self._prose, self._redactor.knowing(headers).body(body))
        if path in self._uploads and method == "POST":
            place = self._uploads[path]
            return Played(self._trips[place], self._exact[place])
        if self.matching.profile == "sequence":
            return self._play_in_sequence(method, path, asked, headers, body)
        # A body that is byte-equal to a recorded one needs neither parsing nor redaction.
        played = None if self._earliest else self._play_bytes((method, path, hash(body)))
        if played is not None:
            return self._in_this_run(played)
        index = self._index_at_hand(asked if path != asked else None)
        given = index.given(method, asked, headers, body)
        try:
            played = self._play_equal(index, given) or self._play_same_but_for_values(index, given)
            if played is None and MARK in given.body:
                played = self._play_earlier(index, index.given_earlier(method, asked, headers, body))
            if played is None:
                given = self._as_recorded(given)
                played = self._play_same_turn(index, given)
            if played is None:
                raise self._miss(index, given)
        except Miss as miss:
            self._note_miss(miss)
            raise
        return self._in_this_run(played)

    def _play_earlier(self, index: RequestIndex, given: Iterator[Fingerprint]) -> Played | None:
        """The next free recording that is older than a rule that replaces secrets. Raises Miss as for today's."""
        for one in given:
            if played := self._play_equal(index, one) or self._play_same_but_for_values(index, one):
                return played
        return None

    def _play_in_sequence(self, method: str, path: str, asked: str, headers: Headers, body: bytes) -> Played:
        """The next recording of this method and path; one with the same query comes first. Raises Miss."""
        endpoint = path.partition("?")[0]
        index = self._index_at_hand(asked if path != asked else None)
        given = index.given(method, asked, headers, body)
        with self._lock:
            taken = self._take_first(self._by_path[(method, path)])
            if taken is None:
                taken = self._take_first(self._by_path[(method, endpoint)])
            known = self._by_path[(method, path)].all or self._by_path[(method, endpoint)].all
            if taken is None and known and self.matching.repeats:
                taken = self._take(known[0])
        if taken is not None:
            return self._played_for(index, given, taken)
        miss = self._repeated(given, known, index) if known else self._miss(index, given)
        self._note_miss(miss)
        raise miss

    def _played_for(self, index: RequestIndex, given: Fingerprint, taken: Taken) -> Played:
        """Note what was played for a request that may differ from the recorded one."""
        graded = index.graded(taken[0], given)
        match = Match(graded.grade, self.turns[taken[0]], graded.differences, graded.ignored)
        with self._lock:
            return self._played(taken, match)

    def _in_this_run(self, played: Played) -> Played:
        """The answer with the values of this run in place of the recorded ones."""
        bindings = self.bindings
        if not bindings:
            return played
        return replace(played, trip=rewritten(played.trip, bindings.in_this_run))

    def _as_recorded(self, given: Fingerprint) -> Fingerprint:
        """The request with the recorded values in place of those of this run."""
        return given.with_texts(self.bindings.as_recorded) if self.bindings else given

    def _play_bytes(self, key: tuple[str, str, int]) -> Played | None:
        """The next free recording of a byte-equal request."""
        places = self._by_bytes.get(key)
        if places is None:
            return None
        with self._lock:
            taken = self._take_first(places)
            return self._played(taken, self._exact[taken[0]]) if taken is not None else None

    def _play_equal(self, index: RequestIndex, given: Fingerprint) -> Played | None:
        """The next free recording of an equal request. Raises Miss when there are some and all were played."""
        found = index.equal_to(given)
        if self._earliest:
            found.reverse()
        for places, is_exact in found:
            with self._lock:
                taken = self._take_first(places)
            if taken is None:
                continue
            match = self._exact[taken[0]]
            if not is_exact:
                match = replace(match, ignored=index.graded(taken[0], given).ignored)
            with self._lock:
                return self._played(taken, match)
        if found and self.matching.repeats:
            with self._lock:
                taken = self._take(found[0][0].all[0])
            return self._played_for(index, given, taken)
        if found:
            raise self._repeated(given, found[-1][0].all)
        return None

    def _play_same_but_for_values(self, index: RequestIndex, given: Fingerprint) -> Played | None:
        """The next free recording that differs only in values that are new in each run. Raises Miss when
        there are some and all were played."""
        if not self.matching.map_values:
            return None
        played: list[int] = []
        for place in index.same_but_for_values(given):
            form = index.recorded(place)
            with self._lock:
                trial = self.bindings.copy()
                if not index.unify(trial, form, given):
                    continue
                if self._taken[place]:
                    played.append(place)
                    continue
                known = set(self.bindings.mapped())
                self.bindings = trial
                new = tuple(mapped for mapped in trial.mapped() if mapped not in known)
                return self._played(self._take(place), replace(self._exact[place], mapped=new))
        if played and self.matching.repeats:
            with self._lock:
                return self._played(self._take(played[0]), self._exact[played[0]])
        if played:
            raise self._repeated(given, played)
        return None

    def _learned(self, index: RequestIndex, place: int, given: Fingerprint) -> tuple[Bindings, Fingerprint]:
        """What the request has in place of recorded values although it differs otherwise, and the request without."""
        if not self.matching.map_values:
            return self.bindings, given
        bindings = self.bindings.copy()
        index.learn(bindings, place, given)
        return bindings, given.with_texts(bindings.as_recorded)

    def _play_same_turn(self, index: RequestIndex, given: Fingerprint) -> Played | None:
        """The recording of the same turn, if the rules allow the differences."""
        for group in index.same_turn_as(given) if self.matching.is_tolerant else ():
            while free := self._free(group.places):
                place = index.nearest(group, given, free)
                if place is None:
                    break
                bindings, known = self._learned(index, place, given)
                graded = index.graded(place, known)
                before = set(self.bindings.mapped())
                new = tuple(mapped for mapped in bindings.mapped() if mapped not in before)
                match = Match(graded.grade, self.turns[place], graded.differences, graded.ignored, mapped=new)
                with self._lock:
                    if self._taken[place]:  # by another thread, in the meantime
                        continue
                    self.bindings = bindings
                    self._inexact[place] = match
                    return self._played(self._take(place), match)
        return None

    def _free(self, places: Sequence[int]) -> list[int]:
        with self._lock:
            return [place for place in places if not self._taken[place]]

    def _index_at_hand(self, asked: str | None = None) -> RequestIndex:
        """The index; recordings without an address follow the rules of the API that was `asked`."""
        found = self._indexes.get(asked)
        if found is None:
            with self._building:
                found = self._indexes.get(asked)
                if found is None:
                    found = RequestIndex(self.cassette, self.matching, self._redactor, self.bindings.literal, asked)
                    self._indexes[asked] = found
        return found

    def _take_first(self, places: Places) -> Taken | None:
        """The first of `places` that is free. Under the lock."""
        place = places.first_free(self._taken)
        return None if place is None else self._take(place)

    def _take(self, place: int) -> Taken:
        """Mark a recording as played, unless a fault leaves it for the retry. Under the lock."""
        faulted = self._schedule.next(place) if self._schedule is not None else None
        if faulted is None or faulted.takes:
            self._taken[place] = 1
        return place, faulted

    def _played(self, taken: Taken, match: Match) -> Played:
        """Note what was played. Under the lock."""
        place, faulted = taken
        if faulted is not None:
            match = replace(match, fault=str(faulted.fault))
            self._first = self._first or Divergence(
                "api", match.turn, None, f"{match.turn}: a fault was injected, {match.fault}"
            )
        elif match.differences:
            one = match.differences[0]
            self._first = self._first or Divergence("client", match.turn, one.pointer, f"{match.turn}: {one}")
        self._asked.append((place, match))
        return Played(faulted.trip if faulted is not None else self._trips[place], match, faulted)

    def _note_miss(self, miss: Miss) -> None:
        with self._lock:
            self.misses.append(miss)
            miss.after = self._asked[-1][1].turn if self._asked else None
            self._first = self._first or _divergence(miss)
        self._say(miss)

    def _say(self, miss: Miss) -> None:
        if self._on_miss is not None:
            self._on_miss(miss)

    def add_message_miss(self, miss: Miss) -> None:
        """Report a message of a WebSocket session that no recorded message answers. Any thread may call this."""
        with self._lock:
            self.misses.append(miss)
            self._message_misses.append(miss)
            self._first = self._first or _divergence(miss)
        self._say(miss)

    def refuse(self, miss: Miss, place: int) -> None:
        """Take an answer back: the recording at `place` is free again, and its request is a miss."""
        with self._lock:
            self._taken[place] = 0
            self._asked = [(at, match) for at, match in self._asked if at != place]
        self._note_miss(miss)

    def _repeated(self, given: Fingerprint, places: Sequence[int], index: RequestIndex | None = None) -> Miss:
        """The miss of a request whose recordings were all played; with an `index`, whether the first is its own."""
        taken_by = next((str(self._inexact[place]) for place in places if place in self._inexact), None)
        is_one_more = index is not None and _is_another(index.graded(places[0], given).differences)
        return Miss(
            given.method,
            f"/{given.path}",
            None,
            list(index.graded(places[-1], given).differences) if index is not None and is_one_more else [],
            len(places),
            len(self._trips),
            turn=self.turns[places[-1]],
            taken_by=taken_by,
            is_one_more=is_one_more,
        )

    def _miss(self, index: RequestIndex, given: Fingerprint) -> Miss:
        """The miss of a request that was not recorded, with the recording that is most like it."""
        path = f"/{given.path}"
        place = self._most_like(index, given)
        if place is None:
            return Miss(given.method, path, None, [], 0, len(self._trips))
        graded = index.graded(place, self._learned(index, place, given)[1])
        # Do not compare with a recording that was already played.
        is_turn = index.is_same_turn(given, place) and not self._taken[place]
        nearest = self.cassette[place]
        if nearest.index < 0:  # made in memory, so its place is its number
            nearest = replace(nearest, index=place)
        return Miss(
            given.method,
            path,
            nearest,
            list(graded.differences),
            0,
            len(self._trips),
            turn=self.turns[place],
            likeness=graded.grade if is_turn else "miss",
            nearest_played=bool(self._taken[place]),
            ignored=graded.ignored,
        )

    def _most_like(self, index: RequestIndex, given: Fingerprint) -> int | None:
        """The recording of the same turn, or else a free one, or else the one with most equal bytes."""

        def likeness(place: int) -> tuple[bool, bool, int, int]:
            recorded = self.cassette[place].request.body
            shared = common_prefix(recorded, given.body)
            size = shared + common_suffix(recorded, given.body, min(len(recorded), len(given.body)) - shared)
            return index.is_same_turn(given, place), not self._taken[place], size, -place

        return max(index.near(given, lambda place: not self._taken[place]), key=likeness, default=None)

    def report(self) -> Report:
        """What was played so far, and what differed from the recording."""
        with self._lock:
            asked, misses = list(self._asked), list(self.misses)
            within = list(self._message_misses)
            reached = {place for place, _ in asked}
            unplayed = [p for p, taken in enumerate(self._taken) if not taken and p not in reached]
            first = self._first
        order = list(dict.fromkeys(place for place, _ in asked))
        waiting = {self.turns[place] for place in unplayed}
        changed = tuple(miss for miss in misses if miss.is_same_turn and (miss.turn in waiting or miss in within))
        in_sequence = self.matching.profile == "sequence"
        moved = () if in_sequence else reordered(order, self._trips, self.turns, at_once=self.senders.at_once)
        if first is None and (moved or unplayed):
            turn = moved[0].turn if moved else self.turns[unplayed[0]]
            said = str(moved[0]) if moved else f"{turn} was not requested"
            first = Divergence("client", turn, None, said)
        return Report(
            played=tuple(match for _, match in asked),
            changed=changed,
            extra=tuple(miss for miss in misses if miss not in changed),
            unplayed=tuple(self.turns[place] for place in unplayed),
            reordered=moved,
            first=first,
            mapped=tuple(self.bindings.mapped()),
        )


def _divergence(miss: Miss) -> Divergence:
    """The first divergence from the recording, according to a miss."""
    where = str(miss.turn) if miss.turn else f"{miss.method} {miss.path}"
    if miss.is_one_more:
        said = f"one request more than the recorded {miss.played} of {miss.method} {miss.path}"
    elif miss.played:
        said = f"{where} was requested again"
    elif miss.is_same_turn or (miss.nearest is not None and not miss.nearest_played):
        said = f"{where}: {miss.differences[0] if miss.differences else 'changed'}"
    else:
        behind = f"after {miss.after}, " if miss.after else ""
        said = f"{behind}{miss.method} {miss.path} was requested, but it was not recorded"
    return Divergence("client", miss.turn, miss.pointer, said)


def _is_another(found: Sequence[Difference]) -> bool:
    """True when more differs than texts that look new in each run."""
    return bool(found) and not names_for(found)
