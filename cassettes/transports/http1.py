"""HTTP/1.1 as bytes, for clients of other libraries: what a connection sent, and what it gets.

A connection of such a client is answered below the library, so that streams, encodings and errors go their usual way.
h11 reads both directions; nothing here knows a library.
"""

import socket
import ssl
from collections.abc import Iterator
from http import HTTPStatus

import h11
import orjson

from ..frozen import frozen
from ..recording.pending import PendingTrip, header_fields
from ..replay.answer import MISS_STATUS, replayed_headers
from ..replay.pace import Pace
from ..replay.player import Miss, Played
from ..tape.model import Failure, FailureKind, Headers, Request, RoundTrip

_LONGEST_HEAD = 1 << 20
"""Bytes of one head; far more than any server sends."""

_RAISED: dict[FailureKind, type[OSError]] = {
    "refused": ConnectionRefusedError,
    "dns": socket.gaierror,
    "tls": ssl.SSLError,
    "timeout": TimeoutError,
    "cut": ConnectionResetError,
    "protocol": ConnectionResetError,
    "internal": ConnectionResetError,
}
"""What the socket of a recorded failure raises; nothing for `client_gone`, because that client had what it needed."""


def error_of(failure: Failure | None) -> OSError | None:
    """The error of a socket that a recorded failure is for its client."""
    kind = _RAISED.get(failure.kind) if failure is not None else None
    return kind(f"{failure.message} (as recorded)") if kind is not None and failure is not None else None


def failure_of(error: BaseException) -> Failure:
    """The failure that an error of a connection means."""
    said = str(error) or type(error).__name__
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        for kind, raised in _RAISED.items():
            if kind not in ("protocol", "internal") and isinstance(cause, raised):
                return Failure(kind, said)
        cause = cause.__cause__ or cause.__context__
    return Failure("refused" if "onnect" in type(error).__name__ else "cut", said)


class RequestReader:
    """Collects one request as a client writes it."""

    def __init__(self) -> None:
        self._connection = h11.Connection(h11.SERVER, _LONGEST_HEAD)
        self._head: h11.Request | None = None
        self._body: list[bytes] = []
        self.raw: list[bytes] = []
        """Everything that was written, to be sent to the live API."""
        self.complete = False

    def feed(self, data: bytes) -> None:
        """Take what the client wrote. What is not HTTP/1.1 stays without effect."""
        self.raw.append(bytes(data))
        if self.complete:
            return
        try:
            self._connection.receive_data(data)
            while True:
                event = self._connection.next_event()
                if isinstance(event, h11.Request):
                    self._head = event
                elif isinstance(event, h11.Data):
                    self._body.append(bytes(event.data))
                elif isinstance(event, h11.EndOfMessage):
                    self.complete = True
                    return
                else:
                    return
        except h11.RemoteProtocolError:
            return

    @property
    def method(self) -> str:
        return self._head.method.decode("ascii") if self._head is not None else ""

    @property
    def headers(self) -> Headers:
        return header_fields([(name, value) for name, value in self._head.headers.raw_items()]) if self._head else ()

    def request(self, url: str) -> Request:
        """The request, as far as it was written."""
        return Request(self.method, url, self.headers, b"".join(self._body))


class AnswerReader:
    """Copies an answer that passes into a running round trip."""

    def __init__(self, exchange: PendingTrip, method: str) -> None:
        self._exchange = exchange
        self._connection = h11.Connection(h11.CLIENT, _LONGEST_HEAD)
        self._connection.send(h11.Request(method=method, target="/", headers=[("host", "any")]))
        self._connection.send(h11.EndOfMessage())
        self.complete = False

    def feed(self, data: bytes) -> None:
        """Take a piece of the answer; empty at the end of the connection."""
        if self.complete:
            return
        try:
            self._connection.receive_data(data)
            while not self.complete:
                event = self._connection.next_event()
                if isinstance(event, h11.Response):
                    self._answered(event)
                elif isinstance(event, h11.Data):
                    self._exchange.tee(bytes(event.data))
                elif isinstance(event, h11.EndOfMessage):
                    self.complete = True
                    self._exchange.ended()
                elif not isinstance(event, h11.InformationalResponse):
                    break
        except h11.RemoteProtocolError as exc:
            self.complete = True
            self._exchange.failed(Failure("cut" if not data else "protocol", str(exc)), "server")
        if not data:
            self.lost(None)

    def _answered(self, head: h11.Response) -> None:
        fields = header_fields([(name, value) for name, value in head.headers.raw_items()])
        version = f"HTTP/{head.http_version.decode('ascii')}"
        self._exchange.answered(head.status_code, head.reason.decode("latin-1"), fields, version)

    def lost(self, error: BaseException | None) -> None:
        """The connection has ended."""
        if not self.complete:
            self.complete = True
            said = failure_of(error) if error else Failure("cut", "the server closed before the answer was complete")
            self._exchange.failed(said, "server")

    def left(self) -> None:
        """The client has closed the connection."""
        if not self.complete:
            self.complete = True
            self._exchange.left()


@frozen
class Piece:
    """Bytes for the client, after a wait in seconds."""

    wait: float
    data: bytes


@frozen
class WireAnswer:
    """An answer as the bytes of a connection."""

    pieces: Iterator[Piece]
    delay: float = 0.0
    """Seconds before the first byte, by a fault."""
    error: OSError | None = None
    """How the connection ends after the pieces; None when the answer is whole."""


def _head(status: int, reason: str, headers: list[tuple[str, str]]) -> bytes:
    if not reason and status in HTTPStatus:
        reason = HTTPStatus(status).phrase
    lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in headers)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "surrogateescape")


def _whole(status: int, reason: str, headers: list[tuple[str, str]], body: bytes, method: str) -> Iterator[Piece]:
    has_body = method != "HEAD" and status not in (204, 304)
    sized = [*headers, ("Content-Length", str(len(body)))] if has_body else headers
    yield Piece(0.0, _head(status, reason, sized) + (body if has_body else b""))


def wire_answer(found: Played | Miss, method: str, pace: Pace) -> WireAnswer:
    """What the connection of the client gets for a played recording, or for a miss."""
    if isinstance(found, Miss):
        fields = [("Content-Type", "application/json"), ("X-Should-Retry", "false"), ("X-Turntape", "miss")]
        body = orjson.dumps(found.document(MISS_STATUS))
        return WireAnswer(_whole(MISS_STATUS, "", fields, body, method))
    trip, faulted = found.trip, found.faulted
    delay = faulted.delay if faulted is not None else 0.0
    response = trip.response
    if response is None:
        if faulted is not None and faulted.fault.kind == "timeout":
            error: OSError = TimeoutError(trip.failure.message if trip.failure else "")
        else:
            error = error_of(trip.failure) or ConnectionResetError("no answer was recorded")
        return WireAnswer(iter(()), delay, error)
    headers = replayed_headers(response)
    in_one = not response.chunks or (len(response.chunks) == 1 and pace.factor is None)
    if method == "HEAD" or (trip.failure is None and in_one):
        return WireAnswer(_whole(response.status, response.reason, headers, response.body, method), delay)
    error_after = error_of(trip.failure)
    return WireAnswer(_chunked(trip, headers, pace, ends=error_after is None), delay, error_after)


def _chunked(trip: RoundTrip, headers: list[tuple[str, str]], pace: Pace, *, ends: bool) -> Iterator[Piece]:
    response = trip.response
    assert response is not None
    yield Piece(0.0, _head(response.status, response.reason, [*headers, ("Transfer-Encoding", "chunked")]))
    pauses = pace.pauses()
    for data, at in response.pieces:
        if data:
            yield Piece(pauses.before(at), b"%x\r\n%b\r\n" % (len(data), data))
    if ends:
        yield Piece(0.0, b"0\r\n\r\n")
