"""Recorded requests by their keys, from the closest match to the loosest. Each step is a lookup, never a scan.

The index is built when the first request is not byte-equal to a recorded one. A replay without changes parses no
recorded body.
"""

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from ..frozen import frozen
from ..redaction.redactor import Redactor
from ..regex import regex
from ..tape.model import RoundTrip
from ..tape.reader import Cassette
from .bindings import Bindings
from .fingerprints import Fingerprint, Fingerprints, Key, compared, model_in, texts_in_same_places
from .fresh_values import uuids
from .grades import Grade, Matching, grade_of
from .json_diff import Difference
from .request_fields import conversation, is_models
from .request_key import is_without_address, path_key
from .working_folders import WorkingFolders

_ID = regex(rb'"(?:id|call_id|tool_call_id|tool_use_id|toolUseId)"\s*:\s*"([^"\\]{1,256})"')
"""Ids in answers. Every framing contains the JSON as text, so a search in the bytes finds them."""
_NEAR = 64
"""How many recorded requests a miss is compared with."""
_KEPT = 1_000_000
"""The fingerprints of so many bytes of recorded bodies are kept; a fingerprint takes several times as much memory."""


def ids_on_tape(trips: Iterable[RoundTrip]) -> frozenset[str]:
    """The ids that recorded answers gave."""
    found: set[bytes] = set()
    for trip in trips:
        if trip.response is not None:
            found.update(_ID.findall(trip.response.body))
    return frozenset(name.decode("utf-8", "replace") for name in found)


class Places:
    """Recordings of one key, in the order in which they were recorded."""

    __slots__ = ("_at", "all")

    def __init__(self) -> None:
        self.all: list[int] = []
        self._at = 0

    def add(self, place: int) -> None:
        self.all.append(place)

    def first_free(self, taken: bytearray) -> int | None:
        """The first place that is not taken; a place that was taken is never looked at again."""
        places = self.all
        while self._at < len(places):
            if not taken[places[self._at]]:
                return places[self._at]
            self._at += 1
        return None


class Group:
    """Recordings with the same key, and what distinguishes each of them."""

    def __init__(self) -> None:
        self.places: list[int] = []
        self._items: dict[bytes, list[int]] | None = None
        self._words: dict[str, int] = {}

    def nearest(self, given: Fingerprint, free: Sequence[int], form_of: Callable[[int], Fingerprint]) -> int:
        """The one of `free` that is most similar to a request: by equal items, then by words that only one recording
        has, then by the order of recording."""
        if len(free) == 1:
            return free[0]
        items, words = self._marks(form_of)
        shared: Counter[int] = Counter()
        for item in set(given.items):
            shared.update(items.get(item, ()))
        own: Counter[int] = Counter(words[word] for word in given.words if word in words)
        return max(free, key=lambda place: (shared[place], own[place], -place))

    def _marks(self, form_of: Callable[[int], Fingerprint]) -> tuple[dict[bytes, list[int]], dict[str, int]]:
        if self._items is None:
            items: defaultdict[bytes, list[int]] = defaultdict(list)
            words: defaultdict[str, list[int]] = defaultdict(list)
            for place in self.places:
                form = form_of(place)
                for item in set(form.items):
                    items[item].append(place)
                for word in form.words:
                    words[word].append(place)
            everywhere = len(self.places)
            self._words = {word: places[0] for word, places in words.items() if len(places) == 1}
            self._items = {item: places for item, places in items.items() if len(places) < everywhere}
        return self._items, self._words


@frozen
class Graded:
    """How a request differs from a recorded one."""

    grade: Grade
    differences: tuple[Difference, ...]
    """Differences in compared fields."""
    ignored: tuple[Difference, ...]
    """Differences in ignored fields."""


class RequestIndex:
    """The recorded requests of a cassette under one `Matching`."""

    def __init__(
        self,
        cassette: Cassette,
        matching: Matching,
        redactor: Redactor,
        folders: WorkingFolders | None = None,
        asked: str | None = None,
    ) -> None:
        self._cassette = cassette
        self._asked = asked
        """The path that recordings without an address are taken to be of."""
        self._folders = WorkingFolders() if folders is None else folders
        self._fingerprints = Fingerprints(matching, redactor, ids_on_tape(cassette), self._folders)
        self._exact: defaultdict[Key, Places] = defaultdict(Places)
        self._stable: defaultdict[Key, Places] = defaultdict(Places)
        self._same_turn: defaultdict[Key, Group] = defaultdict(Group)
        self._same_place: defaultdict[Key, Group] = defaultdict(Group)
        self._turns: defaultdict[tuple[str, str, bytes], list[int]] = defaultdict(list)
        """By the answers so far only: the recordings of the same turn, whatever else differs."""
        self._apart: defaultdict[Key, list[int]] | None = None
        self._apart_with = 0
        """How many folders were known then."""
        self._taking_apart = threading.Lock()
        self._models: set[str] = set()
        """The values that recorded answers brought in."""
        self._endpoints: defaultdict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        """`(number of items, place)` by method and path without model."""
        self._kept: dict[int, Fingerprint] = {}
        """The fingerprints of the first recordings: a miss or a match asks for them again at once."""
        self._kept_with = 0
        """How many folders were known then."""
        left = _KEPT
        for place, trip in enumerate(cassette):
            form = self._fingerprint(trip)
            self._add(place, form)
            left -= len(form.body)
            if left >= 0:
                self._kept[place] = form
        self._kept_with = len(self._folders)

    def given(self, method: str, path: str, headers: tuple[tuple[str, str], ...], body: bytes) -> Fingerprint:
        """The fingerprint of a received request."""
        return self._fingerprints.of(method, path, headers, body)

    def given_earlier(
        self, method: str, path: str, headers: tuple[tuple[str, str], ...], body: bytes
    ) -> Iterator[Fingerprint]:
        """The fingerprints of a received request by fewer rules: the recording may be older than the others."""
        return self._fingerprints.earlier(method, path, headers, body)

    def recorded(self, place: int) -> Fingerprint:
        """The fingerprint of a recorded request."""
        if self._kept_with != len(self._folders):  # a text is taken apart by the folders that are known
            self._kept, self._kept_with = {}, len(self._folders)
        kept = self._kept.get(place)
        return self._fingerprint(self._cassette[place]) if kept is None else kept

    def _fingerprint(self, trip: RoundTrip) -> Fingerprint:
        request = trip.request
        path = self._asked if self._asked is not None and is_without_address(request.url) else path_key(request.url)
        return self._fingerprints.of(request.method.upper(), path, request.headers, request.body)

    def _add(self, place: int, form: Fingerprint) -> None:
        self._exact[form.exact].add(place)
        self._stable[form.stable].add(place)
        self._same_turn[form.same_turn].places.append(place)
        self._same_place[form.same_place].places.append(place)
        endpoint = model_in(form.stable_path)[0]
        self._turns[(form.method, endpoint, form.turn)].append(place)
        self._endpoints[(form.method, endpoint)].append((len(form.items), place))

    def equal_to(self, given: Fingerprint) -> list[tuple[Places, bool]]:
        """Recordings of an equal request, and True if they are equal without ignoring anything."""
        exact, stable = self._exact.get(given.exact), self._stable.get(given.stable)
        return [(places, places is exact) for places in (exact, stable) if places is not None]

    def same_but_for_values(self, given: Fingerprint) -> list[int]:
        """The places of recordings that differ at most in values that are new in each run."""
        given.learn_folders()
        with self._taking_apart:  # several threads would each do it
            while self._apart is None or self._apart_with != len(self._folders):
                self._apart_with = len(self._folders)
                self._apart = self._taken_apart()
            apart = self._apart
        return apart.get(given.apart[0], [])

    def unify(self, bindings: Bindings, recorded: Fingerprint, given: Fingerprint) -> bool:
        """Bind the values of a recording that is the same but for values. False when they do not go together."""
        return bindings.unify(recorded.apart[1], given.apart[1], self._models)

    def _taken_apart(self) -> defaultdict[Key, list[int]]:
        found: defaultdict[Key, list[int]] = defaultdict(list)
        clients: set[str] = set()
        for place, trip in enumerate(self._cassette):
            form = self._fingerprint(trip)
            form.learn_folders()
            found[form.apart[0]].append(place)
            history = conversation(form.fields)
            for item in (*(value for value in form.fields.values() if value is not history), *history):
                mine, theirs = (self._models, clients) if is_models(item) else (clients, self._models)
                for value in form.values_of(item):
                    mine.update({value.text, *uuids(value.text)} - theirs)
        return found

    def learn(self, bindings: Bindings, place: int, given: Fingerprint) -> None:
        """Bind what two requests of one turn have in the same places, although they differ in other ways."""
        for recorded, now in texts_in_same_places(self.recorded(place).stable_value, given.stable_value):
            bindings.learn(bindings.split(recorded), bindings.split(now), self._models)

    def same_turn_as(self, given: Fingerprint) -> list[Group]:
        """Recordings of the same turn, then those after the same number of answers."""
        groups = (self._same_turn.get(given.same_turn), self._same_place.get(given.same_place))
        return [group for group in groups if group is not None]

    def nearest(self, group: Group, given: Fingerprint, free: Sequence[int]) -> int | None:
        """The one of `free` that is most similar to a request; None when none is similar enough to be its turn."""
        place = group.nearest(given, free, self.recorded)
        if group is self._same_turn.get(given.same_turn):
            return place
        # The client changed earlier answers. It is the same turn only if at least half of the history is equal.
        recorded = self.recorded(place).items
        shared = len(set(recorded) & set(given.items))
        return place if shared * 2 >= max(len(recorded), 1) else None

    def graded(self, place: int, given: Fingerprint) -> Graded:
        """How a request differs from the recording at `place`."""
        counting, ignored = compared(self.recorded(place), given)
        return Graded(grade_of(tuple(counting)), tuple(counting), tuple(ignored))

    def is_same_turn(self, given: Fingerprint, place: int) -> bool:
        """True when the recording comes after exactly the same answers as the request."""
        return place in self._turns.get((given.method, model_in(given.stable_path)[0], given.turn), ())

    def near(self, given: Fingerprint, free: Callable[[int], bool]) -> list[int]:
        """Recordings to compare with a missed request, most likely first: those of its turn, then those of its endpoint
        with a history of similar length. Recordings that were not played yet come first."""
        endpoint = model_in(given.stable_path)[0]
        turn = self._turns.get((given.method, endpoint, given.turn), [])
        size = len(given.items)
        others = sorted(self._endpoints.get((given.method, endpoint), []), key=lambda one: abs(one[0] - size))
        known = set(turn)
        ranked = [*turn[:_NEAR], *[place for _, place in others[:_NEAR] if place not in known]]
        return sorted(ranked, key=lambda place: (not free(place), place not in known))
