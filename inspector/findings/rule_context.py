"""The argument of every rule: a turn, the turn before it, what came after, and the memory of its thread and run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from turntape.cassettes.tape.command_end import CommandEnd

from ..analysis.conversation import new_messages
from ..analysis.dispatch import Dispatch
from ..analysis.history_diff import HistoryDiff, diff_history
from ..analysis.turn import Turn
from ..wire.exchange import Exchange
from ..wire.json_value import as_array, as_object, compact
from ..wire.per_message import ByKey, Joined
from ..wire.protocols.protocol import Protocol
from ..wire.protocols.traits import AnswerRules
from ..wire.providers import Provider, provider_of
from ..wire.registry import traits_of
from ..wire.resolve_finish import is_call_as_text
from ..wire.socket_turn import SOCKET, SessionEnd, SessionNote
from ..wire.values import Emission, Emitted, Finish, Message, Part, Reading, RequestReading, Tool
from .finding import Finding
from .memory import RunMemory, SentRequest, ThreadMemory, block_hash
from .rejections import Rejection, rejection
from .tool_pairing.model import ToolPairing
from .tool_pairing.pair_tools import pair_tools

_BLOB = 100_000
"""From this many bytes on, a piece of media counts as large."""
_VIEWS = (
    "exchange",
    "spoken",
    "echo",
    "pairing",
    "blobs",
    "calls",
    "tools",
    "fresh",
    "fields",
    "_ids_here",
    "_ids_recent",
)
"""Properties that are computed once per turn and dropped after the rules have run."""
_NOTHING = Emission()
_NO_FINISH = Finish(None, "unknown", "unknown")


class _FindingIds:
    """The ids of the findings in a list that grows, by each of their names: a turn may have thousands."""

    def __init__(self, findings: list[Finding]) -> None:
        self._findings = findings
        self._read = 0
        self._ids: dict[str, str] = {}

    def get(self, name: str) -> str | None:
        for place in range(self._read, len(self._findings)):
            finding = self._findings[place]
            self._ids |= dict.fromkeys(finding.names, finding.id)
        self._read = len(self._findings)
        return self._ids.get(name)


def _media(part: Part) -> Iterator[object]:
    """The media of a part, in results too."""
    if part.kind == "media":
        yield part.raw
    elif part.result is not None and not part.result.server:
        yield from (item for item in as_array(as_object(part.raw).get("content")) if "text" not in as_object(item))


def _blobs_of(message: Message) -> list[tuple[Part, int]]:
    return [
        (part, hash(spelled)) for part in message.parts for raw in _media(part) if len(spelled := compact(raw)) >= _BLOB
    ]


_blobs = Joined(_blobs_of).of


def _calls_of(message: Message) -> list[tuple[str, Part]]:
    return [(part.call.id, part) for part in message.parts if part.call is not None and part.call.id is not None]


_calls = ByKey(_calls_of).of


def finish_at(turn: Turn) -> str:
    """The evidence for how the API finished a turn: `#3 finish length`; `#3 finish` when it sent no finish word."""
    raw = turn.reading.finish.raw if turn.reading.finish else None
    return f"#{turn.round_trip.index} finish" + (f" {raw}" if raw else "")


@dataclass
class RuleContext:
    """One turn, with everything that a rule may look at."""

    turn: Turn
    thread: ThreadMemory
    run: RunMemory
    before: Turn | None = None
    """The previous turn of the thread, or the previous attempt of this one."""
    following: Turn | None = None
    dispatch: Dispatch | None = None
    over: Literal["open", "followed", "closed"] = "open"
    later: bool = False
    """At the end of the recording: True when the run sent other requests after this turn."""
    command: CommandEnd | None = None
    """At the end of the recording, for its last turn: how the command ended, where that is known."""
    session_end: SessionEnd | None = None
    """At the end of the recording: how the client left the WebSocket session of this turn, where that is known."""
    session_notes: tuple[SessionNote, ...] = ()
    """At the end of the recording: what failed in the WebSocket session of this turn outside of its answers."""
    found: list[Finding] = field(default_factory=list[Finding])
    """The findings in this turn so far."""
    known_echo: HistoryDiff | None = None
    """`echo`, if the turn before was already compared with this one."""
    known_exchange: Exchange | None = None
    """`exchange`, if the round trip was already read."""
    broken: str | None = None
    """Why the two turns that are compared may not follow each other, as a clause: the recording lacks something."""
    sent_before: SentRequest | None = None
    """An earlier request of the run with the same body."""

    @property
    def reading(self) -> Reading:
        return self.turn.reading

    @property
    def protocol(self) -> Protocol:
        """The protocol of the round trip, with its traits."""
        return traits_of(self.reading.protocol)

    @property
    def provider(self) -> Provider:
        """Who answered, and what turntape knows about this provider."""
        return provider_of(self.reading.provider)

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
        """The round trip as evidence names it: `#3`."""
        return f"#{self.index}"

    @property
    def finish_at(self) -> str:
        """The evidence for how the API finished this turn."""
        return finish_at(self.turn)

    @property
    def finish_word(self) -> str:
        """The API's finish word, or its meaning when the API sent no word."""
        return self.finish.raw or self.finish.label

    @property
    def status(self) -> int | None:
        response = self.turn.round_trip.response
        return response.status if response else None

    @property
    def over_socket(self) -> bool:
        """True for a turn within a WebSocket session, which has no separate status."""
        response = self.turn.round_trip.response
        return response is not None and response.http_version == SOCKET

    @property
    def failed_handshake(self) -> bool:
        """True for a WebSocket handshake that the API refused or did not answer."""
        return Exchange(self.turn.round_trip).failed_handshake

    @cached_property
    def spoken(self) -> tuple[Exchange, AnswerRules]:
        """The answer as the API of its model gives it, and the rules of that API."""
        own = self.protocol.answers
        return own.inner(self.exchange) if own.inner is not None else (self.exchange, own)

    @property
    def succeeded(self) -> bool:
        """True when an answer came and it was not an error."""
        return self.reading.error is None and self.finish.effective not in ("error", "cancelled")

    @property
    def is_attempt(self) -> bool:
        return self.before is not None and self.before.number == self.turn.number

    @property
    def previous(self) -> Turn | None:
        """The previous turn of the thread; None for a first turn and for another attempt."""
        return None if self.is_attempt else self.before

    @cached_property
    def echo(self) -> HistoryDiff | None:
        """How this request repeats the request and the answer of the previous turn."""
        before = self.previous
        if before is None or before.failed:
            return None
        return self.known_echo or diff_history(before, self.turn)

    @cached_property
    def next_echo(self) -> HistoryDiff | None:
        return None if self.following is None or self.turn.failed else diff_history(self.turn, self.following)

    @cached_property
    def exchange(self) -> Exchange:
        return self.known_exchange or Exchange(self.turn.round_trip)

    @cached_property
    def rejection(self) -> Rejection | None:
        """What the API's error says is wrong with the request."""
        return rejection(self.reading)

    @cached_property
    def pairing(self) -> ToolPairing:
        """The calls and results of the request's history, paired."""
        return pair_tools(self.request, self.protocol.pairing, self._held_calls, self.run.items)

    @property
    def _held_calls(self) -> list[str] | None:
        """The ids of the calls in the conversation that the API holds and this request continues; None if not known."""
        before, held = self.previous, self.request.previous_id
        if before is not None and held in before.reading.answer_ids:
            finish = before.reading.finish
            # The calls of an answer that is fetched later are not in it.
            return None if finish is None or finish.effective == "unknown" else list(self.thread.emitted_calls)
        known = self.run.calls_of.get(held) if held is not None and self.turn.edge.kind == "fork" else None
        return [call for call, index in self.run.called_in.items() if index <= known[0]] if known else None

    @cached_property
    def fresh(self) -> Sequence[Message]:
        """The messages that the previous request did not contain, byte for byte; all of them after an API error."""
        if self.before is None or self.reading.error is not None:
            return self.request.messages
        conversation = self.request.conversation
        kept, first, behind = new_messages(self.before.conversation, self.turn.conversation)
        return (*conversation[kept:first], *conversation[behind:])

    @cached_property
    def blobs(self) -> Sequence[tuple[Part, int]]:
        """The large media of the request, each with a hash of its bytes."""
        if len(self.turn.round_trip.request.body) < _BLOB:
            return []
        return _blobs(self.request.messages)

    @cached_property
    def calls(self) -> Mapping[str, Part]:
        """The calls in this request's history, by id; the last one under each id."""
        return _calls(self.request.messages)

    @cached_property
    def tools(self) -> dict[str, Tool]:
        """The tools that may be called, by name."""
        _, kept = self.kept_tools or (0, ())
        return {tool.name: tool for tool in (*kept, *self.request.added_tools, *self.request.tools)}

    @property
    def kept_tools(self) -> tuple[int, tuple[Tool, ...]] | None:
        """The tools that the API keeps for the conversation that is continued, and the round trip that brought them."""
        held = self.request.previous_id
        if held is None or self.request.tools or not self.protocol.requests.keeps_tools:
            return None
        return self.run.kept_tools.get(held)

    @property
    def whole_request(self) -> RequestReading:
        """The request, with the tools that the API keeps for its conversation."""
        kept = self.kept_tools
        return (
            self.request if kept is None else replace(self.request, added_tools=(*self.request.added_tools, *kept[1]))
        )

    @property
    def emitted(self) -> Emitted:
        """What the model emitted, given the tools that the API keeps for its conversation as well."""
        emission, request = self.emission, self.whole_request
        if emission.emitted == "text" and request is not self.request and is_call_as_text(emission.text, request):
            return "call_as_text"
        return emission.emitted

    def tool_at(self, pointer: str) -> str:
        """The place of a definition, or of the list of them, as evidence: it may be in an earlier request."""
        kept = self.kept_tools
        return f"{self.at if kept is None else f'#{kept[0]}'} request {pointer}"

    def returned_by(self, raw: object) -> int | None:
        """The number of the round trip in which the API itself returned the same block, or None."""
        return self.run.emitted.get(block_hash(raw))

    def has(self, *ids: str) -> tuple[str, ...]:
        """Those of `ids` that were found in this turn."""
        return tuple(dict.fromkeys(found for name in ids if (found := self._ids_here.get(name))))

    def has_recently(self, *ids: str) -> tuple[str, ...]:
        """Those of `ids` that were found in this turn or in the one before it."""
        here, recent = self._ids_here, self._ids_recent
        return tuple(dict.fromkeys(found for name in ids if (found := recent.get(name) or here.get(name))))

    @cached_property
    def _ids_here(self) -> _FindingIds:
        return _FindingIds(self.found)

    @cached_property
    def _ids_recent(self) -> _FindingIds:
        return _FindingIds(self.thread.recent)

    def begin(self, findings: list[Finding]) -> None:
        """Let the rules of a moment see these findings, to which theirs are added."""
        self.found = findings
        for view in ("_ids_here", "_ids_recent"):
            self.__dict__.pop(view, None)

    def parameter(self, name: str) -> object:
        return self.request.parameters.get(name)

    @cached_property
    def fields(self) -> dict[str, object]:
        """The whole request body."""
        return as_object(self.exchange.body)

    def release(self) -> None:
        """Drop what only the rules at the end of the turn need, so that the run does not stay in memory."""
        self.before = self.known_echo = self.known_exchange = None
        for view in _VIEWS:
            self.__dict__.pop(view, None)
