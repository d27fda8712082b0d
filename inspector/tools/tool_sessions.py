"""Tool runs made of the messages of tool sessions, as they are recorded.

`ToolSessions.add` takes one round trip and gives the runs that it begins or changes. A run whose answer comes in
another round trip (the old SSE transport, tasks, a request for input) is given again with the same key.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from turntape.cassettes.regex import regex
from turntape.cassettes.tape.model import Failure, RoundTrip

from ..wire.exchange import header
from ..wire.json_value import Object, as_object, as_text, compact, is_object, objects_in
from ..wire.protocols.mcp.messages import address_of
from ..wire.protocols.mcp.shape import SESSION_HEADER
from .definitions import Definition
from .returned import error_message, returned_of
from .spans import span_runs
from .tool_messages import ToolMessage, ToolMessageReader
from .tool_run import ToolRun

_BAD_REQUEST, _NOT_FOUND = 400, 404

type RunKey = tuple[str, int]
"""The session of a run, and the place of its `tools/call` in it."""

_MOST_OPEN = 2_000
"""So many exchanges of a session wait for an answer at most."""
_ASKS = frozenset({"elicitation/create", "sampling/createMessage"})
"""Requests of a server that a person or a model must answer."""
_PLAIN_ASKS = frozenset({"ping", "roots/list"})
"""Requests of a server that the client answers without asking anybody."""
_OPENING = frozenset({"initialize", "ping", "server/discover"})
"""What a client may ask before the server has said that it is ready."""
_NOT_READY = regex(r"before initiali[sz]ation|server (?:is )?not (?:yet )?initiali[sz]ed", re.IGNORECASE)
"""How the official SDKs refuse what comes before the end of the handshake (read 2026-11-23)."""
_LATE = 2.0
"""Seconds. A client that reads a list again does so within this time."""


@dataclass(frozen=True, slots=True)
class WireNote:
    """Something on a tool's wire that is not a run."""

    kind: Literal[
        "garbage",
        "definition_changed",
        "no_answer_of_client",
        "refused_by_client",
        "ended_early",
        "answered_twice",
        "listed_twice",
        "list_loops",
        "no_schema",
        "page_not_read",
        "not_ready",
        "session_gone",
        "session_not_named",
    ]
    server: str
    index: int
    """The round trip that shows it."""
    what: str
    """The text, the tool, or the method concerned."""
    detail: str = ""
    before: int | None = None
    """The round trip that it contradicts."""


@dataclass(slots=True)
class Added:
    """What a round trip brought."""

    runs: list[ToolRun] = field(default_factory=list[ToolRun])
    notes: list[WireNote] = field(default_factory=list[WireNote])


@dataclass(slots=True)
class _Session:
    server: str
    run: str | None = None
    noted: set[str] = field(default_factory=set[str])
    """The kinds of notes of which only the first is made."""
    next_page: int | None = None
    """The round trip that names a page of the list of tools which the client has not read."""
    gone: tuple[float, int] | None = None
    """When the server said that it no longer has the session, and the round trip of that."""
    asked: dict[int, ToolMessage] = field(default_factory=dict[int, ToolMessage])
    """Requests without an answer, by their place."""
    runs: dict[int, ToolRun] = field(default_factory=dict[int, ToolRun])
    """Runs that may still change, by the place of their last `tools/call`."""
    cancelled: dict[str, tuple[float, str | None]] = field(default_factory=dict[str, tuple[float, str | None]])
    """When the client gave up on a request, and why, by its id."""
    waiting: dict[str, int] = field(default_factory=dict[str, int])
    """By `requestState` or the id of a task: the place under which its run is kept."""


class ToolSessions:
    """All tool sessions of a recording."""

    def __init__(self) -> None:
        self._reader = ToolMessageReader()
        self._sessions: dict[str, _Session] = {}
        self.tools: dict[str, dict[str, Definition]] = {}
        """By server, then by name: the tools as they were listed last."""
        self.listings = 0
        """How often tools were listed."""
        self._changing: dict[str, tuple[float, int]] = {}
        """Servers that announced that their tools change, with the time and the round trip of that."""
        self.ambiguous: set[tuple[str, str]] = set()
        """The server and the name of tools that one list defines twice."""
        self._named: set[str] = set()
        """The addresses that gave a session an id."""

    @property
    def servers(self) -> frozenset[str]:
        """The names of all servers so far."""
        return frozenset(session.server for session in self._sessions.values())

    def changed_before(self, at: float) -> dict[str, int]:
        """Servers whose tools have changed and were not listed again in time for a request sent then.

        By server, the round trip of the announcement.
        """
        return {server: index for server, (said, index) in self._changing.items() if said + _LATE < at}

    def add(self, trip: RoundTrip) -> Added:
        """What a round trip brings; nothing when it is neither MCP's nor brings spans."""
        added = Added(list(span_runs([trip])))
        if added.runs:
            return added
        changed: dict[RunKey, ToolRun] = {}
        touched: set[str] = set()
        for message in self._reader.add(trip):
            touched.add(message.session)
            session = self._sessions.setdefault(message.session, _Session(message.server))
            session.server, session.run = message.server, trip.run
            if message.sender == "client":
                added.notes += self._of_session(session, message, trip)
            for run in self._take(session, message, added.notes, wired=trip.tool_wire is not None):
                changed[run.session, run.sequence] = run
        for name in touched:
            self._answered_by_status(self._sessions[name], trip)
            for run in _ended(self._sessions[name], trip, added.notes):
                changed[name, run.sequence] = run
        status = trip.response.status if trip.response is not None and trip.tool_wire is None else None
        added.runs = [replace(run, status=status) if status is not None else run for run in changed.values()]
        return added

    def _of_session(self, session: _Session, message: ToolMessage, trip: RoundTrip) -> Iterator[WireNote]:
        """What a client does to its session over HTTP with a message that is not its first."""
        if trip.tool_wire is not None or not message.is_request or message.method in _OPENING:
            return
        status = trip.response.status if trip.response is not None else 0
        if session.gone is not None and session.gone[0] < message.at and _is_new(session, "session_gone"):
            yield WireNote("session_gone", session.server, message.index, message.method or "", before=session.gone[1])
        without = not header(trip.request.headers, SESSION_HEADER)
        if (
            without
            and status == _BAD_REQUEST
            and address_of(trip) in self._named
            and _is_new(session, "session_not_named")
        ):
            yield WireNote("session_not_named", session.server, message.index, message.method or "")

    def _answered_by_status(self, session: _Session, trip: RoundTrip) -> None:
        """Note what the headers and the status of an answer say about the session."""
        if trip.tool_wire is not None or trip.response is None:
            return
        if header(trip.response.headers, SESSION_HEADER):
            self._named.add(address_of(trip))
        if trip.response.status == _NOT_FOUND and header(trip.request.headers, SESSION_HEADER) and session.gone is None:
            took = trip.ended_at or trip.first_byte_at or 0
            session.gone = (trip.started_at + took / 1_000_000, trip.index)

    def _take(
        self, session: _Session, message: ToolMessage, notes: list[WireNote], *, wired: bool
    ) -> Iterator[ToolRun]:
        """The runs that a message begins or changes. `wired`: the messages come over stdio, where none comes again."""
        if message.is_request:
            if len(session.asked) < _MOST_OPEN:
                session.asked[message.sequence] = message
            if message.sender == "client" and message.method == "tools/call":
                unread = session.next_page is not None and "list_loops" not in session.noted
                if unread and _is_new(session, "page_not_read"):
                    notes.append(
                        WireNote("page_not_read", session.server, message.index, "tools/list", before=session.next_page)
                    )
                known = self.tools.get(session.server, {}).get(as_text(message.params.get("name")) or "")
                yield _called(session, message, known)
        elif message.is_answer:
            asked = session.asked.pop(message.answers, None) if message.answers is not None else None
            if message.answers is None and message.sender == "server" and wired and _is_new(session, "answered_twice"):
                notes.append(WireNote("answered_twice", session.server, message.index, compact(message.id)))
            if asked is not None:
                yield from self._answered(session, asked, message, notes)
        elif message.method == "notifications/cancelled" and message.sender == "client":
            yield from _gave_up(session, message)
        elif message.method == "notifications/tools/list_changed":
            self._changing.setdefault(session.server, (message.at, message.index))
        elif (
            message.sender == "server"
            and message.method is None
            and message.raw.strip()
            and _is_new(session, "garbage")
        ):
            text = " ".join(message.raw[:200].decode("utf-8", "replace").split())
            notes.append(WireNote("garbage", session.server, message.index, text))

    def _answered(
        self, session: _Session, asked: ToolMessage, answer: ToolMessage, notes: list[WireNote]
    ) -> Iterator[ToolRun]:
        if asked.sender == "server":
            if asked.method in _ASKS and answer.error is not None:
                said = error_message(answer.error) or ""
                notes.append(WireNote("refused_by_client", session.server, asked.index, asked.method or "", said))
            return
        result = answer.result
        said = error_message(answer.error) or "" if answer.error is not None else ""
        if _NOT_READY.search(said) and asked.method not in _OPENING and _is_new(session, "not_ready"):
            notes.append(WireNote("not_ready", session.server, asked.index, asked.method or "", said))
        if asked.method == "tools/call":
            run = session.runs.pop(asked.sequence, None)
            if run is not None:
                yield _given(session, asked, run, answer)
        elif asked.method == "tools/list" and result is not None:
            notes.extend(self._listed(session, asked, answer.index, result))
        elif asked.method in ("tasks/get", "tasks/result", "tasks/cancel"):
            place = session.waiting.get(as_text(asked.params.get("taskId")) or "")
            run = session.runs.get(place) if place is not None else None
            if run is not None and place is not None:
                later = _of_task(run, asked.method, answer)
                session.runs[place] = later
                if later is not run:
                    yield later

    def _listed(self, session: _Session, asked: ToolMessage, index: int, result: Object) -> Iterator[WireNote]:
        server = session.server
        known = self.tools.setdefault(server, {})
        page = as_text(result.get("nextCursor"))
        session.next_page = index if page else None
        if page and page == asked.params.get("cursor") and _is_new(session, "list_loops"):
            yield WireNote("list_loops", server, index, page)
        before = dict(known)
        if "cursor" not in asked.params:
            known.clear()
        here: dict[str, Definition] = {}
        for fields in objects_in(result.get("tools")):
            name = as_text(fields.get("name"))
            if name is None:
                continue
            made = Definition.read(fields, server, index)
            if name in here and here[name].differs(made):
                self.ambiguous.add((server, name))
                if _is_new(session, f"listed_twice {name}"):
                    yield WireNote("listed_twice", server, index, name, ", ".join(here[name].differs(made)))
                continue
            known[name] = here[name] = made
            if not is_object(made.schema) and _is_new(session, "no_schema"):
                yield WireNote("no_schema", server, index, name)
            earlier = before.get(name)
            if earlier is not None and (parts := earlier.differs(made)):
                said = "announced" if server in self._changing else "not announced"
                notes = (", ".join(parts), said)
                yield WireNote("definition_changed", server, index, name, "; ".join(notes), earlier.index)
        self._changing.pop(server, None)
        self.listings += 1


def _called(session: _Session, message: ToolMessage, known: Definition | None) -> ToolRun:
    """The run that a `tools/call` begins, or continues."""
    params = message.params
    state = as_text(params.get("requestState"))
    place = session.waiting.pop(state, None) if state is not None else None
    earlier = session.runs.pop(place, None) if place is not None else None
    if earlier is not None:
        run = replace(earlier, outcome="unanswered", exchanges=(*earlier.exchanges, message.index))
    else:
        arguments = params.get("arguments")
        run = ToolRun(
            index=message.index,
            session=message.session,
            sequence=message.sequence,
            server=session.server,
            run=session.run,
            name=as_text(params.get("name")) or "",
            arguments=arguments,
            arguments_raw="" if arguments is None else compact(arguments),
            started_at=message.at,
            exchanges=(message.index,),
            meta=as_object(params.get("_meta")),
            output_schema=known.output_schema if known is not None else None,
        )
    session.runs[message.sequence] = run
    return run


def _given(session: _Session, asked: ToolMessage, run: ToolRun, answer: ToolMessage) -> ToolRun:
    """The run with the answer to its last `tools/call`."""
    took = max(round((answer.at - run.started_at) * 1000, 3), 0.0)
    result = answer.result
    if result is None:
        error = answer.error or {}
        run = _finished(replace(run, outcome="failed", error=error, is_error=True), error, took)
    elif result.get("resultType") == "input_required":
        state = as_text(result.get("requestState")) or ""
        session.waiting[state] = asked.sequence
        run = replace(run, outcome="input_required", duration_ms=took)
        session.runs[asked.sequence] = run
        return run
    elif task := _task_of(result):
        session.waiting[task] = asked.sequence
        session.runs[asked.sequence] = run
        return run
    else:
        run = _with_result(run, result, took)
    given_up = session.cancelled.pop(_id(asked.id), None)
    if given_up is not None and given_up[0] < answer.at:
        took = round((given_up[0] - run.started_at) * 1000, 3)
        run = replace(run, outcome="cancelled", reason=given_up[1], duration_ms=max(took, 0.0))
    return run


def _with_result(run: ToolRun, result: Object, took: float) -> ToolRun:
    done = replace(run, outcome="answered", result=result, is_error=result.get("isError") is True)
    return _finished(done, result, took)


def _finished(run: ToolRun, value: Object, took: float) -> ToolRun:
    text = error_message(run.error) if run.error is not None else returned_of(run.result).text
    size = len(compact(value).encode("utf-8", "replace"))
    return replace(run, duration_ms=took, returned_bytes=size, returned_text=text)


def _task_of(result: Object) -> str | None:
    """The id of the task that a server gives in place of a result."""
    task = as_object(result.get("task"))
    if task:
        return as_text(task.get("taskId"))
    return as_text(result.get("taskId")) if result.get("resultType") == "task" else None


def _of_task(run: ToolRun, method: str | None, answer: ToolMessage) -> ToolRun:
    """The run after news of its task."""
    took = max(round((answer.at - run.started_at) * 1000, 3), 0.0)
    run = replace(run, exchanges=(*run.exchanges, answer.index))
    result = answer.result
    if result is None:
        if method != "tasks/result":
            return run
        error = answer.error or {}
        return _finished(replace(run, outcome="failed", error=error, is_error=True), error, took)
    if method == "tasks/result":
        return _with_result(run, result, took)
    status = as_text(result.get("status"))
    if status == "cancelled":
        return replace(run, outcome="cancelled", duration_ms=took)
    inner = as_object(result.get("result"))
    if status == "completed" and inner:
        return _with_result(run, inner, took)
    if status == "failed" and (error := as_object(result.get("error"))):
        return _finished(replace(run, outcome="failed", error=error, is_error=True), error, took)
    return run


def _gave_up(session: _Session, message: ToolMessage) -> Iterator[ToolRun]:
    """Some clients send this for every call that has an answer: only before the answer it counts."""
    number, reason = _id(message.params.get("requestId")), as_text(message.params.get("reason"))
    session.cancelled[number] = (message.at, reason)
    for place, run in list(session.runs.items()):
        asked = session.asked.get(place)
        if asked is not None and _id(asked.id) == number and run.started_at <= message.at:
            took = max(round((message.at - run.started_at) * 1000, 3), 0.0)
            session.runs[place] = done = replace(run, outcome="cancelled", reason=reason, duration_ms=took)
            yield done


def _ended(session: _Session, trip: RoundTrip, notes: list[WireNote]) -> Iterator[ToolRun]:
    """The runs that a round trip ends without an answer."""
    for place, asked in list(session.asked.items()):
        if asked.index != trip.index:
            continue
        run = session.runs.get(place)
        if run is None:
            if trip.failure is not None and (kind := _left_open(asked, trip.failure)) is not None:
                notes.append(WireNote(kind, session.server, asked.index, asked.method or ""))
                del session.asked[place]
            continue
        done = _without_answer(run, trip)
        given_up = session.cancelled.get(_id(asked.id))
        if given_up is not None and given_up[0] >= run.started_at:
            took = max(round((given_up[0] - run.started_at) * 1000, 3), 0.0)
            done = replace(done, outcome="cancelled", reason=given_up[1], duration_ms=took)
        session.runs[place] = done
        yield done


def _left_open(asked: ToolMessage, failure: Failure) -> Literal["no_answer_of_client", "ended_early"] | None:
    """What a request shows that is not a call and that had no answer when the connection closed."""
    if asked.sender == "server":
        answered = asked.method in _ASKS or (asked.method in _PLAIN_ASKS and failure.kind != "client_gone")
        return "no_answer_of_client" if answered else None
    return None if failure.kind == "client_gone" else "ended_early"


def _is_new(session: _Session, kind: str) -> bool:
    """True for the first note of its kind in a session."""
    if kind in session.noted:
        return False
    session.noted.add(kind)
    return True


def _without_answer(run: ToolRun, trip: RoundTrip) -> ToolRun:
    failure, response = trip.failure, trip.response
    if trip.tool_wire is None and response is not None and response.status >= 400:
        error: Object = {"code": response.status, "message": f"HTTP status {response.status}"}
        took = (trip.ended_at or 0) / 1000
        return _finished(replace(run, outcome="failed", error=error, is_error=True), error, took)
    if failure is None:
        return run
    if failure.kind == "client_gone":
        # Over HTTP, a client gives up on a call by closing its stream.
        took = (trip.ended_at or 0) / 1000 if trip.ended_at else None
        outcome = "cancelled" if trip.tool_wire is None else "unanswered"
        return replace(run, outcome=outcome, ended_by="client", duration_ms=took)
    return replace(run, ended_by="server")


def _id(value: object) -> str:
    return compact(value)
