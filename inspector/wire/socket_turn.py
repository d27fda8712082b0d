"""A turn within a WebSocket session, and how it reads as a round trip."""

import re
from dataclasses import field, replace
from typing import Literal

from turntape.cassettes.frozen import frozen, mutable
from turntape.cassettes.regex import regex
from turntape.cassettes.tape.model import Chunk, Frame, Request, Response, RoundTrip

from .json_value import Object, as_count, as_object, as_text, compact

SOCKET = "WebSocket"
"""The HTTP version of an answer within a session: its status is ours, because no status was on the wire."""


@mutable
class SocketTurn:
    """What one request within a session asked, and what came back so far."""

    body: Object
    """The body that the request would have had over HTTP."""
    at: int
    """When it was asked, in microseconds since the session's start."""
    events: list[tuple[Frame, Object]] = field(default_factory=list[tuple[Frame, Object]])
    ended: bool = False


_FAILURES = {
    1002: 400,
    1003: 400,
    1007: 400,
    1008: 400,
    1009: 413,
    1010: 400,
    1011: 500,
    1012: 503,
    1013: 503,
    1014: 502,
}
"""What the close codes of RFC 6455 (section 7.4.1, and IANA's list, read 2026-12-01) mean that say why, as a status."""
_SPENT = regex(r"\bquota\b|rate.?limit|resource.?exhausted", re.IGNORECASE)


@frozen
class FailedClose:
    """The close frame with which a server ended a session because of a failure, its own or the client's."""

    code: int
    reason: str
    at: int
    """When, in microseconds since the session's start."""

    def as_error(self) -> tuple[Frame, Object]:
        """The close as the event of an error, with the status that its code means."""
        status = 429 if _SPENT.search(self.reason) else _FAILURES[self.code]
        said = self.reason or f"the server closed the session with code {self.code}"
        error: Object = {"code": self.code, "status_code": status, "message": said}
        return Frame("server", self.at, b"", True), {"type": "error", "error": error}


def failed_close(session: RoundTrip) -> FailedClose | None:
    """How the server closed a session because of a failure; None when it did not."""
    closed = as_object(session.extra.get("closed"))
    code = as_count(closed.get("code"))
    if closed.get("from") != "server" or code not in _FAILURES:
        return None
    last = session.frames[-1].at if session.frames else 0
    return FailedClose(code, as_text(closed.get("reason")) or "", max(last, session.ended_at or 0))


@frozen
class SessionNote:
    """Something that failed in a session outside of its answers."""

    what: str
    """A whole sentence."""
    layer: Literal["client", "api"]


@frozen
class SessionEnd:
    """How a session ended, and what is known of it only then."""

    at: float | None
    """When the client left it, in seconds since the epoch; None when it did not, or that is not known."""
    results: dict[str, float] = field(default_factory=dict[str, float])
    """By call id, when the client gave results for which it never asked the API for an answer, although the API gives
    none unasked."""
    notes: tuple[SessionNote, ...] = ()


def round_trip_of(session: RoundTrip, turn: SocketTurn) -> RoundTrip:
    """The turn as a POST to the session's URL whose answer streams the turn's events.

    It is cut, as the session is, when it had not ended.
    """
    pieces = [_event(message) for _, message in turn.events]
    chunks = tuple(
        Chunk(len(piece), max(0, frame.at - turn.at)) for piece, (frame, _) in zip(pieces, turn.events, strict=True)
    )
    body = {**turn.body, "stream": True}
    response = Response(
        200,
        headers=(("content-type", "text/event-stream"),),
        content=b"".join(pieces),
        chunks=chunks,
        http_version=SOCKET,
    )
    last = chunks[-1].at if chunks else None
    if not turn.ended and session.ended_at is not None:
        last = max(last or 0, session.ended_at - turn.at)
    return replace(
        session,
        request=replace(_post(session.request), content=compact(body).encode("utf-8", "surrogatepass")),
        response=response if turn.events else None,
        started_at=session.started_at + turn.at / 1_000_000,
        request_at=0,
        first_byte_at=chunks[0].at if chunks else None,
        ended_at=last,
        closed_first=None if turn.ended else session.closed_first,
        failure=None if turn.ended else session.failure,
        frames=(),
    )


def _post(request: Request) -> Request:
    scheme, separator, rest = request.url.partition("://")
    http = {"ws": "http", "wss": "https"}.get(scheme, scheme)
    return replace(request, method="POST", url=f"{http}{separator}{rest}", encoding=None)


def _event(message: Object) -> bytes:
    name = as_text(message.get("type")) or "message"
    return f"event: {name}\ndata: {compact(message)}\n\n".encode("utf-8", "surrogatepass")
