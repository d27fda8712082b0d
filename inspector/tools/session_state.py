"""One session of a tool server: what is known of it between two of its messages."""

from collections import deque
from dataclasses import field
from typing import Literal

from turntape.cassettes.frozen import frozen, mutable

from ..wire.json_value import Object, as_object, as_text, compact
from ..wire.protocols.mcp.shape import META
from .definitions import Definition
from .expectations import Asks, Prompts
from .listings import Listing, Pages
from .log_level import LogLevels
from .mentions import Mentions
from .progress import Progress
from .tool_messages import ToolMessage
from .tool_run import Departure, ToolRun

OPEN = "open"
"""The detail of a note about a question over HTTP, which is in a response, that was still open at the end."""
_MOST_STRAYS = 100
_MOST_WRONGS = 20
_MOST_CURSORS = 2_000

type NoteKind = Literal[
    "garbage",
    "definition_changed",
    "no_answer_of_client",
    "refused_by_client",
    "ended_early",
    "answered_twice",
    "listed_twice",
    "list_loops",
    "page_repeats",
    "no_schema",
    "page_not_read",
    "not_ready",
    "session_gone",
    "session_kept",
    "session_not_named",
    "session_refused",
    "session_id_wrong",
    "never_answered",
    "outdated",
    "stream_twice",
    "id_reused",
    "id_too_large",
    "list_failed",
    "tool_gone",
    "progress_unknown",
    "progress_late",
    "progress_back",
    "progress_over",
    "notice_refused",
    "stream_refused",
    "replied",
    "reply_wrong",
    "link_broken",
    "version_unknown",
    "request_wrong",
    "start_cancelled",
    "cannot_answer",
    "ask_wrong",
    "ask_undeclared",
    "ask_early",
    "not_declared",
    "not_known",
    "answer_wrong",
    "answer_odd",
    "start_failed",
    "notice_wrong",
    "own_notice_wrong",
    "request_odd",
    "ask_odd",
    "not_offered",
    "partly_offered",
    "shadowed",
    "cursor_wrong",
    "ask_id_open",
    "ask_id_used",
    "session_id_changed",
    "session_not_renewed",
    "notice_answered",
    "cancelled_answered",
    "schema_wrong",
    "never_confirmed",
    "ask_unknown",
    "endpoint_elsewhere",
    "endpoint_followed",
    "own_garbage",
    "own_garbage_refused",
]
"""What a note is about."""


@frozen
class WireNote:
    """Something on a tool's wire that is not a run."""

    kind: NoteKind
    server: str
    index: int
    """The round trip that shows it."""
    what: str
    """The text, the tool, or the method concerned."""
    detail: str = ""
    before: int | None = None
    """The round trip that it contradicts."""
    wanted: object = None
    """The JSON Schema that the server gave for the client's reply."""
    given: object = None
    """What the client replied."""
    at: float | None = None
    """When the server asked what the client replied to."""


@mutable
class Session:
    server: str
    run: str | None = None
    noted: set[str] = field(default_factory=set[str])
    """The kinds of notes of which only the first is made."""
    listings: dict[str, Listing] = field(default_factory=dict[str, Listing])
    """By method: the pages of a list that the client reads."""
    pages: Pages = field(default_factory=Pages)
    """The pages of the list of tools, and whether the client reads them before it calls one."""
    gone: tuple[float, int] | None = None
    """When the server said that it no longer has the session, and the round trip of that."""
    deleted: bool = False
    """Whether it said so because the client had deleted the session."""
    asked: dict[int, ToolMessage] = field(default_factory=dict[int, ToolMessage])
    """Requests without an answer, by their place."""
    runs: dict[int, ToolRun] = field(default_factory=dict[int, ToolRun])
    """Runs that may still change, by the place of their last `tools/call`."""
    cancelled: dict[str, tuple[float, str | None]] = field(default_factory=dict[str, tuple[float, str | None]])
    """When the client gave up on a request, and why, by its id."""
    waiting: dict[str, int] = field(default_factory=dict[str, int])
    """By `requestState` or the id of a task: the place under which its run is kept."""
    states: dict[str, str] = field(default_factory=dict[str, str])
    """By each `requestState` that the server gave: the name and the arguments of the call."""
    version: str | None = None
    """The version of MCP that both sides speak."""
    declared: Object | None = None
    """The capabilities that the client stated; None where its `initialize` is not on the tape."""
    offers: Object | None = None
    """The capabilities that the server stated; None where its answer to `initialize` is not on the tape."""
    supported: tuple[str, ...] = ()
    """The versions of MCP that the server names in its answer to `server/discover`."""
    tasks: dict[str, str] = field(default_factory=dict[str, str])
    """The status of each task, as the server said it last."""
    ready_at: float | None = None
    """When the server had answered `initialize`."""
    wrongs: deque["Wrong"] = field(default_factory=lambda: deque["Wrong"](maxlen=_MOST_WRONGS))
    """The newest faults of the client in what the server asked it."""
    failed: dict[int, ToolRun] = field(default_factory=dict[int, ToolRun])
    """The newest runs that the server failed, by the place of their `tools/call`."""
    confirmed: bool = False
    """Whether the client has said that the handshake is over."""
    ended_early: ToolMessage | None = None
    """With that it said so although no handshake had begun, as far as is recorded."""
    served: bool = False
    """Whether the server has answered anything but what opens a session."""
    first: ToolMessage | None = None
    """The client's earliest request that has to wait for the end of the handshake."""
    start_failed: WireNote | None = None
    """The first handshake that the server refused, while none has succeeded."""
    flaws: dict[int, str] = field(default_factory=dict[int, str])
    """How open requests of the client break the rules, by their place."""
    misheaded: set[int] = field(default_factory=set[int])
    """The places of requests whose headers contradict them."""
    used: dict[str, float] = field(default_factory=dict[str, float])
    """When the client's request with an id had its answer."""
    answered: tuple[int, str] | None = None
    """The round trip and the id of the newest answer to a request."""
    known_wrong: set[int] = field(default_factory=set[int])
    """The answers about tools of which another note says what is wrong with them."""
    unusable: WireNote | None = None
    """The first answer of the server to the handshake or about its tools that clients must refuse."""
    issued: bool = False
    """Whether the server gave the session its id, over HTTP."""
    start: ToolMessage | None = None
    """The client's `initialize`."""
    starts: int = 0
    """How often a handshake began. Where a server gives several clients one session, each counts its own ids."""
    ids: dict[str, "Sent"] = field(default_factory=dict[str, "Sent"])
    """The newest request of the client with an id."""
    strays: deque["Stray"] = field(default_factory=lambda: deque["Stray"](maxlen=_MOST_STRAYS))
    """The newest of what the server wrote that answers no request and is not a notification."""
    spent: set[int] = field(default_factory=set[int])
    """The places of requests whose answer over HTTP has ended without a result."""
    links: dict[str, int] = field(default_factory=dict[str, int])
    """The resources that results named, by their address, with the round trip of that."""
    mentions: Mentions = field(default_factory=Mentions)
    asks: Asks = field(default_factory=Asks)
    prompts: Prompts = field(default_factory=Prompts)
    expired_by: int | None = None
    """The round trip in which the server said with status 404 that it had ended the session."""
    renewed: bool = False
    """Whether the server gave the id of a session after this one had begun."""
    progress: Progress = field(default_factory=Progress)
    garbled: WireNote | None = None
    """What the client wrote over stdio that is not a message, while the server has not refused it."""
    levels: LogLevels = field(default_factory=LogLevels)
    before: dict[str, Definition] = field(default_factory=dict[str, Definition])
    """The tools as they were listed before the list whose pages are read now."""
    cursors: list["Turned"] = field(default_factory=list["Turned"])
    """The pages of lists that the client asked for by name."""

    def turned(self, asked: ToolMessage, *, failed: bool) -> None:
        """The client has the answer to its request for a page."""
        named = as_text(asked.params.get("cursor"))
        if named is not None and len(self.cursors) < _MOST_CURSORS:
            self.cursors.append(Turned(asked.method or "", named, asked.index, failed))


@frozen
class Turned:
    """A request for a page of a list that is not the first one."""

    method: str
    cursor: str
    index: int
    failed: bool
    """Whether the server refused it."""


@frozen
class Sent:
    """A request of the client, and how long it was open."""

    begun: float
    ended: float
    index: int
    sequence: int


@frozen
class Wrong:
    """What a client did wrong when the server asked it something."""

    at: float
    """When the server asked."""
    departure: Departure


@frozen
class Stray:
    """A line of the server that answers no request: an answer with another id, or no message at all."""

    at: float
    is_message: bool
    id: object
    text: str


def fail(session: Session, run: ToolRun) -> None:
    """Remember a run that the server failed, for what is learned later of the client's part in it."""
    session.failed[run.sequence] = run
    if len(session.failed) > _MOST_WRONGS:
        del session.failed[next(iter(session.failed))]


def is_new(session: Session, kind: str) -> bool:
    """True for the first note of its kind in a session."""
    if kind in session.noted:
        return False
    session.noted.add(kind)
    return True


def version_of(session: Session, asked: ToolMessage, result: Object | None) -> str | None:
    """The version of MCP that a request says, or that the handshake ended with."""
    said = as_text(as_object(asked.params.get("_meta")).get(f"{META}protocolVersion"))
    agreed = as_text((result or {}).get("protocolVersion")) if asked.method == "initialize" else None
    return said or agreed or session.version


def token_of(message: ToolMessage) -> str | None:
    """The token under which a request wants reports of progress."""
    token = as_object(message.params.get("_meta")).get("progressToken")
    return None if token is None else compact(token)


def reports_of(session: Session, run: ToolRun, until: float) -> int:
    """How many reports of progress a run gave before its end."""
    token = run.meta.get("progressToken")
    return 0 if token is None else session.progress.during(compact(token), run.started_at, until)


def key_of_id(value: object) -> str:
    return compact(value)
