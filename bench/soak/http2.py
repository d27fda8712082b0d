"""A raw HTTP/2 upstream that ends streams in every way, and a raw client that says how each stream ended."""

import socket
import ssl
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import h2.config
import h2.connection
import h2.errors
import h2.events

from .behaviours import BODY, ID
from .raw import FIELD, NAME, PATIENCE, accepting

CANCEL = h2.errors.ErrorCodes.CANCEL
REFUSED = h2.errors.ErrorCodes.REFUSED_STREAM
INTERNAL = h2.errors.ErrorCodes.INTERNAL_ERROR
CALM = h2.errors.ErrorCodes.ENHANCE_YOUR_CALM
NO_ERROR = h2.errors.ErrorCodes.NO_ERROR
HEAD = [(":status", "200"), ("content-type", "application/json")]

type Act = tuple[str, Any]
"""`interim`, `head`, `data`, `end`, `trailers`, `reset`, `goaway`, `close`, `pause`, with what it needs."""


@dataclass(frozen=True, slots=True)
class Streamed:
    """What an HTTP/2 upstream does on one stream."""

    name: str
    acts: tuple[Act, ...]
    differs: str | None = None
    kind: str = "cut"
    """How the record calls it when the stream does not end whole."""


_HALF: tuple[Act, ...] = (("head", HEAD), ("data", BODY[:20]))
_REST: tuple[Act, ...] = (("data", BODY[20:]), ("end", None))

STREAMED: tuple[Streamed, ...] = (
    Streamed("an answer", (*_HALF, *_REST)),
    Streamed("a head alone", (("head", HEAD), ("end", None))),
    Streamed("trailers", (*_HALF, ("trailers", [("x-end", "1")]))),
    Streamed("103", (("interim", [(":status", "103"), ("link", "</a>")]), *_HALF, *_REST)),
    Streamed("a field in capitals", (("head", [*HEAD, ("X-Capital", "1")]), *_HALF[1:], *_REST),
             differs="the field is sent in lower case, as HTTP/2 demands"),
    Streamed("refused", (("reset", REFUSED),)),
    Streamed("reset before the head", (("reset", INTERNAL),)),
    Streamed("cancelled before the head", (("reset", CANCEL),)),
    Streamed("reset within the body", (*_HALF, ("reset", INTERNAL))),
    Streamed("cancelled within the body", (*_HALF, ("reset", CANCEL))),
    Streamed("enhance your calm", (*_HALF, ("reset", CALM))),
    Streamed("reset with an unknown code", (*_HALF, ("reset", 0x1234))),
    Streamed("goaway, then the rest", (*_HALF, ("goaway", None), *_REST)),
    Streamed("goaway, then the whole answer", (("goaway", None), *_HALF, *_REST)),
    Streamed("goaway that refuses the stream", (("goaway", 0),), differs="the client gets the refusal of its stream"),
    Streamed("goaway and closed", (*_HALF, ("goaway", None), ("close", None)),
             differs="the client's connection stays open; its stream is reset"),
    Streamed("closed within the body", (*_HALF, ("close", None)),
             differs="the client's connection stays open; its stream is reset"),
    Streamed("closed before the head", (("close", None),),
             differs="the client's connection stays open; its stream is reset"),
    Streamed("a status that is not a number", (("head", [(":status", "2xx")]), *_HALF[1:], *_REST),
             differs="the client's stream is reset", kind="protocol"),
    Streamed("no status", (("head", [("x-status", "200")]), *_HALF[1:], *_REST),
             differs="the client's stream is reset", kind="protocol"),
    Streamed("103 with a status that is not a number", (("interim", [(":status", "1xx")]), *_HALF, *_REST),
             differs="the client's stream is reset", kind="protocol"),
)  # fmt: skip


@dataclass(slots=True)
class StreamSeen:
    """What a client saw of one stream."""

    interim: list[str] = field(default_factory=list[str])
    head: list[tuple[str, str]] | None = None
    body: bytes = b""
    trailers: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    ended: str = ""
    """`whole`, `reset CODE`, `goaway`, or `closed`."""


@dataclass(slots=True)
class Http2Upstream:
    """Plays `STREAMED` by the number in the field `x-behaviour`. Use it with `serving2`."""

    tls: ssl.SSLContext
    behaviours: Sequence[Streamed] = STREAMED
    port: int = 0
    asked: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    """Released for each request."""
    resets: list[int] = field(default_factory=list[int])
    """The codes with which clients reset streams."""
    left: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def serve(self, plain: socket.socket) -> None:
        with plain, suppress(OSError, ssl.SSLError), self.tls.wrap_socket(plain, server_side=True) as sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            settings = h2.config.H2Configuration(
                client_side=False, header_encoding="utf-8", validate_outbound_headers=False,
                normalize_outbound_headers=False,
            )  # fmt: skip
            connection = h2.connection.H2Connection(settings)
            connection.initiate_connection()
            sock.sendall(connection.data_to_send())
            asked: dict[int, tuple[int, bytes]] = {}
            while data := sock.recv(65536):
                for event in connection.receive_data(data):
                    if isinstance(event, h2.events.RequestReceived):
                        fields: dict[str, str] = dict(event.headers)  # type: ignore[arg-type]
                        asked[event.stream_id] = int(fields[FIELD]), fields.get(NAME, ID.decode()).encode()
                    elif isinstance(event, h2.events.StreamReset):
                        self.resets.append(int(event.error_code))
                    elif isinstance(event, h2.events.StreamEnded):
                        self.asked.release()
                        sock.sendall(connection.data_to_send())
                        place, name = asked[event.stream_id]
                        if not _acted(sock, connection, event.stream_id, self.behaviours[place].acts, name):
                            return
                sock.sendall(connection.data_to_send())
        self.left.release()


def _acted(
    sock: ssl.SSLSocket, connection: h2.connection.H2Connection, stream: int, acts: Sequence[Act], name: bytes
) -> bool:
    for act, value in acts:
        match act:
            case "interim" | "head":
                connection.send_headers(stream, value)
            case "data":
                connection.send_data(stream, value.replace(ID, name))
            case "end":
                connection.end_stream(stream)
            case "trailers":
                connection.send_headers(stream, value, end_stream=True)
            case "reset":
                connection.reset_stream(stream, value)
            case "goaway":
                state = connection.state_machine.state
                connection.close_connection(NO_ERROR, last_stream_id=stream if value is None else value)
                connection.state_machine.state = state  # it still answers the streams that it has begun
            case "pause":
                time.sleep(value)
            case _:
                sock.sendall(connection.data_to_send())
                sock.shutdown(socket.SHUT_RDWR)
                return False
        sock.sendall(connection.data_to_send())
    return True


@contextmanager
def serving2(upstream: Http2Upstream) -> Generator[Http2Upstream]:
    """The upstream, listening on a port of loopback."""
    upstream.tls.set_alpn_protocols(["h2"])
    with accepting(upstream.serve) as upstream.port:
        yield upstream


class Http2Client:
    """One connection of a raw client, direct or through a proxy's tunnel."""

    def __init__(self, port: int, host: str, trust: ssl.SSLContext, proxy: int | None = None) -> None:
        plain = socket.create_connection(("127.0.0.1", proxy or port), timeout=PATIENCE)
        if proxy:
            plain.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
            answer = b""
            while not answer.endswith(b"\r\n\r\n"):
                byte = plain.recv(1)
                if not byte:
                    raise ConnectionError("the proxy closed the connection within its answer to CONNECT")
                answer += byte
        trust.set_alpn_protocols(["h2"])
        self.host = host
        self.sock = trust.wrap_socket(plain, server_hostname=host)
        settings = h2.config.H2Configuration(client_side=True, header_encoding="utf-8", validate_inbound_headers=False)
        self.connection = h2.connection.H2Connection(settings)
        self.connection.initiate_connection()
        self.sock.sendall(self.connection.data_to_send())

    def send(self, path: str, body: bytes, number: int, name: str = ID.decode()) -> int:
        """Send a request; returns its stream. `name` is the id that healthy answers repeat."""
        stream = self.connection.get_next_available_stream_id()
        fields = [(":method", "POST"), (":scheme", "https"), (":path", path), (":authority", self.host)]
        self.connection.send_headers(
            stream, [*fields, ("content-type", "application/json"), (FIELD, str(number)), (NAME, name)]
        )
        self.connection.send_data(stream, body, end_stream=True)
        self.sock.sendall(self.connection.data_to_send())
        return stream

    def read(self, stream: int, until: int | None = None) -> StreamSeen:
        """Read until the stream ends, or until so many bytes of its body have come."""
        seen = StreamSeen()
        while not seen.ended and (until is None or len(seen.body) < until):
            try:
                data = self.sock.recv(65536)
            except (ConnectionResetError, ssl.SSLError):
                data = b""
            if not data:
                seen.ended = "closed"
                break
            for event in self.connection.receive_data(data):
                _note(seen, event, stream)
            with suppress(OSError):
                self.sock.sendall(self.connection.data_to_send())
            # As tolerant clients do: a stream that is answered is read to its end after a GOAWAY.
            self.connection.state_machine.state = h2.connection.ConnectionState.CLIENT_OPEN
        return seen

    def reset(self, stream: int, code: int = CANCEL) -> None:
        self.connection.reset_stream(stream, code)
        self.sock.sendall(self.connection.data_to_send())

    def close(self) -> None:
        with suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()


def _note(seen: StreamSeen, event: h2.events.Event, stream: int) -> None:
    match event:
        case h2.events.InformationalResponseReceived(stream_id=number) if number == stream:
            seen.interim.append(dict(event.headers)[":status"])  # type: ignore[arg-type,index]
        case h2.events.ResponseReceived(stream_id=number) if number == stream:
            seen.head = list(event.headers)  # type: ignore[arg-type]
        case h2.events.DataReceived(stream_id=number) if number == stream:
            seen.body += event.data or b""
        case h2.events.TrailersReceived(stream_id=number) if number == stream:
            seen.trailers = list(event.headers)  # type: ignore[arg-type]
        case h2.events.StreamEnded(stream_id=number) if number == stream:
            seen.ended = "whole"
        case h2.events.StreamReset(stream_id=number) if number == stream:
            seen.ended = f"reset {int(event.error_code)}"
        case h2.events.ConnectionTerminated() if (event.last_stream_id or 0) < stream:
            seen.ended = "goaway"
        case _:
            pass
