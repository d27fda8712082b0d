"""Healthy loops of the corpus, chosen by facts that need no reading code of turntape.

A loop is a row of round trips of one conversation: every status is 200, every finish word is a good one, every call is
answered in the next request, by id or by name, and the last answer calls nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import blake2b
from itertools import groupby
from typing import Any

from tests.corpus import corpus
from turntape.cassettes.tape.model import Failure, Response, RoundTrip, Side

from .bodies import Body, Json, parsed
from .shapes import Shape, shape_of

APART = 60.0
"""Seconds between the starts of two round trips; the corpus has no times."""
START = 1_780_000_000.0


@dataclass(slots=True)
class Turn:
    """A round trip that can be edited."""

    round_trip: RoundTrip
    request: Json
    answer: Body
    _as_read: tuple[bytes, bytes] = (b"", b"")

    body: bytes | None = None
    """The bytes of the answer where they are not those of `answer`."""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    """Headers that are added to those of the answer."""
    without: tuple[str, ...] = ()
    """Headers of the answer whose name contains one of these are left out."""
    content_type: str | None = None
    failure: Failure | None = None
    closed_first: Side | None = None
    unreached: bool = False
    """True when nothing came back."""
    gap: float = APART
    """Seconds since the start of the round trip before."""
    lasts: float | None = None

    @property
    def streamed(self) -> bool:
        return self.answer.events is not None


@dataclass(slots=True)
class Loop:
    name: str
    shape: Shape
    turns: list[Turn] = field(default_factory=list[Turn])

    @property
    def full(self) -> bool:
        """True when each request brings the whole history."""
        return all(self.shape.holds_all(turn.request) for turn in self.turns)

    def trips(self) -> list[RoundTrip]:
        at = START
        made: list[RoundTrip] = []
        for number, turn in enumerate(self.turns):
            at += turn.gap if number else 0
            made.append(_written(turn, number, at))
        return made


@dataclass(frozen=True, slots=True)
class Recording:
    """A healthy loop as it was recorded."""

    name: str
    """Says the protocol and a number; the corpus itself is not named."""
    protocol: str
    source: str
    shape: Shape
    trips: tuple[RoundTrip, ...]

    def loop(self) -> Loop:
        """A copy to edit."""
        turns = [turn for trip in self.trips if (turn := read(trip)) is not None]
        return Loop(self.name, self.shape, turns)


def _written(turn: Turn, number: int, at: float) -> RoundTrip:
    from ..dialects.dialect import compact

    trip = turn.round_trip
    request = trip.request
    if compact(turn.request).encode() != turn._as_read[0]:
        request = replace(request, content=compact(turn.request).encode())
    response = None if turn.unreached else _response(turn)
    ended = int(turn.lasts * 1e6) if turn.lasts is not None else None
    return replace(trip, request=request, response=response, index=number, started_at=at, ended_at=ended,
                   failure=turn.failure, closed_first=turn.closed_first)  # fmt: skip


def _response(turn: Turn) -> Response:
    response = turn.round_trip.response
    assert response is not None
    data = turn.body
    if data is None:
        written = turn.answer.written()
        data = response.body if written == turn._as_read[1] else written
    kind = turn.content_type
    headers = response.headers
    if turn.without:
        headers = tuple(h for h in headers if not any(word in h[0].lower() for word in turn.without))
    if kind:
        headers = (*(h for h in headers if h[0].lower() != "content-type"), ("content-type", kind))
    return replace(response, status=turn.status, headers=(*headers, *turn.headers), content=data, chunks=())


def read(trip: RoundTrip) -> Turn | None:
    """A round trip to edit; None when a body is neither JSON nor a stream of it."""
    from ..dialects.dialect import compact

    request = parsed(trip.request.body, "")
    response = trip.response
    if request is None or not isinstance(request.value, dict) or response is None:
        return None
    kind = next((v for k, v in response.headers if k.lower() == "content-type"), "")
    answer = parsed(response.body, kind)
    if answer is None:
        return None
    return Turn(trip, request.value, answer, (compact(request.value).encode(), answer.written()))


# The choice


@cache
def candidates() -> tuple[Recording, ...]:
    """Every healthy loop of the corpus, in its order."""
    return tuple(_candidates())


def _candidates() -> Iterator[Recording]:
    counts: defaultdict[str, int] = defaultdict(int)
    for path in corpus.files():
        rows = (row for row in corpus.read_file(path) if row.generation)
        for cassette, group in groupby(rows, key=lambda row: row.cassette):
            for shape, trips in healthy_loops((row.api, row.round_trip) for row in group):
                counts[shape.protocol] += 1
                name = f"{shape.protocol} {counts[shape.protocol]:03}"
                yield Recording(name, shape.protocol, cassette, shape, tuple(trips))


def healthy_loops(trips: Iterable[tuple[str, RoundTrip]]) -> Iterator[tuple[Shape, list[RoundTrip]]]:
    """The healthy loops among round trips, each given with the corpus's name of its API."""
    open_turns: list[Turn] = []
    shape: Shape | None = None
    for api, trip in trips:
        turn = read(trip)
        now = shape_of(api, turn.request) if turn is not None else None
        if turn is None or now is None or not _is_good(now, turn):
            open_turns = []
            continue
        if open_turns and not (now is shape and continues(now, open_turns[-1], turn)):
            open_turns = []
        shape = now
        calls = now.answered(turn.answer)
        if calls or open_turns:
            open_turns.append(turn)
        if not calls and open_turns:
            if len(open_turns) >= 2:
                yield now, [replace(t.round_trip, index=n) for n, t in enumerate(open_turns)]
            open_turns = []


def _is_good(shape: Shape, turn: Turn) -> bool:
    response = turn.round_trip.response
    if response is None or response.status != 200:
        return False
    try:
        words = {place.value for place in shape.finish(turn.answer).copies}
        shape.history(turn.request)
        shape.answered(turn.answer)
    except (KeyError, TypeError, AttributeError):
        return False
    return bool(words) and words <= shape.GOOD


def continues(shape: Shape, before: Turn, after: Turn) -> bool:
    """True when the request holds a result for every call of the answer before, and for each only one."""
    calls = shape.answered(before.answer)
    given = shape.results(after.request)
    if shape.with_ids:
        ids = [result.identity for result in given]
        return all(ids.count(call.identity) == 1 for call in calls)
    earlier = len(shape.results(before.request))
    new: list[Any] = [result.name.value for result in given[earlier:] if result.name]
    return len(new) == len(given) - earlier and sorted(new) == sorted(call.name.get() for call in calls)


MOST = 40
"""Loops of one protocol at most."""


def chosen(most: int = MOST) -> list[Recording]:
    """The loops of the bench: of each protocol the same ones every time, spread over the whole of the corpus."""
    by_protocol: defaultdict[str, list[Recording]] = defaultdict(list)
    for one in candidates():
        by_protocol[one.protocol].append(one)
    return [one for protocol in sorted(by_protocol) for one in _spread(by_protocol[protocol], most)]


def _spread(loops: Iterable[Recording], most: int) -> list[Recording]:
    """Longer loops first, then in an order that depends on the loop alone."""
    ranked = sorted(loops, key=lambda one: (-min(len(one.trips), 3), blake2b(one.source.encode()).digest()))
    return sorted(ranked[:most], key=lambda one: one.name)
