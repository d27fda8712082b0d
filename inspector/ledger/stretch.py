"""Stretches: turns of a thread each of whose prompts begins with the whole of the one before.

The contents of a stretch are held once, as numbers of pieces in the order of the prompt. A turn is a length: its prompt
is that many pieces. So a run of 5,000 turns is as small as its last prompt.
"""

from array import array
from dataclasses import field, replace
from functools import lru_cache

from turntape.cassettes.frozen import mutable
from turntape.cassettes.tape.model import Headers, Request, Response, RoundTrip

from ..analysis.pricing import Cost
from ..wire.price_names import price_headers
from ..wire.values import Reading, RequestReading, Usage
from .model import CacheEntry


@mutable(kw_only=True)
class SentTurn:
    """What is kept of one turn."""

    place: int
    thread: str
    number: int
    attempt: int
    usage: Usage
    refused: bool = False
    """Whether it failed before anything was counted or answered, so that it costs nothing."""
    length: int = 0
    """How many pieces of its stretch its prompt has."""
    new: int = 0
    """The number of the first piece that the thread's previous request did not have."""
    echo: int = 0
    """From `new` up to this one, the pieces are the last answer, sent back."""
    priced: tuple[RoundTrip, Reading]
    """What its price depends on, without bodies."""
    cost: Cost | None = None
    """Its price, where it is known already."""
    before: int | None = None
    """The place of the thread's previous turn that has counts; None when there is none."""
    extended: bool = False
    """Whether the prompt begins with the whole of that turn's."""
    same_head: bool = False
    """Whether tools and system prompt are those of that turn."""
    cache: CacheEntry | None = None
    """What the rules of the API's cache expect, without the price of a miss."""
    verbatim: bool = False
    """Whether the request has the last answer, or what is not reasoning in it, in its own words."""
    reasons: bool = False
    """Whether the answer has reasoning, whatever its counts say."""
    keeps: bool = True
    """Whether the API is known to leave reasoning that the client sends back in the prompt, or nothing is known."""
    calls: int = 0
    """How many calls the answer has."""
    several: bool = False
    """Whether the output counts more than one answer."""
    summed: bool = False
    """Whether the input counts several prompts: the API's own tools ran, and the model was asked again each time."""
    marks: tuple[int, ...] = ()
    """For each mark for the cache in the prompt, how many pieces are before its end, in order."""
    skipped: bool = False
    """Whether a turn without counts is between that turn and this one."""

    @property
    def states_reasoning(self) -> bool:
        """Whether the counts say how much of the answer is reasoning; True for an answer without any."""
        return self.usage.reasoning is not None or not self.reasons

    @property
    def input(self) -> int | None:
        return self.usage.input


@mutable
class SentOther:
    """What is kept of a request outside generation."""

    place: int
    priced: tuple[RoundTrip, Reading]
    """What its price depends on, without bodies."""
    cost: Cost | None
    """Its price, where it is known already."""


@mutable
class Stretch:
    """Turns of a thread each of whose prompts begins with the whole of the one before."""

    thread: str
    model: str
    ids: "array[int]" = field(default_factory=lambda: array("l"))
    """The pieces of the longest prompt, in order."""
    pointers: dict[int, str] = field(default_factory=dict[int, str])
    """The pointers of those that are at another place than where they were first sent."""
    turns: list[SentTurn] = field(default_factory=list[SentTurn])

    taken: int = 0
    """How many of them are in the request; the others are text that the API adds."""

    def add(self, ids: "array[int]", moved: dict[int, str]) -> int:
        """Add the pieces of a prompt that begins with those of the stretch.

        Returns how many pieces are in front of them that are not in the request.
        """
        shift = len(self.ids) - self.taken
        self.ids.extend(ids[self.taken :])
        self.pointers.update((at + shift, pointer) for at, pointer in moved.items() if at >= self.taken)
        self.taken = len(ids)
        return shift

    @property
    def counted(self) -> SentTurn | None:
        """The last turn that has counts."""
        return next((turn for turn in reversed(self.turns) if turn.input is not None), None)


def without_bodies(round_trip: RoundTrip, reading: Reading) -> tuple[RoundTrip, Reading]:
    """A round trip and its reading, reduced to what the price depends on. Turns share what is the same in all."""
    sent, got = round_trip.request, round_trip.response
    names = price_headers(reading)
    headers = tuple(one for one in got.headers if one[0].lower() in names) if got and names else ()
    small = RoundTrip(
        _request(sent.method, sent.url),
        _response(got.status, headers) if got else None,
        round_trip.started_at,
        index=round_trip.index,
        run=round_trip.run,
        upstream=round_trip.upstream,
    )
    return small, replace(
        reading,
        request=_asked(reading.request.model),
        emission=None,
        usage_raw=None,
        finish=None,
        error=None,
        problems=(),
    )


@lru_cache(64)
def _request(method: str, url: str) -> Request:
    return Request(method, url)


@lru_cache(64)
def _response(status: int, headers: Headers) -> Response:
    return Response(status, "", headers)


@lru_cache(64)
def _asked(model: str | None) -> RequestReading:
    return RequestReading(model=model)
