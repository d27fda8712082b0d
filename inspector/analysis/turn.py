"""A turn, and the edge that says why it is in its thread."""

from typing import Literal

from turntape.cassettes.frozen import frozen, mutable
from turntape.cassettes.tape.model import RoundTrip

from ..wire.values import Reading, Usage
from .conversation import Conversation
from .identity import Identity
from .seen import Seen

type EdgeKind = Literal[
    "main", "continuation", "attempt", "fork", "subagent", "handoff", "side_call", "compaction", "rebuilt"
]


@frozen
class Edge:
    """Why a turn is in its thread."""

    kind: EdgeKind
    of: int | None = None
    """The number of the round trip that it follows from."""
    thread: str | None = None
    """The thread of that round trip."""
    reason: str = ""
    """The evidence, as a sentence."""
    tier: Literal["P", "S", "H"] = "P"
    """How sure it is: proven, strong inference, heuristic."""

    def as_json(self) -> dict[str, object]:
        """The edge as `show --json` has it."""
        return {"kind": self.kind, "of": self.of, "thread": self.thread, "reason": self.reason, "tier": self.tier}


@mutable(kw_only=True)
class Turn:
    """A round trip to a generation endpoint, as a step of a thread.

    It does not hold the turn before it, because a run must not stay in memory.
    """

    seen: Seen
    thread: str
    number: int
    """From 1 within its thread; the attempts of one turn share it."""
    attempt: int = 1
    """From 1; from 2 on it repeats a turn that failed."""
    history: Literal["first", "extended", "changed"]
    """How its request relates to the thread's previous one."""
    shared: int = 0
    """How many units at the front of its conversation were also in the thread's previous request."""
    edge: Edge
    usage_before: Usage | None = None
    """The usage of the previous turn of the thread."""
    messages_before: int = 0
    """How many messages the previous request of the thread had."""
    body: bytes = b""
    """A digest of its request body."""
    identity: Identity = Identity()

    @property
    def round_trip(self) -> RoundTrip:
        return self.seen.round_trip

    @property
    def reading(self) -> Reading:
        return self.seen.reading

    @property
    def conversation(self) -> Conversation:
        """The messages of its request."""
        return self.seen.conversation

    @property
    def failed(self) -> bool:
        """Whether no complete answer came."""
        finish = self.reading.finish
        return finish is None or finish.effective in ("error", "cut", "cancelled")

    @property
    def tools(self) -> frozenset[str]:
        """The names of the tools that its request offered."""
        return frozenset(tool.name for tool in self.reading.request.tools)

    @property
    def call_ids(self) -> frozenset[str]:
        """The ids of the calls that it emitted."""
        emission = self.reading.emission
        return frozenset(call.id for call in emission.calls if call.id) if emission else frozenset()
