"""What HTTP says of a session: its id in headers, statuses that end it, answers to what needs none.

Nothing here is about a session over stdio or in process.
https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management, read 2026-11-29.
"""

from collections.abc import Iterable, Iterator
from dataclasses import field

from turntape.cassettes.errors import CassetteError
from turntape.cassettes.frozen import mutable
from turntape.cassettes.tape.model import RoundTrip

from ..wire.exchange import header
from ..wire.protocols.mcp.messages import address_of
from ..wire.protocols.mcp.shape import SESSION_HEADER
from .flaw import Flaw
from .form import is_modern
from .handshake import OPENING, is_about_version
from .http_form import (
    answered_notice,
    misnamed,
    outdated,
    says_session,
    unfounded,
    unmessaged,
    unreadable_session,
    unstreamed,
)
from .session_state import Session, WireNote, is_new
from .tool_messages import ToolMessage

_MOVED, _BAD_REQUEST, _NOT_FOUND, _CONFLICT = 300, 400, 404, 409
_SHORT = 2_000
"""Bytes of a refusal that are read."""
_REFUSALS = frozenset({400, 405, 422, 500, 501})
"""Statuses that say of a notification that the server cannot use it, and nothing of a session or of credentials."""


@mutable
class HttpSessions:
    """The addresses that give sessions their ids."""

    named: set[str] = field(default_factory=set[str])

    def of_client(self, session: Session, message: ToolMessage, trip: RoundTrip) -> Iterator[WireNote]:
        """What a client does to its session with a message that is not its first."""
        if trip.tool_wire is not None or not message.is_request or message.method in OPENING:
            return
        status = trip.response.status if trip.response is not None else 0
        if session.gone is not None and session.gone[0] < message.at:
            kept = 200 <= status < _MOVED and not session.deleted
            kind = "session_kept" if kept else "session_gone"
            if is_new(session, kind):
                yield WireNote(kind, session.server, message.index, message.method or "", before=session.gone[1])
        without = not header(trip.request.headers, SESSION_HEADER)
        given = address_of(trip) in self.named
        if without and status == _BAD_REQUEST and given and is_new(session, "session_not_named"):
            yield WireNote("session_not_named", session.server, message.index, message.method or "")

    def by_status(
        self, session: Session, trip: RoundTrip, notes: list[WireNote], every: Iterable[Session]
    ) -> Flaw | None:
        """Note what the headers and the status of an answer say about the session; `every`: all sessions so far.

        A flaw when they say in another way than MCP wants that the server no longer has the session that it gave.
        """
        if trip.tool_wire is not None or trip.response is None:
            return None
        if header(trip.response.headers, SESSION_HEADER):
            self.named.add(address_of(trip))
            _changed_id(session, trip, notes, every)
            session.issued, session.gone, session.deleted = True, None, False
            if (how := unreadable_session(trip.response)) is not None and is_new(session, "session_id_wrong"):
                notes.append(WireNote("session_id_wrong", session.server, trip.index, how))
        if not header(trip.request.headers, SESSION_HEADER):
            return None
        posted = trip.request.method == "POST"  # servers without a stream or an end of sessions say 404 too
        if trip.response.status == _NOT_FOUND and posted and session.gone is None:
            took = trip.ended_at or trip.first_byte_at or 0
            session.gone = (trip.started_at + took / 1_000_000, trip.index)
            session.expired_by = trip.index if session.issued else None
        if trip.response.status != _BAD_REQUEST or not session.issued or not says_session(trip.response):
            return None
        if is_new(session, "session_refused"):
            notes.append(WireNote("session_refused", session.server, trip.index, ""))
        return Flaw("says with status 400 that it has no such session, where MCP wants 404")


def deleted(session: Session | None, trip: RoundTrip) -> None:
    """A client that deletes its session ends it as a server does that no longer has it."""
    if session is None or trip.request.method != "DELETE" or trip.response is None:
        return
    if 200 <= trip.response.status < 300 and session.gone is None:
        session.gone, session.deleted = (trip.started_at, trip.index), True


def flaw_of_http(session: Session | None, trip: RoundTrip) -> Flaw | None:
    """How an answer breaks what MCP says of HTTP, whatever its messages hold."""
    return _unnamed(session, trip) or _disowned(session, trip) or unfounded(trip) or misnamed(trip)


def unmet(session: Session | None, trip: RoundTrip, unasked: ToolMessage | None) -> Iterator[WireNote]:
    """An answer over HTTP to something else than a request that is not the one that MCP has for it.

    `unasked`: what the client sent that needs no answer, in MCP's form.
    """
    if session is None or trip.response is None:
        return
    if (how := unstreamed(trip)) is not None and is_new(session, "stream_refused"):
        yield WireNote("stream_refused", session.server, trip.index, "GET", how)
    if trip.request.method == "GET" and trip.response.status == _CONFLICT and is_new(session, "stream_twice"):
        yield WireNote("stream_twice", session.server, trip.index, "GET")
    if (version := outdated(trip)) is not None and is_new(session, "outdated"):
        yield WireNote("outdated", session.server, trip.index, trip.request.method, version)
    if (said := unmessaged(trip)) is not None and is_new(session, "own_garbage"):
        refused = trip.response.status >= _BAD_REQUEST
        how = f"status {trip.response.status}" if refused else ""
        yield WireNote("own_garbage_refused" if refused else "own_garbage", session.server, trip.index, said, how)
    what = answered_notice(trip.response) if unasked is not None else None
    if unasked is not None and what is not None and is_new(session, "notice_answered"):
        yield WireNote("notice_answered", session.server, trip.index, unasked.method or "a reply", what)
    outlawed = unasked is not None and unasked.is_answer and is_modern(session.version)
    refused = unasked is not None and trip.response.status in _REFUSALS and not outlawed
    if unasked is not None and refused and is_new(session, "notice_refused"):
        how = f"status {trip.response.status}"
        yield WireNote("notice_refused", session.server, trip.index, unasked.method or "a reply", how)


def _unnamed(session: Session | None, trip: RoundTrip) -> Flaw | None:
    """A refusal for the id of a session that the server never gave, although its handshake is recorded."""
    if session is None or session.start is None or session.issued or trip.response is None:
        return None
    if header(trip.request.headers, SESSION_HEADER) or trip.response.status != _BAD_REQUEST:
        return None
    return Flaw("wants the id of a session, and the server gave none") if says_session(trip.response) else None


def _disowned(session: Session | None, trip: RoundTrip) -> Flaw | None:
    """A refusal for the version in the header of a request, on which the handshake of the session had ended."""
    said = header(trip.request.headers, "MCP-Protocol-Version")
    if session is None or session.ready_at is None or said is None or said != session.version or trip.response is None:
        return None
    try:
        text = trip.response.body[:_SHORT].decode("utf-8", "replace")
    except CassetteError:  # the cassette reports bodies that it cannot give
        return None
    if trip.response.status != _BAD_REQUEST or not is_about_version(text):
        return None
    return Flaw(f"refuses version {said}, with which the handshake of the session had ended")


def _changed_id(session: Session, trip: RoundTrip, notes: list[WireNote], every: Iterable[Session]) -> None:
    """A session that gets another id than the one that the client names; a new session renews all before it."""
    asked = header(trip.request.headers, SESSION_HEADER)
    given = header(trip.response.headers if trip.response else (), SESSION_HEADER)
    if asked and given and asked != given and is_new(session, "session_id_changed"):
        notes.append(WireNote("session_id_changed", session.server, trip.index, given))
    if not asked:
        for one in every:
            one.renewed = one.renewed or (one is not session and one.server == session.server)
