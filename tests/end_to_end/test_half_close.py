"""A side of a session that closes one direction of its connection still gets what is coming, as without the proxy."""

import socket
import sys
import threading
from base64 import b64encode
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from hashlib import sha1
from pathlib import Path

import pytest
from waiting import eventually

from turntape.cassettes import Cassette, Recorder, RoundTrip
from turntape.proxy.engine.engine import Engine, running

ROUTES = pytest.mark.parametrize("route", ["base_url", "forward"])
TUNNEL, SWITCHED = "tunnel", "another protocol"
KEY = b64encode(b"0" * 16).decode()
ACCEPTED = b64encode(sha1(f"{KEY}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()).decode()
CLOSE = b"\x88\x02\x03\xe8"
"""A close frame with the code 1000, of a server."""
CLIENT_CLOSE = b"\x88\x82\0\0\0\0\x03\xe8"
"""The same of a client."""
PATIENCE = 60
type Talk = Callable[[socket.socket], None]

only_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux says who holds a socket")


def said(text: bytes) -> bytes:
    """A text message of a server."""
    return bytes((0x81, len(text))) + text


def asked(text: bytes) -> bytes:
    """A text message of a client, masked with zeros."""
    return bytes((0x81, 0x80 | len(text), 0, 0, 0, 0)) + text


def unmasked(data: bytes) -> list[bytes]:
    """The content of a client's frames, each shorter than 126 bytes."""
    found: list[bytes] = []
    while data:
        size, mask = data[1] & 0x7F, data[2:6]
        found.append(bytes(byte ^ mask[place % 4] for place, byte in enumerate(data[6 : 6 + size])))
        data = data[6 + size :]
    return found


def head(sock: socket.socket) -> bytes:
    got = b""
    while not got.endswith(b"\r\n\r\n"):
        byte = sock.recv(1)
        assert byte, f"the connection ended after {got!r}"
        got += byte
    return got


def rest(sock: socket.socket) -> bytes:
    """Everything until the other side closes its direction."""
    sock.settimeout(PATIENCE)
    got = b""
    while data := sock.recv(65536):
        got += data
    return got


@contextmanager
def served(talk: Talk, protocol: str) -> Generator[tuple[int, threading.Thread]]:
    """A server that accepts one connection, changes the protocol and talks."""

    def serve() -> None:
        sock, _ = listening.accept()
        with sock:
            if protocol != TUNNEL:
                head(sock)
                sock.sendall(
                    f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: {protocol}\r\nConnection: Upgrade\r\n"
                    f"Sec-WebSocket-Accept: {ACCEPTED}\r\n\r\n".encode()
                )
            talk(sock)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listening.getsockname()[1], thread


@contextmanager
def session(route: str, talk: Talk, tape: Path, confdir: Path, protocol: str = "websocket") -> Generator[socket.socket]:
    """The connection of a client after the change of the protocol."""
    with served(talk, protocol) as (port, server), recorded(route, port, tape, confdir, protocol) as client:
        yield client
        client.close()
        server.join(PATIENCE)
        assert not server.is_alive(), "the server waits for the end of its connection"


@contextmanager
def recorded(route: str, port: int, tape: Path, confdir: Path, protocol: str) -> Generator[socket.socket]:
    """A recorder, and a client's connection through it to the server on `port`."""
    place = f"127.0.0.1:{port}"
    is_tunnel = protocol == TUNNEL
    with Recorder(tape) as recorder:
        upstreams = {} if is_tunnel else {"raw": f"http://{place}"}
        engine = Engine(recorder, upstreams=upstreams, intercept=() if is_tunnel else ("127.0.0.1",), confdir=confdir)
        with running(engine):
            client = socket.create_connection(("127.0.0.1", engine.port), PATIENCE)
            if route == "forward":
                client.sendall(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode())
                assert b" 200 " in head(client)
            if not is_tunnel:
                path = "/v1/realtime" if route == "forward" else "/raw/v1/realtime"
                client.sendall(
                    f"GET {path} HTTP/1.1\r\nHost: {place}\r\nUpgrade: {protocol}\r\nConnection: Upgrade\r\n"
                    f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {KEY}\r\n\r\n".encode()
                )
                assert b" 101 " in head(client)
            yield client


def only(tape: Path) -> RoundTrip:
    [trip] = Cassette.load(tape)
    return trip


@only_linux
@ROUTES
@pytest.mark.parametrize(("last", "code"), [(b"", 1006), (CLIENT_CLOSE, 1000)], ids=["alone", "after its close frame"])
def test_a_client_that_sends_nothing_more_gets_what_the_server_still_says(
    route: str, last: bytes, code: int, tape: Path, confdir: Path
) -> None:
    heard: list[bytes] = []

    def talk(sock: socket.socket) -> None:
        heard.extend(unmasked(rest(sock)))
        sock.sendall(said(b"one") + said(b"two") + CLOSE)

    with session(route, talk, tape, confdir) as client:
        client.sendall(asked(b"ask") + last)
        client.shutdown(socket.SHUT_WR)
        assert rest(client) == said(b"one") + said(b"two") + CLOSE

    trip = only(tape)
    assert heard == [b"ask", b"\x03\xe8"][: 2 if last else 1]
    assert [(frame.sender, frame.data) for frame in trip.frames] == [
        ("client", b"ask"), ("server", b"one"), ("server", b"two"),
    ]  # fmt: skip
    assert (trip.closed_first, trip.failure) == ("client", None)
    assert trip.extra["closed"] == {"from": "client", "code": code, "reason": ""}


@ROUTES
@pytest.mark.parametrize(("last", "code"), [(b"", 1006), (CLOSE, 1000)], ids=["alone", "after its close frame"])
def test_a_server_that_sends_nothing_more_gets_what_the_client_still_says(
    route: str, last: bytes, code: int, tape: Path, confdir: Path
) -> None:
    heard: list[bytes] = []

    def talk(sock: socket.socket) -> None:
        sock.sendall(said(b"bye") + last)
        sock.shutdown(socket.SHUT_WR)
        heard.extend(unmasked(rest(sock)))

    with session(route, talk, tape, confdir) as client:
        assert rest(client) == said(b"bye") + last
        client.sendall(asked(b"one"))
        client.sendall(asked(b"two") + CLIENT_CLOSE)

    trip = only(tape)
    assert heard == [b"one", b"two", b"\x03\xe8"]
    assert [(frame.sender, frame.data) for frame in trip.frames] == [
        ("server", b"bye"), ("client", b"one"), ("client", b"two"),
    ]  # fmt: skip
    assert trip.closed_first == "server"
    assert trip.extra["closed"] == {"from": "server", "code": code, "reason": ""}
    assert (trip.failure and trip.failure.kind) == (None if last else "cut")


@only_linux
@ROUTES
def test_a_client_that_closes_the_rest_too_ends_a_session_whose_server_says_nothing(
    route: str, tape: Path, confdir: Path
) -> None:
    ended = threading.Event()

    def talk(sock: socket.socket) -> None:
        rest(sock)
        assert ended.wait(PATIENCE)  # this connection is still open here

    with session(route, talk, tape, confdir) as client:
        client.shutdown(socket.SHUT_WR)
        client.close()
        eventually(lambda: b'"closed"' in tape.read_bytes())
        ended.set()

    assert only(tape).closed_first == "client"


@ROUTES
def test_a_recording_that_is_stopped_meanwhile_says_which_side_has_ended(route: str, tape: Path, confdir: Path) -> None:
    def talk(sock: socket.socket) -> None:
        sock.shutdown(socket.SHUT_WR)
        rest(sock)

    with served(talk, "websocket") as (port, server):
        with recorded(route, port, tape, confdir, "websocket") as client:
            assert rest(client) == b""
        client.close()
        server.join(PATIENCE)

    trip = only(tape)
    assert (trip.closed_first, trip.failure and trip.failure.kind) == ("server", "cut")


@ROUTES
def test_a_client_that_talks_to_a_server_that_is_gone_gets_an_error(route: str, tape: Path, confdir: Path) -> None:
    with session(route, lambda sock: sock.sendall(said(b"bye")), tape, confdir) as client:
        assert rest(client) == said(b"bye")
        with pytest.raises(OSError):  # a reset or a broken pipe
            while client.sendall(asked(b"more")) is None:
                pass

    trip = only(tape)
    assert trip.closed_first == "server" and trip.failure is not None and trip.failure.kind == "cut"


@ROUTES
def test_a_reset_of_either_side_ends_both_directions(route: str, tape: Path, confdir: Path) -> None:
    def talk(sock: socket.socket) -> None:
        with suppress(ConnectionResetError):
            assert rest(sock) == b""

    with session(route, talk, tape, confdir) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")

    assert only(tape).closed_first == "client"


@only_linux
@pytest.mark.parametrize(
    ("route", "protocol"), [("forward", TUNNEL), ("forward", SWITCHED), ("base_url", SWITCHED)],
)  # fmt: skip
@pytest.mark.parametrize("first", ["client", "server"])
def test_what_is_not_websocket_is_half_closed_too(
    route: str, protocol: str, first: str, tape: Path, confdir: Path
) -> None:
    heard: list[bytes] = []

    def talk(sock: socket.socket) -> None:
        if first == "client":
            heard.append(rest(sock))
        sock.sendall(b"of the server")
        sock.shutdown(socket.SHUT_WR)
        if first == "server":
            heard.append(rest(sock))

    with session(route, talk, tape, confdir, protocol) as client:
        client.sendall(b"of the client, ")
        if first == "server":
            assert rest(client) == b"of the server"
        client.sendall(b"all")
        client.shutdown(socket.SHUT_WR)
        if first == "client":
            assert rest(client) == b"of the server"

    assert heard == [b"of the client, all"]
