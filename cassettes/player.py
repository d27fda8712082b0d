"""The player: which recorded round trip answers a request.

An index and no scan. Equal requests are answered in the order in which they were recorded, each recording once;
requests under way at the same time are answered in order of arrival.
"""

import os
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import replace

import orjson

from .canonical import body_key, path_key, plain
from .delta import common_prefix, common_suffix
from .difference import Difference, differences
from .errors import ReplayMiss
from .model import Headers, RoundTrip
from .reader import Cassette
from .redaction import Redactor

type Source = "Cassette | str | os.PathLike[str] | Iterable[RoundTrip]"

_COMPARED = 64
"""How many recorded requests a miss is compared with."""


class Miss(ReplayMiss):
    """Says which recording was nearest to a request that none answers, and where they differ."""

    def __init__(
        self, method: str, path: str, nearest: RoundTrip | None, found: list[Difference], played: int, recorded: int
    ) -> None:
        self.method = method
        self.path = path
        self.nearest = nearest
        """The recorded round trip that is most like the request; None when none has its method and path."""
        self.differences = found
        """Where request and nearest recording differ; empty when all equal recordings were played already."""
        self.played = played
        """How many recordings equal the request, all of them played."""
        super().__init__(self._sentence(recorded))

    @property
    def pointer(self) -> str | None:
        return self.differences[0].pointer if self.differences else None

    def _sentence(self, recorded: int) -> str:
        what = f"no recorded round trip answers {self.method} {self.path}"
        if self.played:
            times = "once" if self.played == 1 else f"{self.played} times"
            return (
                f"{what}: it was recorded {times} and is asked for once more; record again if the agent now repeats it"
            )
        if self.nearest is None:
            return (
                f"{what}: none of the {recorded} recorded has this method and path; record again, or check the base URL"
            )
        first, *others = self.differences or [Difference("", "changed")]
        more = f" (and {len(others)} more: {', '.join(d.pointer or '/' for d in others)})" if others else ""
        return f"{what}: the nearest is #{self.nearest.index}, where {first}{more}; record again if the change is meant"

    def document(self, status: int) -> dict[str, object]:
        """The miss as an error body that the SDKs of all APIs read as their own.

        One shape serves all: `error.message`, `error.type`, `error.code` (OpenAI and kin), `type: error` around it
        (Anthropic), `error.status` (Google), and a `message` beside it (AWS, Cohere, Mistral).
        """
        return {
            "type": "error",
            "object": "error",
            "error": {
                "type": "turntape_replay_miss",
                "code": status,
                "status": "NOT_FOUND",
                "message": str(self),
                "param": self.pointer,
            },
            "message": str(self),
            "turntape": {
                "nearest": self.nearest.index if self.nearest else None,
                "differences": [
                    {"pointer": d.pointer, "kind": d.kind, "recorded": d.recorded, "given": d.given}
                    for d in self.differences
                ],
            },
        }


class Player:
    """`Player(cassette).answer(method, url, headers, body)` gives the recording of a request, or raises Miss."""

    def __init__(self, source: Source) -> None:
        if isinstance(source, Cassette):
            self.cassette = source
        elif isinstance(source, str | os.PathLike):
            self.cassette = Cassette.load(source)
        else:
            self.cassette = Cassette.from_round_trips(source)
        self._redactor = Redactor(salt=self.cassette.salt)
        self._lock = threading.Lock()
        self._raw: dict[tuple[str, str, int], tuple[str, str, bytes]] = {}
        """Keys by the hash of the body as it came, which costs a fifth of a digest."""
        self._waiting: defaultdict[tuple[str, str, bytes], deque[int]] = defaultdict(deque)
        self._played: defaultdict[tuple[str, str, bytes], int] = defaultdict(int)
        self._by_path: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        self._trips: list[RoundTrip] = []
        """Answers at hand, request bodies in the cassette."""
        for place, trip in enumerate(self.cassette):
            self._add(place, trip)
            self._trips.append(replace(trip, request=replace(trip.request, content=self._body_of(place))))

    def _body_of(self, place: int) -> Callable[[], bytes]:
        return lambda: self.cassette[place].request.body

    def _add(self, place: int, trip: RoundTrip) -> None:
        request = trip.request
        method, path, body = request.method.upper(), path_key(request.url), request.body
        key = (method, path, body_key(body, request.headers, self._redactor, redacted=True))
        self._raw[(method, path, hash(body))] = key
        self._waiting[key].append(place)
        self._by_path[(method, path)].append(place)

    @property
    def unplayed(self) -> list[int]:
        """The places in the cassette of what was not asked for so far."""
        with self._lock:
            return sorted(place for waiting in self._waiting.values() for place in waiting)

    def answer(self, method: str, url: str, headers: Headers, body: bytes) -> RoundTrip:
        """The next recording that equals this request. Any thread may call this. Raises Miss."""
        method, path = method.upper(), path_key(url)
        body = plain(body, headers)
        # A body that is byte-equal to a recorded one needs neither parsing nor redaction.
        key = self._raw.get((method, path, hash(body)))
        if key is None:
            key = (method, path, body_key(body, headers, self._redactor, redacted=False))
        with self._lock:
            waiting = self._waiting.get(key)
            place = waiting.popleft() if waiting else None
            if place is not None:
                self._played[key] += 1
            played = self._played.get(key, 0)
        if place is None:
            raise self._miss(method, path, body, played)
        return self._trips[place]

    def _miss(self, method: str, path: str, body: bytes, played: int) -> Miss:
        places = self._by_path.get((method, path), [])
        if played or not places:
            return Miss(method, f"/{path}", None, [], played, len(self.cassette))
        body = self._redactor.body(body)
        unplayed = set(self.unplayed)
        candidates = ([p for p in places if p in unplayed] or places)[:_COMPARED]

        def likeness(place: int) -> int:
            recorded = self.cassette[place].request.body
            shared = common_prefix(recorded, body)
            return shared + common_suffix(recorded, body, min(len(recorded), len(body)) - shared)

        place = max(candidates, key=likeness)
        nearest = self.cassette[place]
        if nearest.index < 0:  # made by hand, so its place is its number
            nearest = replace(nearest, index=place)
        found = differences(_value(nearest.request.body), _value(body))
        return Miss(method, f"/{path}", nearest, found, 0, len(self.cassette))


def _value(body: bytes) -> object:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return body.decode("utf-8", "replace")
