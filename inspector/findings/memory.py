"""The memory of the rules for a thread and a run while it is recorded.

It is small: hashes, ids, and the last few turns, but no texts.
"""

from collections import deque
from dataclasses import field
from itertools import takewhile

from turntape.cassettes.frozen import frozen, mutable

from ..analysis.conversation import sorted_json, unmarked
from ..analysis.turn import Turn
from ..wire.values import Tool, ToolCall
from .agents import Agent
from .finding import Finding, Layer

_KEPT_TURNS = 40


@frozen
class PastTurn:
    """The facts about a turn that the memory of its thread keeps."""

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
    """Output tokens; None when the API did not count them."""


@mutable
class SentRequest:
    """A request body that was sent before, and how the API answered it."""

    index: int
    thread: str
    started: float
    ended: float
    effective: str | None
    status: int | None
    billed: bool
    count: int = 1
    """How often the body was sent so far."""


@frozen
class RejectedBefore:
    """The last request of a thread that the API rejected for its content."""

    rule_id: str
    """What it is about: the class of failure that the API's text names, or the text."""
    pointer: str | None
    """The place of the fault, according to the text."""
    first_index: int
    """The first round trip that was rejected for it."""
    count: int = 1


@frozen
class Explained:
    """What the rules found to be the cause of a rejection."""

    text: str
    """The API's sentence, without its numbers."""
    because_of: tuple[str, ...]
    layer: Layer


@mutable
class ThreadMemory:
    """The memory of a thread, up to the current turn."""

    reported: set[tuple[str, object]] = field(default_factory=set[tuple[str, object]])
    """What was already reported for this thread, by rule and key."""
    steps: deque[PastTurn] = field(default_factory=lambda: deque(maxlen=_KEPT_TURNS))
    """The last successful turns, oldest first."""
    emitted_calls: dict[str, tuple[int, str, int]] = field(default_factory=dict[str, tuple[int, str, int]])
    """Round trip, name and hash of each emitted call, by id."""
    fitting_calls: dict[str, list[tuple[str, object]]] = field(default_factory=dict[str, list[tuple[str, object]]])
    """By the name of a tool, the ids of emitted calls whose arguments fitted its schema in their request, with that."""
    turns: int = 0
    dispatched: int = 0
    """How many turns had results in the next request."""
    answered_tools: set[str] = field(default_factory=set[str])
    """The tools whose calls the client answered."""
    unfit_calls: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    """Calls of answers that must not be run, by id: the round trip and why."""
    unfit_lately: set[str] = field(default_factory=set[str])
    """Those of `unfit_calls` that the last answer has."""
    rejected: RejectedBefore | None = None
    explained: Explained | None = None
    """The cause of the last rejection: the same rejection later has the same cause."""
    storming: bool = False
    """True from the attempt on at which the same failing request was sent too often, until an answer comes."""
    failures: list[int] = field(default_factory=list[int])
    """Round trips of the failed attempts since the last success."""
    input_tokens: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Round trip and input tokens: the first turn and the last few."""
    first_size: int = 0
    """Bytes of the request of the first turn of `input_tokens`."""
    blobs: dict[int, int] = field(default_factory=dict[int, int])
    """How often each large media part was sent, by hash."""
    recent: list[Finding] = field(default_factory=list[Finding])
    """The findings of the previous turn."""
    answered: dict[int, dict[int, int]] = field(default_factory=dict[int, dict[int, int]])
    """By the meaning of a long answer: the meanings of the questions that got it, with their round trips."""
    sent: set[int] = field(default_factory=set[int])
    """The meanings of everything that its requests contained so far."""
    cached: bool = False
    """True when a request asked for caching, or the API reported cached tokens."""


@mutable
class Subagent:
    """A thread that works on the task of a call."""

    parent: str | None
    """The thread that made the call."""
    task: str
    """The beginning of its first message."""
    answer: tuple[int, int] | None = None
    """The round trip of its last complete answer in text, and how many characters that has."""


@frozen
class GivenResult:
    """The first result that a request gave a call."""

    text: str
    """Its beginning."""
    is_error: bool
    index: int
    ended: float


@frozen
class FailedRequest:
    """A request that got no whole answer."""

    index: int
    started: float
    prefix: int
    """The last of the `Conversation.prefixes` of its history."""


@mutable
class RunMemory:
    """The memory of a run, up to the current turn."""

    requests: dict[tuple[str, bytes], SentRequest] = field(default_factory=dict[tuple[str, bytes], SentRequest])
    """Requests by `request_key`."""
    emitted: dict[int, int] = field(default_factory=dict[int, int])
    """The round trip that first returned a block, by the block's hash."""
    block_ids: set[str] = field(default_factory=set[str])
    """The ids of the blocks that the API returned."""
    items: dict[str, tuple[str, str] | None] = field(default_factory=dict[str, tuple[str, str] | None])
    """The parts of answers that a later request can name, by id: the id and the name of the call that it is, if any."""
    unknown_calls: set[str] = field(default_factory=set[str])
    """The ids under which blocks of a type that is not known may be answered."""
    results: dict[tuple[int, str], GivenResult] = field(default_factory=dict[tuple[int, str], GivenResult])
    """The first result of each call, by the round trip that made the call and the call's id; the newest ones."""
    call_ids: set[str] = field(default_factory=set[str])
    """The ids of all calls that the API returned."""
    server_calls: dict[str, tuple[int, ToolCall]] = field(default_factory=dict[str, tuple[int, ToolCall]])
    """The calls of the API's own tools, by id, each with the round trip that returned it."""
    called_in: dict[str, int] = field(default_factory=dict[str, int])
    """The round trip that first returned a call, by its id, or by its name where it has none."""
    calls_of: dict[str, tuple[int, tuple[str, ...]]] = field(default_factory=dict[str, tuple[int, tuple[str, ...]]])
    """The round trip and the ids of the calls of each answer that made some, by the id of the answer."""
    kept_tools: dict[str, tuple[int, tuple[Tool, ...]]] = field(default_factory=dict[str, tuple[int, tuple[Tool, ...]]])
    """By the id of a conversation that the API holds: the round trip that brought its tools, and the tools."""
    said: dict[int, int] = field(default_factory=dict[int, int])
    """The round trip that first returned a text, a call or reasoning, by its meaning."""
    answers: dict[str, bool] = field(default_factory=dict[str, bool])
    """Ids of answers, and whether the API was asked to store them."""
    tools: dict[str, tuple[int, int, int]] = field(default_factory=dict[str, tuple[int, int, int]])
    """Tools by name: how often offered, how often called, characters of the definition."""
    subagents: dict[str, Subagent] = field(default_factory=dict[str, Subagent])
    """The subagents of the run, by thread."""
    agents: dict[Agent, bool] = field(default_factory=dict[Agent, bool])
    """The agents so far, and whether they had messages of the model or calls in their turns."""
    open_calls: dict[str, int] = field(default_factory=dict[str, int])
    """By thread: its last round trip, if that made calls that no later request of the thread has continued."""
    overloaded: tuple[int, tuple[int, ...], int] | None = None
    """The last request, if the API failed to answer it: its round trip, the `Conversation.prefixes` of its history, and
    the place of its last result among the units."""
    failed: FailedRequest | None = None
    """The last request, if the API answered it with an error or with a part of an answer."""
    asked: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    """The last round trip that asked something, by `asked_key`."""
    calls_after: dict[tuple[Agent | None, int], int] = field(default_factory=dict[tuple[Agent | None, int], int])
    """The round trip of each answer with calls, by the agent and the last of the `Conversation.prefixes` of its
    request."""
    calls_behind: dict[int, int] = field(default_factory=dict[int, int])
    """The same by the last of the prefixes alone."""
    generations: int = 0
    reported: set[tuple[str, object]] = field(default_factory=set[tuple[str, object]])
    """What was already reported for this run, by rule and key."""
    ids_given_twice: set[str | None] = field(default_factory=set[str | None])
    """Ids that the API itself gave to two calls."""


def request_key(turn: Turn) -> tuple[str, bytes]:
    """What two sendings of one request share: the address and a digest of the body."""
    return turn.round_trip.request.url, turn.body


def asked_key(turn: Turn) -> tuple[int, int]:
    """What two requests share that ask the same, of whatever API and model: the last piece, and how many there are."""
    history = turn.conversation.history
    spoken = len(history) - sum(1 for _ in takewhile(lambda unit: unit.role == "system", history))
    return spoken, history[-1].meaning if history else 0


def block_hash(raw: object) -> int:
    """A hash of a content block as JSON, without cache markers."""
    return hash(sorted_json(unmarked(raw)))
