"""Recorded requests by their keys, from near to far. Looked up and never scanned.

It is built when the first request comes that is not byte-equal to a recorded one: a replay without changes parses
no recorded body.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

from ..redaction.redactor import Redactor
from ..tape.model import RoundTrip
from ..tape.reader import Cassette
from .fingerprints import Form, Key, RequestForms, model_in
from .grades import Matching
from .request_key import path_key

_ID = re.compile(rb'"(?:id|call_id|tool_call_id|tool_use_id|toolUseId)"\s*:\s*"([^"\\]{1,256})"')
"""Ids in answers, whatever their framing: JSON stands in all of them as text."""
_NEAR = 64
"""How many recorded requests a miss is compared with."""


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
        """The first place that is not taken; what once was taken is not looked at again."""
        places = self.all
        while self._at < len(places):
            if not taken[places[self._at]]:
                return places[self._at]
            self._at += 1
        return None


class Alike:
    """Recordings of one key, and what sets each of them apart."""

    def __init__(self) -> None:
        self.places: list[int] = []
        self._items: dict[bytes, list[int]] | None = None
        self._words: dict[str, int] = {}

    def nearest(self, given: Form, free: Sequence[int], form_of: Callable[[int], Form]) -> int:
        """The one of `free` that shares most with a request: whole items first, then words that no other has, then
        the order in which they were recorded."""
        if len(free) == 1:
            return free[0]
        items, words = self._marks(form_of)
        shared: Counter[int] = Counter()
        for item in set(given.items):
            shared.update(items.get(item, ()))
        own: Counter[int] = Counter(words[word] for word in given.words if word in words)
        return max(free, key=lambda place: (shared[place], own[place], -place))

    def _marks(self, form_of: Callable[[int], Form]) -> tuple[dict[bytes, list[int]], dict[str, int]]:
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


class RequestIndex:
    """The recorded requests of a cassette under one `Matching`."""

    def __init__(self, cassette: Cassette, matching: Matching, redactor: Redactor) -> None:
        self._cassette = cassette
        self._forms = RequestForms(matching, redactor, ids_on_tape(cassette))
        self.exact: defaultdict[Key, Places] = defaultdict(Places)
        self.stable: defaultdict[Key, Places] = defaultdict(Places)
        self.same_turn: defaultdict[Key, Alike] = defaultdict(Alike)
        self.same_place: defaultdict[Key, Alike] = defaultdict(Alike)
        self._turns: defaultdict[tuple[str, str, bytes], list[int]] = defaultdict(list)
        """By the answers so far alone: the recordings that are the same turn, whatever differs."""
        self._endpoints: defaultdict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        """`(number of items, place)` by method and path without model."""
        for place, trip in enumerate(cassette):
            self._add(place, self._form(trip))

    def given(self, method: str, path: str, headers: tuple[tuple[str, str], ...], body: bytes) -> Form:
        """The form of a request that came in."""
        return self._forms.form(method, path, headers, body, redacted=False)

    def recorded(self, place: int) -> Form:
        """The form of a recorded request."""
        return self._form(self._cassette[place])

    def _form(self, trip: RoundTrip) -> Form:
        request = trip.request
        return self._forms.form(
            request.method.upper(), path_key(request.url), request.headers, request.body, redacted=True
        )

    def _add(self, place: int, form: Form) -> None:
        self.exact[form.exact].add(place)
        self.stable[form.stable].add(place)
        self.same_turn[form.same_turn].places.append(place)
        self.same_place[form.same_place].places.append(place)
        endpoint = model_in(form.stable_path)[0]
        self._turns[(form.method, endpoint, form.turn)].append(place)
        self._endpoints[(form.method, endpoint)].append((len(form.items), place))

    def is_same_turn(self, given: Form, place: int) -> bool:
        """True when a recording has the request's answers behind it, and no others."""
        return place in self._turns.get((given.method, model_in(given.stable_path)[0], given.turn), ())

    def near(self, given: Form, free: Callable[[int], bool]) -> list[int]:
        """Recordings to compare a request with that none answers, the likeliest first: those of its turn, then
        those of its endpoint with a history as long; what was not played before what was."""
        endpoint = model_in(given.stable_path)[0]
        turn = self._turns.get((given.method, endpoint, given.turn), [])
        size = len(given.items)
        others = sorted(self._endpoints.get((given.method, endpoint), []), key=lambda one: abs(one[0] - size))
        known = set(turn)
        ranked = [*turn[:_NEAR], *[place for _, place in others[:_NEAR] if place not in known]]
        return sorted(ranked, key=lambda place: (not free(place), place not in known))
