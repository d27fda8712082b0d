"""A tunnel that turntape does not read behaves as a connection without it, whatever is spoken in it."""

import asyncio
import contextlib
import http.client
import resource
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from waiting import PATIENCE, eventually

sys.path.append(str(Path(__file__).parents[2]))  # bench is not installed

from bench.soak.certificate import certificate, server_context
from turntape.cassettes import Cassette, Recorder
from turntape.proxy.capture.authority import PRIVATE, make_authority
from turntape.proxy.engine.engine import Engine, running

type Talk = Callable[[socket.socket], None]

NAMED = "mail.example"
"""A host that is certainly not decrypted; it resolves to this machine."""
HOSTS = pytest.mark.parametrize("host", [NAMED, "127.0.0.1", "[::1]"])

only_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux says who holds a socket")


@pytest.fixture(autouse=True)
def _resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve = socket.getaddrinfo

    def here(host: Any, *rest: Any, **options: Any) -> Any:
        return resolve("127.0.0.1" if host == NAMED else host, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", here)


@contextmanager
def served(host: str, talk: Talk) -> Generator[int]:
    """The port of a server that accepts one connection and talks."""
    family = socket.AF_INET6 if host == "[::1]" else socket.AF_INET

    def serve() -> None:
        connection, _ = listening.accept()
        with connection:
            connection.settimeout(PATIENCE)
            talk(connection)

    with socket.create_server(("::1" if host == "[::1]" else "127.0.0.1", 0), family=family) as listening:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        thread.join(PATIENCE)
        assert not thread.is_alive(), "the server still waits"


@contextmanager
def recorder(tape: Path, confdir: Path, *intercept: str) -> Generator[Engine]:
    with Recorder(tape) as recording, running(Engine(recording, confdir=confdir, intercept=intercept)) as engine:
        yield engine


def asked(engine: Engine, place: str) -> tuple[socket.socket, bytes]:
    """A client that has asked for a tunnel, and the head of the answer."""
    client = socket.create_connection(("127.0.0.1", engine.port), PATIENCE)
    client.sendall(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = client.recv(1)
        assert byte, f"the connection ended after {head!r}"
        head += byte
    return client, head


def all_of(sock: socket.socket) -> bytes:
    got = b""
    while data := sock.recv(65536):
        got += data
    return got


@pytest.mark.parametrize("intercept", [(), ("*",)], ids=["known hosts", "all hosts"])
@HOSTS
def test_a_server_that_speaks_first_is_heard(host: str, intercept: tuple[str, ...], tape: Path, confdir: Path) -> None:
    def talk(sock: socket.socket) -> None:
        sock.sendall(b"220 mail.example ESMTP\r\n")
        assert sock.recv(100) == b"EHLO there\r\n"
        sock.sendall(b"250 welcome\r\n")

    with served(host, talk) as port, recorder(tape, confdir, *intercept) as engine:
        client, _ = asked(engine, f"{host}:{port}")
        assert client.recv(100) == b"220 mail.example ESMTP\r\n"
        client.sendall(b"EHLO there\r\n")
        assert all_of(client) == b"250 welcome\r\n"

    assert sum(engine.unrecorded.tunnelled.values()) == 1
    assert len(Cassette.load(tape)) == 0


@pytest.mark.parametrize("intercept", [(), ("*",)], ids=["known hosts", "all hosts"])
def test_sides_that_speak_at_once_are_heard(intercept: tuple[str, ...], tape: Path, confdir: Path) -> None:
    def talk(sock: socket.socket) -> None:
        sock.sendall(b"SSH-2.0-theirs\r\n")
        assert sock.recv(100) == b"SSH-2.0-ours\r\n"
        sock.sendall(b"\0\0\1\2\n")

    with served(NAMED, talk) as port, recorder(tape, confdir, *intercept) as engine:
        client, _ = asked(engine, f"{NAMED}:{port}")
        client.sendall(b"SSH-2.0-ours\r\n")
        assert all_of(client) == b"SSH-2.0-theirs\r\n\0\0\1\2\n"
        client.close()

    assert len(Cassette.load(tape)) == 0


def test_a_server_that_closes_before_anyone_speaks_closes_the_tunnel(tape: Path, confdir: Path) -> None:
    with served("127.0.0.1", lambda sock: None) as port, recorder(tape, confdir) as engine:
        client, _ = asked(engine, f"127.0.0.1:{port}")
        assert client.recv(1) == b""


def test_an_api_on_this_machine_whose_client_waits_with_its_request_is_recorded(tape: Path, confdir: Path) -> None:
    reached = threading.Event()

    def talk(sock: socket.socket) -> None:
        reached.set()
        sock.recv(65536)
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    with served("127.0.0.1", talk) as port, recorder(tape, confdir) as engine:
        client, _ = asked(engine, f"127.0.0.1:{port}")
        assert reached.wait(PATIENCE)
        client.sendall(
            f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}".encode()
        )
        assert client.recv(65536).endswith(b"{}")
        client.close()

    [trip] = Cassette.load(tape)
    assert trip.response is not None and trip.response.status == 200
    assert not engine.unrecorded.tunnelled


def test_an_intercepted_host_whose_client_waits_with_its_handshake_is_decrypted(tape: Path, tmp_path: Path) -> None:
    own, reached = certificate(tmp_path), threading.Event()

    def talk(sock: socket.socket) -> None:
        reached.set()
        with server_context(own).wrap_socket(sock, server_side=True) as tls:
            tls.recv(65536)
            tls.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    confdir = tmp_path / "authority"
    confdir.mkdir()
    make_authority(confdir, PRIVATE)  # the one of all tests is limited to known APIs
    with served(NAMED, talk) as port, Recorder(tape) as recording:
        engine = Engine(recording, confdir=confdir, intercept=("*",), trusted_ca=own)
        with running(engine):
            client, _ = asked(engine, f"localhost:{port}")
            assert reached.wait(PATIENCE)
            trust = ssl.create_default_context(cafile=str(confdir / "mitmproxy-ca-cert.pem"))
            with trust.wrap_socket(client, server_hostname="localhost") as tls:
                tls.sendall(f"POST /x HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: 2\r\n\r\n{{}}".encode())
                answer = http.client.HTTPResponse(tls)
                answer.begin()
                assert answer.read() == b"{}"

    [trip] = Cassette.load(tape)
    assert trip.response is not None and trip.response.status == 200
    assert not engine.unrecorded.tunnelled


def test_an_api_is_not_called_before_its_client_speaks(
    tape: Path, confdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its requests may have to go elsewhere."""
    opened: list[object] = []
    monkeypatch.setattr("turntape.proxy.layers.tunnel.SILENCE", 0)

    async def refused(*place: object, **_options: object) -> object:
        opened.append(place)
        raise ConnectionRefusedError

    monkeypatch.setattr(asyncio, "open_connection", refused)
    with recorder(tape, confdir) as engine:
        client, _ = asked(engine, "api.openai.com:443")
        other, _ = asked(engine, f"127.0.0.1:{engine.port}")
        client.settimeout(0.3)
        with pytest.raises(TimeoutError):
            client.recv(1)
        client.close()
        other.close()

    assert opened == []


def test_a_tunnel_to_a_place_where_nothing_listens_is_refused(tape: Path, confdir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with recorder(tape, confdir) as engine:
        client, head = asked(engine, f"{NAMED}:{port}")
        assert head.startswith(b"HTTP/1.1 502 ")
        assert f"cannot connect to {NAMED}:{port}".encode() in client.recv(65536)
        client.close()
        silent, head = asked(engine, f"127.0.0.1:{port}")
        assert silent.recv(1) == b""


@only_linux
@HOSTS
def test_a_client_that_closes_one_direction_and_then_the_other_ends_the_tunnel(
    host: str, tape: Path, confdir: Path
) -> None:
    """The server says nothing, so that only a look at the client's socket can notice it."""
    heard, over = threading.Event(), threading.Event()

    def talk(sock: socket.socket) -> None:
        assert all_of(sock) == b"\0\1\2"
        heard.set()
        assert over.wait(PATIENCE)

    with served(host, talk) as port, recorder(tape, confdir) as engine:
        client, _ = asked(engine, f"{host}:{port}")
        client.sendall(b"\0\1\2")
        client.shutdown(socket.SHUT_WR)
        server = engine._server
        assert server is not None
        assert heard.wait(PATIENCE)
        assert len(server.connections) == 1
        client.close()
        eventually(lambda: not server.connections)
        over.set()


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kilobytes on Linux")
@HOSTS
def test_what_passes_through_a_tunnel_is_not_kept(host: str, tape: Path, confdir: Path) -> None:
    size = 200 << 20

    def talk(sock: socket.socket) -> None:
        while sock.recv(1 << 20):
            pass

    with served(host, talk) as port, recorder(tape, confdir) as engine:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        client, _ = asked(engine, f"{host}:{port}")
        piece = bytes(1 << 20)
        for _ in range(size >> 20):
            client.sendall(piece)
        client.close()
        with contextlib.suppress(OSError):
            all_of(client)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before

    assert grown < (size >> 10) // 4
