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
from ..wire.json_value import as_object, as_text, compact, objects_in
from ..wire.protocols.mcp.messages import is_old_stream
from ..wire.protocols.mcp.shape import SESSION_HEADER
from .answers import (
    NO_METHOD,
    STARTS,
    judged,
    list_failed,
    not_there,
    of_status,
    paged,
    refused,
    undeclared,
)
from .catalogue import Catalogue
from .expectations import unoffered
from .flaw import Flaw
from .form import is_modern
from .garbage import is_garbage, refuses_garbage, unreadable_line
from .handshake import (
    OPENING,
    flaw_of_handshake,
    is_about_handshake,
    is_about_version,
    is_unconfirmed,
    opened,
    unlisted_version,
)
from .http_form import endpoint_elsewhere
from .http_sessions import HttpSessions, deleted, flaw_of_http, unmet
from .mentions import LATE
from .message_forms import wrong_notice
from .notices import of_notice, shared_token
from .progress import Report
from .replies import provoked, replied
from .request_form import flaw_of_request
from .request_headers import flaw_of_headers, speaks_of_headers
from .returned import error_message, returned_of
from .run_steps import called, ended, gave_up, given, named, of_ids, of_task, strayed
from .session_end import at_end
from .session_state import Session, Stray, WireNote, is_new, key_of_id, token_of, version_of
from .spans import span_runs
from .tool_messages import ToolMessage, ToolMessageReader
from .tool_run import Departure, ToolRun

_ACCEPTED, _NOT_FOUND = 202, 404

type RunKey = tuple[str, int]
"""The session of a run, and the place of its `tools/call` in it."""

_LATE_METHODS = LATE | {"notifications/progress", "tools/list", "initialize", "notifications/cancelled"}
_MOST_USED = 20_000
"""So many ids of a session are known to be used."""
_MOST_OPEN = 2_000
"""So many exchanges of a session wait for an answer at most."""


@mutable
class Added:
    """What a round trip brought."""

    runs: list[ToolRun] = field(default_factory=list[ToolRun])
    notes: list[WireNote] = field(default_factory=list[WireNote])
    late: bool = False
    """Whether only the end of the recording shows what it means: reports of progress, answers that nobody can use."""


class ToolSessions:
    """All tool sessions of a recording."""

    def __init__(self) -> None:
        self._reader = ToolMessageReader()
        self._sessions: dict[str, Session] = {}
        self.catalogue = Catalogue()
        self.read: dict[tuple[str, str], str] = {}
        """The text of the resources that clients read, by their server and address."""
        self._http = HttpSessions()

    @property
    def servers(self) -> frozenset[str]:
        """The names of all servers so far."""
        return frozenset(session.server for session in self._sessions.values())

    def add(self, trip: RoundTrip) -> Added:
        """What a round trip brings; nothing when it is neither MCP's nor brings spans."""
        added = Added(list(span_runs([trip])))
        if added.runs:
            return added
        changed: dict[RunKey, ToolRun] = {}
        touched: set[str] = set()
        sent: list[ToolMessage] = []
        unasked: ToolMessage | None = None
        for message in self._reader.add(trip):
            touched.add(message.session)
            if message.sender == "client" and message.is_request:
                sent.append(message)
            elif message.sender == "client" and wrong_notice(message.method or "", message.params) is None:
                unasked = message
            added.late |= (
                message.method in _LATE_METHODS
                or is_garbage(message)
                or self._skips(message)
                or (message.is_answer and message.sender == "client")
                or "cursor" in message.params
            )
            session = self._sessions.setdefault(message.session, Session(message.server))
            if session.server != message.server:
                changed |= {(run.session, run.sequence): run for run in named(session, message.server)}
            session.run = trip.run
            again = message.index != trip.index
            if not again:
                session.mentions.add(message)
            if message.sender == "client" and not again:
                added.notes += self._http.of_client(session, message, trip)
            for run in self._take(session, message, added.notes, trip):
                changed[run.session, run.sequence] = run
        of_trip = self._sessions.get(self._reader.session_of(trip)) if trip.tool_wire is None else None
        deleted(of_trip, trip)
        added.notes += self._elsewhere(trip)
        added.notes += unmet(of_trip, trip, None if sent else unasked)
        refused: Flaw | None = None
        for name in touched:
            session = self._sessions[name]
            refused = self._http.by_status(session, trip, added.notes, self._sessions.values()) or refused
            for run in ended(session, trip, added.notes):
                changed[name, run.sequence] = run
            added.late |= any(one.index == trip.index for one in session.asked.values())
            wired = trip.tool_wire is not None or bool(header(trip.request.headers, SESSION_HEADER))
            for run in of_ids(session, trip, sent if wired else [], added.notes):
                changed[name, run.sequence] = run
        status = trip.response.status if trip.response is not None and trip.tool_wire is None else None
        flaw = refused or flaw_of_http(of_trip, trip)
        gone = {name for name in touched if status == _NOT_FOUND and self._sessions[name].expired_by == trip.index}
        for name in touched:
            if is_unconfirmed(self._sessions[name]):
                changed |= _unconfirmed(run for run in changed.values() if run.session == name)
        added.runs = [
            copied_with(run, status=status, flaw=flaw or run.flaw, expired=run.session in gone)
            if status is not None
            else run
            for run in changed.values()
        ]
        if flaw is not None and refused is None:
            for message in sent:
                session = self._sessions[message.session]
                if message.method in STARTS and session.unusable is None:
                    session.unusable = WireNote("answer_wrong", session.server, trip.index, message.method, flaw.text)
        for name in touched:
            session = self._sessions[name]
            failed = session.start_failed
            if failed is not None and failed.index == trip.index and _is_of_client(status, failed.detail):
                session.start_failed = None
            for late in (session.unusable, session.start_failed):
                added.late |= late is not None and late.index == trip.index
            added.late |= trip.index in (session.pages.latest, session.expired_by)
            own = [run for run in added.runs if run.session == name]
            added.runs = [run for run in added.runs if run.session != name]
            added.runs += provoked(session, trip, own, added.notes)
        return added

    def closed(self, offering: Collection[str]) -> Iterator[WireNote]:
        """What only the end of the recording shows.

        Reports of progress that belong to no open request, handshakes that never succeeded, and answers that clients
        must refuse. `offering`: the servers of which a tool was offered to the model, so that their answers were taken.
        """
        for session in self._sessions.values():
            yield from at_end(session, offering)

    def _elsewhere(self, trip: RoundTrip) -> Iterator[WireNote]:
        """A stream of the older transport that sends its client to another origin. What the client sends there has been
        recorded before the stream ends."""
        if (url := endpoint_elsewhere(trip)) is None:
            return
        session = self._sessions.get(self._reader.session_of(trip))
        followed = session is not None and session.start is not None
        server = session.server if session is not None else trip.upstream or urlsplit(trip.request.url).hostname or ""
        yield WireNote("endpoint_followed" if followed else "endpoint_elsewhere", server, trip.index, url)

    def _skips(self, message: ToolMessage) -> bool:
        """Whether a call comes while a page of the list is unread."""
        session = self._sessions.get(message.session)
        return message.method == "tools/call" and session is not None and not session.pages.are_read

    def _take(
        self, session: Session, message: ToolMessage, notes: list[WireNote], trip: RoundTrip
    ) -> Iterator[ToolRun]:
        """The runs that a message begins or changes."""
        wired = trip.tool_wire is not None  # over stdio, no message comes again
        notes += of_notice(session, message)
        if message.is_request:
            if len(session.asked) < _MOST_OPEN:
                session.asked[message.sequence] = message
            if message.sender == "client":
                yield from self._asked(session, message, notes, trip)
            elif wired or _once(session, trip):
                session.asks.add(key_of_id(message.id), message)
        elif message.is_answer:
            place = message.answers if message.answers is not None else _unreadable(session, message)
            asked = session.asked.pop(place, None) if place is not None else None
            if asked is not None:
                session.answered = (message.index, key_of_id(message.id))
            again = session.answered == (message.index, key_of_id(message.id))
            twice = _once(session, trip) and key_of_id(message.id) in session.used
            alone = not wired and (_answers_alone(session, trip) or is_old_stream(trip))
            if place is None and wired and refuses_garbage(session, message, notes):
                return
            if place is None and message.sender == "server" and (wired or again or twice or alone):
                yield from strayed(session, Stray(message.at, True, message.id, ""))
                if is_new(session, "answered_twice"):
                    notes.append(WireNote("answered_twice", session.server, message.index, compact(message.id)))
            if asked is not None:
                yield from self._answered(session, asked, message, notes)
            elif message.sender == "client" and is_modern(session.version) and is_new(session, "own_notice_wrong"):
                how = f"version {session.version} does not have: its servers send no requests"
                notes.append(WireNote("own_notice_wrong", session.server, message.index, "an answer", how))
        elif message.method == "notifications/progress" and message.sender == "server":
            token = compact(message.params.get("progressToken"))
            done = message.params.get("progress")
            total = message.params.get("total")
            session.progress.reported(token, Report(message.at, message.index, wired, done, total, message.sequence))
        elif message.method == "notifications/cancelled" and message.sender == "client":
            if session.start is not None and message.params.get("requestId") == session.start.id:
                session.noted.add("start_cancelled")
                notes.append(WireNote("start_cancelled", session.server, message.index, "", before=session.start.index))
            yield from gave_up(session, message)
        elif message.method == "notifications/tools/list_changed":
            self.catalogue.announced(session.server, message.at, message.index)
        elif message.method == "notifications/initialized" and message.sender == "client":
            session.confirmed = True
            session.ended_early = message if session.start is None else None
            if session.ready_at is not None and message.at < session.ready_at and is_new(session, "own_notice_wrong"):
                how = "comes before the server has answered `initialize`"
                notes.append(WireNote("own_notice_wrong", session.server, message.index, message.method, how))
        else:
            yield from unreadable_line(session, message, notes, wired=wired)

    def _asked(
        self, session: Session, message: ToolMessage, notes: list[WireNote], trip: RoundTrip
    ) -> Iterator[ToolRun]:
        """A request of the client."""
        if message.method not in OPENING and (session.first is None or message.at < session.first.at):
            session.first = message
        accepted = trip.response is not None and trip.response.status == _ACCEPTED  # in a URL that is one client's
        one = trip.tool_wire is not None or accepted or bool(header(trip.request.headers, SESSION_HEADER))
        wrong = self._wrong_in(session, message) or flaw_of_handshake(session, message, again=one)
        if wrong is None and (wrong := flaw_of_headers(trip, message, session.version)) is not None:
            session.misheaded.add(message.sequence)
        if wrong is not None and message.sequence in session.asked:
            session.flaws[message.sequence] = wrong
        if message.method == "initialize":
            if trip.tool_wire is not None and session.ended_early is not None and is_new(session, "own_notice_wrong"):
                early, how = session.ended_early, "comes before `initialize`"
                notes.append(WireNote("own_notice_wrong", session.server, early.index, early.method or "", how))
            session.starts += 1
            session.start = message
            session.declared = as_object(message.params.get("capabilities"))
        if (token := token_of(message)) is not None:
            notes += shared_token(session, message, token)
            session.progress.asked(token, message.at)
        if message.method == "tools/list":
            session.pages.asked(message.at, as_text(message.params.get("cursor")))
        if message.method == "tools/call":
            session.pages.called(message.at, message.index)
            yield called(session, message, self.catalogue.known(session.server, message.params.get("name")), wrong)

    def _answered(
        self, session: Session, asked: ToolMessage, answer: ToolMessage, notes: list[WireNote]
    ) -> Iterator[ToolRun]:
        if asked.sender == "server":
            session.asks.answered(asked.sequence, answer.at)
            notes += replied(session, asked, answer)
            return
        if answer.id is not None and len(session.used) < _MOST_USED:
            session.used.setdefault(key_of_id(answer.id), answer.at)
        result = answer.result
        session.served = session.served or asked.method not in OPENING
        said = error_message(answer.error) or "" if answer.error is not None else ""
        session.version = version_of(session, asked, result)
        if (token := token_of(asked)) is not None:
            session.progress.answered(token, answer.at, answer.sequence)
        wrong = session.flaws.pop(asked.sequence, None) or _unfounded(session, asked, answer)
        wrong = wrong or _seen_late(session, asked, answer)
        beside = asked.sequence in session.misheaded and not speaks_of_headers(answer, wrong or "")
        kind = "request_odd" if answer.error is None or beside else "request_wrong"
        if wrong is not None and is_new(session, kind):
            notes.append(WireNote(kind, session.server, asked.index, asked.method or "", wrong))
        wrong = None if beside else wrong
        notes += judged(session, asked, answer)
        notes += self._after_cancel(session, asked, answer, said)
        notes += paged(session, asked, answer)
        if wrong is None:
            session.turned(asked, failed=answer.error is not None)
        early = asked.method not in OPENING and is_about_handshake(session, said)
        if early and is_new(session, "not_ready"):
            notes.append(WireNote("not_ready", session.server, asked.index, asked.method or "", said))
        if asked.method == "tools/call":
            run = session.runs.pop(asked.sequence, None)
            for block in returned_of(result).blocks:
                if block.kind == "link" and len(session.links) < _MOST_OPEN:
                    session.links.setdefault(block.uri, asked.index)
            notes += undeclared(session, asked, answer)
            if run is not None:
                hasty = Departure("called it before the handshake had ended", asked.index) if early else None
                hasty = hasty or self._outdated(session, asked, answer)
                run = self._stated(session, copied_with(run, departed=(None if beside else run.departed) or hasty))
                yield given(session, asked, run, answer)
        elif asked.method == "resources/read":
            notes += self._resource(session, asked, answer, said)
        elif asked.method in ("initialize", "server/discover"):
            notes += opened(session, asked, answer, wrong)
            yield from _rejudged(session, answer, notes)
        elif asked.method == "prompts/list" and result is not None:
            session.prompts.listed(result)
        elif asked.method == "tools/list" and result is not None:
            notes.extend(self.catalogue.listed(session, asked, answer.index, result))
        elif asked.method == "tools/list" and answer.error is not None:
            notes += () if early or wrong is not None else list_failed(session, answer, answer.error)
        elif wrong is None and answer.error is not None and answer.error.get("code") == NO_METHOD:
            notes += refused(session, asked, answer)
        elif asked.method in ("tasks/get", "tasks/result", "tasks/cancel"):
            notes += of_status(session, asked, answer)
            place = session.waiting.get(as_text(asked.params.get("taskId")) or "")
            run = session.runs.get(place) if place is not None else None
            if run is not None and place is not None:
                later = of_task(run, asked.method, answer)
                session.runs[place] = later
                if later is not run:
                    yield later

    def _resource(self, session: Session, asked: ToolMessage, answer: ToolMessage, said: str) -> Iterator[WireNote]:
        """The answer to a request for a resource."""
        if answer.error is not None:
            yield from not_there(session, asked, answer, said)
        elif len(self.read) < _MOST_OPEN:
            found = (as_text(one.get("text")) for one in objects_in((answer.result or {}).get("contents")))
            self.read[session.server, as_text(asked.params.get("uri")) or ""] = "\n".join(filter(None, found))

    def _wrong_in(self, session: Session, asked: ToolMessage) -> str | None:
        """How a request breaks MCP's form, or what the server demands of calls of this tool."""
        state = asked.params.get("requestState")
        given = state is not None and not isinstance(state, str) and compact(state) in session.states
        wrong = None if given else flaw_of_request(asked, version_of(session, asked, None))
        wrong = wrong or unlisted_version(session, asked)
        return wrong or _used_again(session, asked) or _lacking(session, asked) or self._plain(session, asked)

    def _after_cancel(self, session: Session, asked: ToolMessage, answer: ToolMessage, said: str) -> Iterator[WireNote]:
        """An error that says of a cancelled request what its client knows: MCP wants no answer then."""
        given_up = session.cancelled.get(key_of_id(asked.id))
        late = given_up is not None and asked.at <= given_up[0] < answer.at
        if late and "cancel" in said.lower() and is_new(session, "cancelled_answered"):
            yield WireNote("cancelled_answered", session.server, answer.index, asked.method or "", said)

    def _stated(self, session: Session, run: ToolRun) -> ToolRun:
        """The run with the schema of its result, where the answer that states it was recorded after the call."""
        known = self.catalogue.known(session.server, run.name)
        return (
            run
            if known is None or run.output_schema is not None
            else copied_with(run, output_schema=known.output_schema)
        )

    def _outdated(self, session: Session, asked: ToolMessage, answer: ToolMessage) -> Departure | None:
        """A call that fails after the server had said that its tools change, of a client that did not list them."""
        said, index = self.catalogue.changing.get(session.server, (asked.at, 0))
        if answer.error is None or said >= asked.at:
            return None
        return Departure(
            f"had not listed the tools again after #{index}, where the server says that they change", index
        )

    def _plain(self, session: Session, asked: ToolMessage) -> str | None:
        """How a call asks for a task, or for none, against what its server says of the tool; None for any other."""
        name = as_text(asked.params.get("name")) if asked.method == "tools/call" else None
        known = self.catalogue.known(session.server, name)
        if known is None:
            return None
        if known.tasks == "required" and "task" not in asked.params:
            return f"does not run {name!r} as a task, as its server demands"
        undeclared = session.offers is not None and "tasks" not in session.offers and not is_modern(session.version)
        if undeclared and "task" in asked.params:
            return f"runs {name!r} as a task, and its server has not declared `tasks`"
        forbidden = known.tasks == "forbidden" and "task" in asked.params and not is_modern(session.version)
        return f"runs {name!r} as a task, which its server does not offer" if forbidden else None


def _rejudged(session: Session, started: ToolMessage, notes: list[WireNote]) -> Iterator[ToolRun]:
    """Requests that were recorded before the version was known, and that this version does not allow.

    Over the transport of 2024-11-05, all answers are recorded after all requests.
    """
    for place, asked in session.asked.items():
        if asked.sender != "client" or place in session.flaws or asked.index == started.index:
            continue
        if (wrong := flaw_of_request(asked, session.version)) is None:
            continue
        session.flaws[place] = wrong
        run = session.runs.get(place)
        if run is None or run.departed is not None:
            continue
        session.runs[place] = run = copied_with(run, departed=Departure(f"sent a request that {wrong}", asked.index))
        if run.outcome == "failed" and is_new(session, "request_wrong"):
            notes.append(WireNote("request_wrong", session.server, asked.index, asked.method or "", wrong))
        yield run


def _seen_late(session: Session, asked: ToolMessage, answer: ToolMessage) -> str | None:
    """How a request is wrong that was recorded before the answers that came before it."""
    if answer.index == asked.index:
        return None
    again = session.starts == 1 or not session.issued  # the older transport has a URL for each client
    wrong = flaw_of_handshake(session, asked, again=again) or flaw_of_request(asked, session.version)
    return wrong or _used_again(session, asked)


def _unfounded(session: Session, asked: ToolMessage, answer: ToolMessage) -> str | None:
    """How a request relies on what the server has not declared, or leaves out what it requires."""
    if (lacking := _lacking(session, asked)) is not None:
        return lacking
    if session.starts > 1 or is_modern(session.version):
        return None
    return unoffered(asked, session.offers) if answer.error is None else None


def _lacking(session: Session, asked: ToolMessage) -> str | None:
    """How a request for a prompt leaves out what the server requires of it."""
    if asked.method != "prompts/get" or session.starts > 1 or is_modern(session.version):
        return None
    return session.prompts.lacking(asked)


def _unconfirmed(runs: Iterable[ToolRun]) -> dict[RunKey, ToolRun]:
    """The runs that end without an answer while the server may wait for the end of the handshake."""
    waits = (run for run in runs if run.outcome in ("unanswered", "cancelled") and run.ended_by != "server")
    left = (run for run in waits if run.departed is None and not run.awaits)
    how = "has not sent `notifications/initialized`, with which the handshake ends"
    return {(run.session, run.sequence): copied_with(run, departed=Departure(how, run.index)) for run in left}


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


def _used_again(session: Session, asked: ToolMessage) -> str | None:
    """Whether a request has the id of an earlier one that has its answer. Several clients may share a session."""
    answered = session.used.get(key_of_id(asked.id))
    if answered is None or asked.at <= answered or session.starts > 1:
        return None
    return f"has the id {compact(asked.id)} of an earlier request of the session, which MCP forbids"
