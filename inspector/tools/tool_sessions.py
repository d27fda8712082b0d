"""Tool runs made of the messages of tool sessions, as they are recorded.

`ToolSessions.add` takes one round trip and gives the runs that it begins or changes. A run whose answer comes in
another round trip (the old SSE transport, tasks, a request for input) is given again with the same key.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import field
from urllib.parse import urlsplit

from turntape.cassettes.frozen import copied_with, mutable
from turntape.cassettes.tape.model import RoundTrip

from ..wire.exchange import header
from ..wire.json_value import as_object, as_text, compact
from ..wire.protocols.mcp.messages import address_of, is_old_stream
from ..wire.protocols.mcp.shape import SESSION_HEADER
from .answers import STARTS
from .catalogue import Catalogue
from .flaw import Flaw
from .form import is_modern
from .garbage import is_garbage, refuses_garbage, unreadable_line
from .handshake import OPENING, flaw_of_handshake, is_about_version, is_unconfirmed
from .http_form import endpoint_elsewhere
from .http_sessions import HttpSessions, deleted, flaw_of_http, unmet
from .mentions import LATE
from .message_forms import wrong_notice
from .notices import of_notice, shared_token
from .progress import Report
from .replies import provoked
from .request_flaws import wrong_in
from .request_headers import flaw_of_headers
from .run_cancel import gave_up
from .run_end import ended, strayed
from .run_ids import of_ids
from .run_start import called, named
from .session_answers import SessionAnswers
from .session_end import at_end
from .session_state import Session, Stray, WireNote, is_new, key_of_id, token_of
from .spans import span_runs
from .tool_messages import ToolMessage, ToolMessageReader
from .tool_run import Departure, ToolRun

_ACCEPTED, _NOT_FOUND = 202, 404

type RunKey = tuple[str, int]
"""The session of a run, and the place of its `tools/call` in it."""

_LATE_METHODS = LATE | {"notifications/progress", "tools/list", "initialize", "notifications/cancelled"}
_MOST_OPEN = 2_000
"""So many exchanges of a session wait for an answer at most."""


@mutable
class Added:
    """What a round trip brought."""

    runs: list[ToolRun]
    notes: list[WireNote] = field(default_factory=list[WireNote])
    late: bool = False
    """Whether only the end of the recording shows what it means: reports of progress, answers that nobody can use."""


@mutable
class _Taken:
    """What a round trip has brought so far, while it is taken."""

    trip: RoundTrip
    runs: dict[RunKey, ToolRun] = field(default_factory=dict[RunKey, ToolRun])
    notes: list[WireNote] = field(default_factory=list[WireNote])
    late: bool = False
    sessions: dict[str, Session] = field(default_factory=dict[str, Session])
    """Those of its messages."""
    sent: list[ToolMessage] = field(default_factory=list[ToolMessage])
    """The requests of the client."""
    unasked: ToolMessage | None = None
    """A message of the client that wants no answer."""

    @property
    def wired(self) -> bool:
        """Whether its messages come over stdio, where each comes once."""
        return self.trip.tool_wire is not None

    @property
    def status(self) -> int | None:
        """The status of an answer over HTTP."""
        return self.trip.response.status if self.trip.response is not None and not self.wired else None

    @property
    def of_one_client(self) -> bool:
        """Whether no other client can have sent its messages: it comes over stdio, or names its session."""
        return self.wired or bool(header(self.trip.request.headers, SESSION_HEADER))

    def put(self, runs: Iterable[ToolRun]) -> None:
        """Runs that it begins or changes."""
        for run in runs:
            self.runs[run.session, run.sequence] = run


class ToolSessions:
    """All tool sessions of a recording."""

    def __init__(self) -> None:
        self._reader = ToolMessageReader()
        self._sessions: dict[str, Session] = {}
        self.catalogue = Catalogue()
        self._answers = SessionAnswers(self.catalogue)
        self._http = HttpSessions()
        self._early: dict[str, ToolMessage] = {}
        """By address: the end of a handshake over HTTP that had not begun."""

    @property
    def resources(self) -> dict[tuple[str, str], str]:
        """The text of the resources that clients read, by their server and address."""
        return self._answers.resources

    @property
    def servers(self) -> frozenset[str]:
        """The names of all servers so far."""
        return frozenset(session.server for session in self._sessions.values())

    def add(self, trip: RoundTrip) -> Added:
        """What a round trip brings; nothing when it is neither MCP's nor brings spans."""
        if runs := list(span_runs([trip])):
            return Added(runs)
        taken = _Taken(trip)
        for message in self._reader.add(trip):
            self._message(message, taken)
        own = self._sessions.get(self._reader.session_of(trip)) if not taken.wired else None
        deleted(own, trip)
        taken.notes += self._elsewhere(trip)
        taken.notes += unmet(own, trip, None if taken.sent else taken.unasked)
        refusal = self._exchanged(taken)
        flaw = refusal or flaw_of_http(own, trip)
        for name, session in taken.sessions.items():
            if is_unconfirmed(session):
                taken.put(_unconfirmed(run for run in taken.runs.values() if run.session == name))
        if taken.status is not None:
            taken.put([_with_status(run, taken, flaw) for run in taken.runs.values()])
        if flaw is not None and refusal is None:
            _unusable(taken, flaw)
        return _added(taken)

    def closed(self, offering: Collection[str]) -> Iterator[WireNote]:
        """What only the end of the recording shows.

        Reports of progress that belong to no open request, handshakes that never succeeded, and answers that clients
        must refuse. `offering`: the servers of which a tool was offered to the model, so that their answers were taken.
        """
        for session in self._sessions.values():
            yield from at_end(session, offering)

    def _message(self, message: ToolMessage, taken: _Taken) -> None:
        """Take a message of the round trip, or one before it that is read only now."""
        session = self._sessions.setdefault(message.session, Session(message.server))
        taken.sessions[message.session] = session
        of_client = message.sender == "client"
        if of_client and message.is_request:
            taken.sent.append(message)
        elif of_client and wrong_notice(message.method or "", message.params) is None:
            taken.unasked = message
        taken.late |= (
            message.method in _LATE_METHODS
            or is_garbage(message)
            or (message.method == "tools/call" and not session.pages.are_read)
            or (message.is_answer and of_client)
            or "cursor" in message.params
        )
        if session.server != message.server:
            taken.put(named(session, message.server))
        session.run = taken.trip.run
        if message.index == taken.trip.index:
            session.mentions.add(message)
            if of_client:
                taken.notes += self._http.of_client(session, message, taken.trip)
        taken.put(self._read(session, message, taken))

    def _exchanged(self, taken: _Taken) -> Flaw | None:
        """Take what the round trip says as a whole; gives how its status refuses what the client had sent."""
        refusal: Flaw | None = None
        for session in taken.sessions.values():
            by_status = self._http.by_status(session, taken.trip, taken.notes, self._sessions.values())
            refusal = by_status or refusal
            taken.put(ended(session, taken.trip, taken.notes))
            taken.late |= any(one.index == taken.trip.index for one in session.asked.values())
            taken.put(of_ids(session, taken.trip, taken.sent if taken.of_one_client else [], taken.notes))
        return refusal

    def _elsewhere(self, trip: RoundTrip) -> Iterator[WireNote]:
        """A stream of the older transport that sends its client to another origin. What the client sends there has been
        recorded before the stream ends."""
        if (url := endpoint_elsewhere(trip)) is None:
            return
        session = self._sessions.get(self._reader.session_of(trip))
        followed = session is not None and session.start is not None
        server = session.server if session is not None else trip.upstream or urlsplit(trip.request.url).hostname or ""
        yield WireNote("endpoint_followed" if followed else "endpoint_elsewhere", server, trip.index, url)

    def _read(self, session: Session, message: ToolMessage, taken: _Taken) -> Iterator[ToolRun]:
        """The runs that a message begins or changes."""
        taken.notes += of_notice(session, message)
        if message.is_request:
            if len(session.asked) < _MOST_OPEN:
                session.asked[message.sequence] = message
            if message.sender == "client":
                yield from self._asked(session, message, taken)
            elif taken.wired or _once(session, taken.trip):
                session.asks.add(key_of_id(message.id), message)
        elif message.is_answer:
            yield from self._answer(session, message, taken)
        else:
            yield from self._notice(session, message, taken)

    def _answer(self, session: Session, message: ToolMessage, taken: _Taken) -> Iterator[ToolRun]:
        """An answer of the server or the client, to whichever request it belongs."""
        place = message.answers if message.answers is not None else _unreadable(session, message)
        asked = session.asked.pop(place, None) if place is not None else None
        if asked is not None:
            session.answered = (message.index, key_of_id(message.id))
        if place is None and taken.wired and refuses_garbage(session, message, taken.notes):
            return
        if place is None and message.sender == "server" and _is_stray(session, message, taken):
            yield from strayed(session, Stray(message.at, True, message.id, ""))
            if is_new(session, "answered_twice"):
                taken.notes.append(WireNote("answered_twice", session.server, message.index, compact(message.id)))
        if asked is not None:
            yield from self._answers.take(session, asked, message, taken.notes)
        elif message.sender == "client" and is_modern(session.version) and is_new(session, "own_notice_wrong"):
            how = f"version {session.version} does not have: its servers send no requests"
            taken.notes.append(WireNote("own_notice_wrong", session.server, message.index, "an answer", how))

    def _notice(self, session: Session, message: ToolMessage, taken: _Taken) -> Iterator[ToolRun]:
        """A notification, or a line that is not a message."""
        match message.method, message.sender:
            case "notifications/progress", "server":
                token = compact(message.params.get("progressToken"))
                session.progress.reported(token, Report.read(message, wired=taken.wired))
            case "notifications/cancelled", "client":
                if session.start is not None and message.params.get("requestId") == session.start.id:
                    session.noted.add("start_cancelled")
                    before = session.start.index
                    taken.notes.append(WireNote("start_cancelled", session.server, message.index, "", before=before))
                yield from gave_up(session, message)
            case "notifications/tools/list_changed", _:
                self.catalogue.announced(session.server, message.at, message.index)
            case "notifications/initialized", "client":
                session.confirmed = True
                session.ended_early = message if session.start is None else None
                if session.start is None and not taken.wired:
                    self._early[address_of(taken.trip)] = message
                early = session.ready_at is not None and message.at < session.ready_at
                if early and is_new(session, "own_notice_wrong"):
                    how = "comes before the server has answered `initialize`"
                    method = "notifications/initialized"
                    taken.notes.append(WireNote("own_notice_wrong", session.server, message.index, method, how))
            case _:
                yield from unreadable_line(session, message, taken.notes, wired=taken.wired)

    def _asked(self, session: Session, message: ToolMessage, taken: _Taken) -> Iterator[ToolRun]:
        """A request of the client."""
        if message.method not in OPENING and (session.first is None or message.at < session.first.at):
            session.first = message
        tool = self.catalogue.known(session.server, message.params.get("name"))
        again = taken.of_one_client or taken.status == _ACCEPTED  # in a URL that is one client's
        wrong = wrong_in(session, message, tool) or flaw_of_handshake(session, message, again=again)
        if wrong is None and (wrong := flaw_of_headers(taken.trip, message, session.version)) is not None:
            session.misheaded.add(message.sequence)
        if wrong is not None and message.sequence in session.asked:
            session.flaws[message.sequence] = wrong
        if message.method == "initialize":
            self._begins(session, message, taken.trip)
            if taken.wired and session.ended_early is not None and is_new(session, "own_notice_wrong"):
                early, how = session.ended_early, "comes before `initialize`"
                taken.notes.append(WireNote("own_notice_wrong", session.server, early.index, early.method or "", how))
            session.starts += 1
            session.start = message
            session.declared = as_object(message.params.get("capabilities"))
        if (token := token_of(message)) is not None:
            taken.notes += shared_token(session, message, token)
            session.progress.asked(token, message.at)
        if message.method == "tools/list":
            session.pages.asked(message.at, as_text(message.params.get("cursor")))
        if message.method == "tools/call":
            session.pages.called(message.at, message.index)
            yield called(session, message, tool, wrong)

    def _begins(self, session: Session, start: ToolMessage, trip: RoundTrip) -> None:
        """An `initialize`. Over HTTP, what the client sent too early names no session, so it is in another one."""
        early = self._early.pop(address_of(trip), None)
        if early is not None and early.at < start.at and session.start is None:
            session.ended_early, session.confirmed = early, False


def _unconfirmed(runs: Iterable[ToolRun]) -> list[ToolRun]:
    """The runs that end without an answer while the server may wait for the end of the handshake."""
    waits = (run for run in runs if run.outcome in ("unanswered", "cancelled") and run.ended_by != "server")
    left = (run for run in waits if run.departed is None and not run.awaits)
    how = "has not sent `notifications/initialized`, with which the handshake ends"
    return [copied_with(run, departed=Departure(how, run.index)) for run in left]


def _with_status(run: ToolRun, taken: _Taken, flaw: Flaw | None) -> ToolRun:
    """A run with what the answer over HTTP shows."""
    gone = taken.status == _NOT_FOUND and taken.sessions[run.session].expired_by == taken.trip.index
    return copied_with(run, status=taken.status, flaw=flaw or run.flaw, expired=gone)


def _unusable(taken: _Taken, flaw: Flaw) -> None:
    """Keep that the session cannot begin, as no client can read this answer."""
    for message in taken.sent:
        session = taken.sessions[message.session]
        if message.method in STARTS and session.unusable is None:
            wrong = WireNote("answer_wrong", session.server, taken.trip.index, message.method, flaw.text)
            session.unusable = wrong


def _added(taken: _Taken) -> Added:
    """All that the round trip brought; what a session's runs show together goes into its notes."""
    index, runs = taken.trip.index, list(taken.runs.values())
    for name, session in taken.sessions.items():
        failed = session.start_failed
        if failed is not None and failed.index == index and _is_of_client(taken.status, failed.detail):
            session.start_failed = None
        for late in (session.unusable, session.start_failed):
            taken.late |= late is not None and late.index == index
        taken.late |= index in (session.pages.latest, session.expired_by)
        own = [run for run in runs if run.session == name]
        runs = [run for run in runs if run.session != name]
        runs += provoked(session, taken.trip, own, taken.notes)
    return Added(runs, taken.notes, taken.late)


def _is_stray(session: Session, answer: ToolMessage, taken: _Taken) -> bool:
    """Whether an answer of the server that belongs to no open request can be no other client's."""
    if taken.wired or session.answered == (answer.index, key_of_id(answer.id)):
        return True
    if _once(session, taken.trip) and key_of_id(answer.id) in session.used:
        return True
    return _answers_alone(session, taken.trip) or is_old_stream(taken.trip)


def _answers_alone(session: Session, trip: RoundTrip) -> bool:
    """Whether an answer over HTTP comes in the round trip of a request that has none, so that it can be no other's."""
    return trip.request.method == "POST" and any(one.index == trip.index for one in session.asked.values())


def _once(session: Session, trip: RoundTrip) -> bool:
    """Whether an answer over HTTP comes for the first time: the session is one client's, and no stream is resumed."""
    return session.issued and session.starts < 2 and not header(trip.request.headers, _RESUMED)


_RESUMED = "last-event-id"


def _is_of_client(status: int | None, said: str) -> bool:
    """Whether a status over HTTP speaks of what the client sent: its address, its credentials, its headers.

    A version that a server does not speak is none of them: it must name one that it speaks.
    """
    return status is not None and 400 <= status < 500 and not is_about_version(said)


def _unreadable(session: Session, answer: ToolMessage) -> int | None:
    """The request that an error without an id answers: the newest open one whose form is wrong.

    A server that cannot read a request cannot know its id (https://www.jsonrpc.org/specification#response_object, read
    2026-11-23).
    """
    if answer.sender != "server" or answer.id is not None or answer.error is None:
        return None
    broken = {place for place, run in session.runs.items() if run.departed is not None} | session.flaws.keys()
    return max(broken & session.asked.keys(), default=None)
