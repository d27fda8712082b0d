"""Which turns extend one conversation: explicit ids first, then the history itself.

A request continues the thread whose last request is a prefix of its own history, provided that an answer stands
between them or the API holds it. A request that repeats the history of a turn that failed is another attempt of
that turn. Every turn has an `Edge` that says what it follows from and why, and how sure that is. The cost of a
request is that of reading it; it does not grow with the run.
"""

from collections import defaultdict, deque
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal

from turntape.cassettes.tape.model import RoundTrip

from ..wire.json_value import is_array, is_object
from ..wire.values import Reading, Usage
from .identity import Identity, identity
from .items import Item, emitted_items, items_of, rolling
from .units import History, history_of

type EdgeKind = Literal["main", "continuation", "attempt", "fork", "subagent", "handoff", "side_call", "compaction"]

_OPEN_CALLS = 64
"""So many calls are kept as places where a subagent may have been started."""
_ANSWERS = 64
"""So many answers are kept as texts that a compacted history may begin with."""
_TELLING = 24
"""A text of so many characters is not said twice by chance."""
_SIDE_ITEMS = 3
_SIDE_OUTPUT = 1024


@dataclass(frozen=True, slots=True)
class Edge:
    """Why a turn stands where it stands."""

    kind: EdgeKind
    of: int | None = None
    """The number of the round trip that it follows from."""
    thread: str | None = None
    """The thread of that round trip."""
    reason: str = ""
    tier: Literal["P", "S", "H"] = "P"

    def as_json(self) -> dict[str, object]:
        return {"kind": self.kind, "of": self.of, "thread": self.thread, "reason": self.reason, "tier": self.tier}


@dataclass(slots=True)
class Turn:
    """A round trip to a generation endpoint, as a step of a thread."""

    round_trip: RoundTrip
    reading: Reading
    thread: str
    number: int
    """From 1 within its thread; the attempts of one turn share it."""
    history: str
    """How its request relates to the thread: `first`, `extended` or `changed`."""
    shared: int
    """How many items of its history stood in the previous request of the thread already."""
    edge: Edge
    attempt: int = 1
    usage_before: Usage | None = None
    """What the previous turn of the thread used. The turn itself is not held: a run must not stay in memory."""
    messages_before: int = 0
    """How many messages the previous request of the thread held."""
    items: list[Item] = field(default_factory=list[Item])
    body: bytes = b""
    """The digest of its request body."""
    identity: Identity = field(default_factory=Identity)
    spread: History | None = None

    def units(self, before: "Turn | None" = None) -> History:
        """Its conversation as units, made once; from those of `before` where it begins alike."""
        if self.spread is None:
            self.spread = history_of(self.reading.request.conversation, before.spread if before else None)
        return self.spread

    @property
    def failed(self) -> bool:
        finish = self.reading.finish
        return finish is None or finish.effective in ("error", "cut", "cancelled")


type Scope = tuple[str | None, str | None, str | None]
"""A run, and the session and agent that a request names, if it does."""


@dataclass(slots=True)
class _Arrival:
    """A request on its way to its thread."""

    round_trip: RoundTrip
    reading: Reading
    items: list[Item]
    sums: list[int]
    digest: bytes
    identity: Identity

    @property
    def run(self) -> str | None:
        return self.round_trip.run

    @property
    def scope(self) -> Scope:
        return self.round_trip.run, self.identity.session, self.identity.agent

    @property
    def tools(self) -> frozenset[str]:
        return frozenset(tool.name for tool in self.reading.request.tools)


class Threads:
    """`add` sorts round trips into threads as they come."""

    def __init__(self) -> None:
        self._last: dict[str, Turn] = {}
        self._waiting: defaultdict[tuple[Scope, int], list[str]] = defaultdict(list)
        """Threads by the hash of the last request's history."""
        self._ends: dict[tuple[Scope, int], tuple[str, int]] = {}
        """Thread and round trip by the hash of the history of any request, for forks."""
        self._by_answer: dict[tuple[str | None, str], tuple[str, int]] = {}
        """Thread and round trip by the id of an answer."""
        self._by_call: defaultdict[tuple[str | None, str], list[str]] = defaultdict(list)
        """Threads by the id of an emitted call, latest last."""
        self._by_said: dict[tuple[Scope, Item], str] = {}
        """Threads by something that they emitted: a call without an id, a text that is long enough."""
        self._failed: dict[tuple[Scope, int], str] = {}
        """Threads whose last turn failed, by the hash of its history."""
        self._open: defaultdict[str | None, deque[tuple[str, int, str]]] = defaultdict(
            lambda: deque(maxlen=_OPEN_CALLS)
        )
        """Calls of a run, as (thread, round trip, arguments): a subagent's first message repeats one."""
        self._answers: defaultdict[str | None, deque[tuple[str, int, str]]] = defaultdict(
            lambda: deque(maxlen=_ANSWERS)
        )
        """Answers of a run: a compacted history repeats one."""
        self._main: dict[str | None, tuple[str, str | None]] = {}
        """The first thread with tools of each run, and its model."""

    def add(self, round_trip: RoundTrip, reading: Reading) -> Turn:
        """The turn that this generation round trip is."""
        items = items_of(reading.request.messages)
        digest = blake2b(round_trip.request.body, digest_size=16).digest()
        new = _Arrival(round_trip, reading, items, rolling(items), digest, identity(round_trip, reading))
        turn = (
            self._attempt(new)
            or self._answer(new)
            or self._prefix(new)
            or self._call(new)
            or self._said(new)
            or self._fork(new)
            or self._begin(new)
        )
        self._remember(turn, new)
        return turn

    def last(self, thread: str) -> Turn | None:
        """The latest turn of a thread."""
        return self._last.get(thread)

    def _continue(self, new: _Arrival, thread: str, history: str, shared: int, reason: str, tier: str = "P") -> Turn:
        before = self._last[thread]
        edge = Edge("continuation", before.round_trip.index, thread, reason, "P" if tier == "P" else "S")
        if (call := _handoff(before)) and new.tools != frozenset(t.name for t in before.reading.request.tools):
            edge = Edge("handoff", before.round_trip.index, thread, f"the tools change after the call of {call!r}", "S")
        return Turn(
            new.round_trip,
            new.reading,
            thread,
            before.number + 1,
            history,
            shared,
            edge,
            1,
            before.reading.usage,
            len(before.reading.request.messages),
            new.items,
            new.digest,
            new.identity,
        )

    def _attempt(self, new: _Arrival) -> Turn | None:
        thread = self._failed.get((new.scope, new.sums[-1])) if new.items else None
        before = self._last[thread] if thread else None
        if thread is None or before is None or before.items != new.items:
            return None
        del self._failed[(new.scope, new.sums[-1])]
        what = "repeats the request that failed" if before.body == new.digest else "repeats the history that failed"
        edge = Edge("attempt", before.round_trip.index, thread, f"it {what}", "P")
        return Turn(
            new.round_trip,
            new.reading,
            thread,
            before.number,
            before.history,
            before.shared,
            edge,
            before.attempt + 1,
            before.usage_before,
            before.messages_before,
            new.items,
            new.digest,
            new.identity,
        )

    def _answer(self, new: _Arrival) -> Turn | None:
        said = new.reading.request.previous_id
        found = self._by_answer.get((new.run, said)) if said else None
        if found is None:
            return None
        thread, index = found
        before = self._last[thread]
        again = before.failed and before.reading.request.previous_id == said
        if before.round_trip.index != index and before.reading.response_id != said and not again:
            turn = self._start(
                new, Edge("fork", index, thread, f"it continues {said}, which was continued before", "P")
            )
            turn.history = "extended"
            return turn
        return self._continue(new, thread, "extended", 0, f"it continues {said}")

    def _prefix(self, new: _Arrival) -> Turn | None:
        answers = sum(message.role == "assistant" for message in new.reading.request.messages)
        if not answers:
            return None
        for length in range(len(new.items) - 1, 0, -1):
            threads = self._waiting.get((new.scope, new.sums[length]))
            if threads:
                going = [name for name in threads if self._goes_on(name, new, length)] or threads
                thread = next((name for name in going if self._same_trace(name, new)), going[0])
                threads.remove(thread)
                before = self._last[thread].round_trip.index
                return self._continue(
                    new, thread, "extended", length, f"its history begins with the whole of #{before}'s"
                )
        return None

    def _same_trace(self, thread: str, new: _Arrival) -> bool:
        trace = new.identity.trace
        return trace is not None and trace == self._last[thread].identity.trace

    def _goes_on(self, thread: str, new: _Arrival, length: int) -> bool:
        """True when what follows the common history is what this thread answered, and not another of the same start."""
        last = self._last[thread]
        named = {part.call.id for m in new.reading.request.messages for part in m.parts if part.call}
        if ids := _call_ids(last):
            return bool(ids & named)
        emission = last.reading.emission
        said = emitted_items(emission) if emission is not None else []
        return any(item in new.items[length:] for item in said)

    def _call(self, new: _Arrival) -> Turn | None:
        """A history that was rewritten still names the calls that the thread emitted."""
        request = new.reading.request
        named = [p.call.id for m in request.messages for p in m.parts if p.call and p.call.id]
        named += [result.call_id for result in request.results if result.call_id]
        for call_id in reversed(named):
            threads = [
                name
                for name in self._by_call.get((new.run, call_id), [])
                if self._last[name].identity.agent == new.identity.agent
            ]
            if not threads:
                continue
            thread = max(threads, key=lambda name: _shared(self._last[name].items, new.items))
            last = self._last[thread]
            if call_id not in _call_ids(last) and (forked := self._fork(new)):
                return forked
            return self._continue(
                new, thread, "changed", _shared(last.items, new.items), f"its history holds the call {call_id}"
            )
        return None

    def _said(self, new: _Arrival) -> Turn | None:
        """A rewritten history without ids still holds what the model said last."""
        if not any(message.role == "assistant" for message in new.reading.request.messages):
            return None
        for item in reversed(new.items):
            thread = self._by_said.get((new.scope, item))
            if thread is not None:
                last = self._last[thread]
                shared = _shared(last.items, new.items)
                reason = f"its history holds what #{last.round_trip.index} answered"
                return self._continue(new, thread, "changed", shared, reason, "S")
        return None

    def _fork(self, new: _Arrival) -> Turn | None:
        """A request that goes on from an earlier point of a thread: regenerated, rewound or edited."""
        if not any(message.role == "assistant" for message in new.reading.request.messages):
            return None
        for length in range(len(new.items), 1, -1):
            found = self._ends.get((new.scope, new.sums[length]))
            if found is None:
                continue
            thread, index = found
            tools = frozenset(tool.name for tool in self._last[thread].reading.request.tools)
            if tools != new.tools:
                return None
            turn = self._start(new, Edge("fork", index, thread, f"it goes another way from #{index}", "P"))
            turn.history, turn.shared = "extended", length
            return turn
        return None

    def _begin(self, new: _Arrival) -> Turn:
        return self._start(
            new,
            self._named(new)
            or self._subagent(new)
            or self._compacted(new)
            or self._side(new)
            or Edge("main", reason="nothing earlier leads to it"),
        )

    def _start(self, new: _Arrival, edge: Edge) -> Turn:
        thread = f"t{len(self._last) + 1}"
        return Turn(
            new.round_trip,
            new.reading,
            thread,
            1,
            "first",
            0,
            edge,
            items=new.items,
            body=new.digest,
            identity=new.identity,
        )

    def _named(self, new: _Arrival) -> Edge | None:
        """What the client itself says that this is."""
        who = new.identity
        main = self._main.get(new.run)
        thread = main[0] if main else None
        of = self._last[thread].round_trip.index if thread else None
        match who.kind or ("subagent" if who.parent else None):
            case "subagent":
                return Edge("subagent", of, thread, "its headers say that it is a subagent's", "P")
            case "compaction":
                return Edge("compaction", of, thread, "its headers say that it compacts a history", "P")
            case "side_call":
                return Edge("side_call", of, thread, "its headers say that it is a side call", "P")
            case _:
                return None

    def _subagent(self, new: _Arrival) -> Edge | None:
        text = _first_text(new.reading)
        if text is None:
            return None
        for thread, index, argument in reversed(self._open[new.run]):
            if argument in text:
                return Edge("subagent", index, thread, f"its task stands in the arguments of a call of #{index}", "P")
        return None

    def _compacted(self, new: _Arrival) -> Edge | None:
        messages = new.reading.request.messages[:3]
        text = "\n".join(part.text for message in messages for part in message.parts if message.role != "system")
        if len(text) < 2 * _TELLING:
            return None
        for thread, index, answer in reversed(self._answers[new.run]):
            if answer in text:
                reason = f"its history begins with what #{index} wrote"
                return Edge("compaction", index, thread, reason, "S")
        return None

    def _side(self, new: _Arrival) -> Edge | None:
        main = self._main.get(new.run)
        request = new.reading.request
        forced = request.tool_choice is not None and request.tool_choice.mode == "named" and len(request.tools) == 1
        if main is None or (request.tools and not forced) or len(new.items) > _SIDE_ITEMS:
            return None
        small = request.max_output is not None and request.max_output <= _SIDE_OUTPUT
        if not small and request.model == main[1] and not forced:
            return None
        last = self._last[main[0]].round_trip.index
        why = "a small answer is asked for" if small else "another model or one forced tool"
        return Edge("side_call", last, main[0], f"a short history without the agent's tools; {why}", "S")

    def _remember(self, turn: Turn, new: _Arrival) -> None:
        run, index = turn.round_trip.run, turn.round_trip.index
        before = self._last.get(turn.thread)
        if before is not None and before.items:
            scope = (run, before.identity.session, before.identity.agent)
            waiting = self._waiting.get((scope, rolling(before.items)[-1]))
            if waiting and turn.thread in waiting:
                waiting.remove(turn.thread)
        self._last[turn.thread] = turn
        if run not in self._main and turn.reading.request.tools:
            self._main[run] = (turn.thread, turn.reading.request.model)
        if turn.items:
            if turn.failed:
                self._failed[(new.scope, new.sums[-1])] = turn.thread
            self._waiting[(new.scope, new.sums[-1])].append(turn.thread)
            self._ends.setdefault((new.scope, new.sums[-1]), (turn.thread, index))
        if turn.reading.response_id:
            self._by_answer[(run, turn.reading.response_id)] = (turn.thread, index)
        emission = turn.reading.emission
        if emission is None:
            return
        for call in emission.calls:
            if call.id and turn.thread not in (known := self._by_call[(run, call.id)]):
                known.append(turn.thread)
            for argument in _long_texts(call.arguments):
                self._open[run].append((turn.thread, index, argument))
        for item in emitted_items(emission):
            if len(emission.text) >= _TELLING or emission.calls:
                self._by_said[(new.scope, item)] = turn.thread
        if len(emission.text.strip()) >= 2 * _TELLING and not emission.calls:
            self._answers[run].append((turn.thread, index, emission.text.strip()))


def _shared(a: list[Item], b: list[Item]) -> int:
    count = 0
    for left, right in zip(a, b, strict=False):
        if left != right:
            break
        count += 1
    return count


def _call_ids(turn: Turn) -> frozenset[str]:
    emission = turn.reading.emission
    return frozenset(call.id for call in emission.calls if call.id) if emission else frozenset()


def _handoff(turn: Turn) -> str | None:
    """The call that hands the conversation to another agent, if the turn made one."""
    emission = turn.reading.emission
    names = (call.name for call in emission.calls) if emission else ()
    return next((name for name in names if name.startswith(("transfer_to", "handoff", "transfer-to"))), None)


def _first_text(reading: Reading) -> str | None:
    for message in reading.request.messages:
        if message.role == "user":
            return "\n".join(part.text for part in message.parts if part.kind == "text") or None
    return None


def _long_texts(arguments: object) -> list[str]:
    """The strings in a call's arguments that are long enough to be a task."""
    found: list[str] = []
    todo = [arguments]
    while todo and len(found) < 16:
        value = todo.pop()
        if isinstance(value, str):
            if len(value.strip()) >= _TELLING:
                found.append(value.strip())
        elif is_object(value):
            todo.extend(value.values())
        elif is_array(value):
            todo.extend(value)
    return found
