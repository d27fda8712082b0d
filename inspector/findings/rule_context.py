"""What a rule is given: a turn, what stood before it, what came after, and the memory of its thread and run.

Memory is small and does not grow with what was said: hashes, ids, and the last few turns.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from ..analysis.dispatch import Dispatch
from ..analysis.history_diff import Echo, echo
from ..analysis.threads import Turn
from ..analysis.units import sorted_json, unmarked
from ..wire.exchange import Exchange
from ..wire.json_value import as_array, as_object, compact
from ..wire.values import Emission, Finish, Message, Part, Reading, RequestReading, Tool
from .finding import Finding
from .rejections import Complaint, complaint
from .tool_pairing import Pairs, pairs

_KEPT_TURNS = 40
_BLOB = 100_000
"""Bytes from which on a piece of media is large."""


@dataclass(frozen=True, slots=True)
class Step:
    """What stays of a turn in the memory of its thread."""

    index: int
    calls: tuple[int, ...]
    """Hashes of its calls: name and arguments."""
    names: tuple[str, ...]
    results: tuple[int, ...]
    """Hashes of the results that the client gave."""
    result_texts: tuple[str, ...]
    """The beginnings of the results."""
    errors: int
    """How many of the results were marked as errors."""
    output: int | None


@dataclass(slots=True)
class Sent:
    """A request body that was seen before, and what became of it."""

    index: int
    thread: str
    started: float
    ended: float
    effective: str | None
    status: int | None
    billed: bool
    count: int = 1


@dataclass(slots=True)
class ThreadMemory:
    told: set[tuple[str, object]] = field(default_factory=set[tuple[str, object]])
    """What was said of this thread already, by rule and key."""
    steps: deque[Step] = field(default_factory=lambda: deque(maxlen=_KEPT_TURNS))
    emitted_calls: dict[str, tuple[int, str, int]] = field(default_factory=dict[str, tuple[int, str, int]])
    """Round trip, name and hash of each emitted call, by id."""
    first_in: dict[str, int] = field(default_factory=dict[str, int])
    """In which request a fault, by its key, stood first."""
    turns: int = 0
    dispatched: int = 0
    cut_calls: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    """Calls of answers that must not be run, by id: the round trip and why."""
    rejected: tuple[str, str | None, int, int] | None = None
    """The last 400: its class, its place, the first round trip that had it, and how often."""
    failures: list[int] = field(default_factory=list[int])
    """Round trips of the failed attempts since the last success."""
    input_tokens: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Round trip and input tokens, the first and the last few."""
    blobs: dict[int, int] = field(default_factory=dict[int, int])
    """How often a large media part was sent."""
    recent: list[Finding] = field(default_factory=list[Finding])
    """The findings of the previous turn."""
    cached: bool = False
    """True when the API reported cached tokens, or was asked to cache, at any turn."""


@dataclass(slots=True)
class RunMemory:
    bodies: dict[bytes, Sent] = field(default_factory=dict[bytes, Sent])
    emitted: dict[int, int] = field(default_factory=dict[int, int])
    """The round trip that first returned a block, by the block's hash."""
    answers: dict[str, bool] = field(default_factory=dict[str, bool])
    """Ids of answers, and whether the API was asked to store them."""
    tools: dict[str, tuple[int, int, int]] = field(default_factory=dict[str, tuple[int, int, int]])
    """Tools by name: how often offered, how often called, bytes of its definition."""
    generations: int = 0
    told: set[tuple[str, object]] = field(default_factory=set[tuple[str, object]])
    doubled: set[str | None] = field(default_factory=set[str | None])
    """Ids that the API itself gave to two calls."""


def block_hash(raw: object) -> int:
    """A hash of a content block as JSON, markers of caching aside."""
    return hash(sorted_json(unmarked(raw)))


def _media(part: Part) -> Iterator[object]:
    """What of a part is no text, in results too."""
    if part.kind == "media":
        yield part.raw
    elif part.result is not None:
        yield from (item for item in as_array(as_object(part.raw).get("content")) if "text" not in as_object(item))


@dataclass
class Case:
    """A turn as the rules look at it."""

    turn: Turn
    thread: ThreadMemory
    run: RunMemory
    before: Turn | None = None
    """The previous turn of the thread, or the previous attempt of this one."""
    following: Turn | None = None
    dispatch: Dispatch | None = None
    over: Literal["open", "followed", "closed"] = "open"
    later: bool = False
    """True at the close when the run went on to other requests after this turn."""
    found: list[Finding] = field(default_factory=list[Finding])
    """What was found in this turn so far."""
    known_echo: Echo | None = None
    """`echo`, where the turn before was compared with this one already."""
    sent_before: Sent | None = None
    """An earlier request of the run with the same body."""

    @property
    def reading(self) -> Reading:
        return self.turn.reading

    @property
    def request(self) -> RequestReading:
        return self.turn.reading.request

    @property
    def emission(self) -> Emission:
        return self.turn.reading.emission or _NOTHING

    @property
    def finish(self) -> Finish:
        return self.turn.reading.finish or _NO_FINISH

    @property
    def index(self) -> int:
        return self.turn.round_trip.index

    @property
    def at(self) -> str:
        return f"#{self.index}"

    @property
    def status(self) -> int | None:
        response = self.turn.round_trip.response
        return response.status if response else None

    @property
    def succeeded(self) -> bool:
        """True when an answer came and was no error."""
        return self.reading.error is None and self.finish.effective not in ("error", "cancelled")

    @property
    def is_attempt(self) -> bool:
        return self.before is not None and self.before.number == self.turn.number

    @property
    def previous(self) -> Turn | None:
        """The previous turn of the thread; None for a first turn and for another attempt."""
        return None if self.is_attempt else self.before

    @cached_property
    def echo(self) -> Echo | None:
        """How this request repeats what the previous turn sent and got."""
        before = self.previous
        if before is None or before.failed:
            return None
        return self.known_echo or echo(before, self.turn)

    @cached_property
    def next_echo(self) -> Echo | None:
        return None if self.following is None or self.turn.failed else echo(self.turn, self.following)

    @cached_property
    def exchange(self) -> Exchange:
        return Exchange(self.turn.round_trip)

    @cached_property
    def complaint(self) -> Complaint | None:
        """What the API's error says is wrong with the request."""
        return complaint(self.reading)

    @cached_property
    def pairs(self) -> Pairs:
        """How the calls and results of its history fit together."""
        before, held = self.previous, self.request.previous_id
        goes_on = before is not None and held is not None and before.reading.response_id == held
        return pairs(self.request, self.reading.protocol, list(self.thread.emitted_calls) if goes_on else None)

    @cached_property
    def fresh(self) -> tuple[Message, ...]:
        """The messages that the request before did not hold, byte for byte; all of them when the API complains."""
        if self.before is None or self.reading.error is not None:
            return self.request.messages
        return self.request.conversation[self.turn.units(self.before).kept :]

    @cached_property
    def blobs(self) -> list[tuple[Part, int]]:
        """The large media of the request, each with a hash of its bytes."""
        if len(self.turn.round_trip.request.body) < _BLOB:
            return []
        return [
            (part, hash(spelled))
            for message in self.request.messages
            for part in message.parts
            for raw in _media(part)
            if len(spelled := compact(raw)) >= _BLOB
        ]

    @cached_property
    def calls(self) -> dict[str, Part]:
        """The calls in this request's history, by id; the last one under each id."""
        return {
            part.call.id: part
            for message in self.request.messages
            for part in message.parts
            if part.call is not None and part.call.id is not None
        }

    @cached_property
    def tools(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in self.request.tools}

    def returned_by(self, raw: object) -> int | None:
        """The round trip in which the API itself returned this very block, or None."""
        return self.run.emitted.get(block_hash(raw))

    def has(self, *ids: str) -> tuple[str, ...]:
        """Those of `ids` that were found in this turn or in the one before it."""
        known = {finding.id for finding in (*self.found, *self.thread.recent)}
        return tuple(name for name in ids if name in known)

    def parameter(self, name: str) -> object:
        return self.request.parameters.get(name)

    @cached_property
    def fields(self) -> dict[str, object]:
        """The whole request body."""
        return as_object(self.exchange.body)


_NOTHING = Emission()
_NO_FINISH = Finish(None, "unknown", "unknown")
