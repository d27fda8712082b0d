"""Who ended an exchange: taken from the events of the connections, on both routes, over HTTP/1.1 and HTTP/2."""

import json
import os
import resource
import socket
import ssl
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

import pytest
from waiting import PATIENCE, eventually

from turntape.cassettes import Cassette, Recorder, RoundTrip
from turntape.cassettes.tape.model import Failure
from turntape.proxy.engine.engine import Engine, running

sys.path.insert(0, str(Path(__file__).parents[2]))
from bench.soak.behaviours import BODY, CHUNKED, LAST, OK, SIZED, SSE, Behaviour, chunk
from bench.soak.certificate import certificate, server_context
from bench.soak.http2 import HEAD, Http2Client, Http2Upstream, Streamed, serving2
from bench.soak.raw import Connection, RawUpstream, ask, serving

PATH = "/v1/chat/completions"
ASKED = b'{"model":"m","messages":[]}'
STREAMS = Behaviour("a stream that continues", (OK + SSE + CHUNKED + b"\r\n" + chunk(b"data: 1\n\n"),))
STREAMS_AND_ENDS = Behaviour(
    "a stream", (OK + SSE + CHUNKED + b"\r\n", chunk(b"data: 1\n\n"), 0.2, chunk(b"data: 2\n\n") + LAST)
)
SILENT = Behaviour("no answer", ())


@dataclass(frozen=True, slots=True)
class Rig:
    engine: Engine
    upstream: int
    """The port of the upstream."""
    recorded: SimpleQueue[RoundTrip]

    def request(self, route: str, behaviour: int = 0, length: int = len(ASKED), sent: bytes = ASKED) -> bytes:
        """The bytes of a request on a route; `sent` may be less than its `length`."""
        target = f"/raw{PATH}" if route == "base_url" else f"http://127.0.0.1:{self.upstream}{PATH}"
        head = f"POST {target} HTTP/1.1\r\nHost: 127.0.0.1:{self.engine.port}\r\nContent-Type: application/json\r\n"
        return f"{head}x-behaviour: {behaviour}\r\nContent-Length: {length}\r\n\r\n".encode() + sent

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.engine.port))

    def trip(self) -> tuple[str | None, str | None]:
        """Who closed first and what failed, of the next round trip."""
        trip = self.recorded.get(timeout=PATIENCE)
        return trip.closed_first, trip.failure.kind if trip.failure else None


@contextmanager
def recording(
    tape: Path, confdir: Path, upstreams: dict[str, str], port: int, own: Path | None = None
) -> Generator[Rig]:
    recorded = SimpleQueue[RoundTrip]()
    with Recorder(tape) as recorder:
        engine = Engine(
            recorder,
            upstreams=upstreams,
            confdir=confdir,
            trusted_ca=own,
            on_round_trip=lambda trip, _number: recorded.put(trip),
        )
        with running(engine):
            yield Rig(engine, port, recorded)
    assert Cassette.load(tape).problems == []


@contextmanager
def raw(tape: Path, confdir: Path, *behaviours: Behaviour) -> Generator[tuple[Rig, RawUpstream]]:
    upstream = RawUpstream(behaviours)
    with (
        serving(upstream),
        recording(tape, confdir, {"raw": f"http://127.0.0.1:{upstream.port}"}, upstream.port) as up,
    ):
        yield up, upstream


ROUTES = pytest.mark.parametrize("route", ["base_url", "forward"])


@ROUTES
def test_a_client_that_drops_within_the_answer(route: str, tape: Path, confdir: Path) -> None:
    with raw(tape, confdir, STREAMS) as (up, upstream):
        with up.connect() as client:
            client.sendall(up.request(route))
            Connection(client).until(b"data: 1\n\n")
        assert up.trip() == ("client", "client_gone")
        assert upstream.left.acquire(timeout=PATIENCE)  # and the upstream learns of it


@ROUTES
def test_a_client_that_drops_before_the_answer(route: str, tape: Path, confdir: Path) -> None:
    with raw(tape, confdir, SILENT) as (up, upstream):
        with up.connect() as client:
            client.sendall(up.request(route))
            while not upstream.requests:
                pass
        assert up.trip() == ("client", "client_gone")
        assert upstream.left.acquire(timeout=PATIENCE)


@ROUTES
def test_a_client_that_drops_within_its_request_body(route: str, tape: Path, confdir: Path) -> None:
    with raw(tape, confdir, SILENT) as (up, _):
        with up.connect() as client:
            client.sendall(up.request(route, length=100, sent=b'{"model"'))
        assert up.trip() == ("client", "client_gone")


@ROUTES
def test_a_client_that_breaks_http_within_its_request_body(route: str, tape: Path, confdir: Path) -> None:
    with raw(tape, confdir, SILENT) as (up, _), up.connect() as client:
        request = up.request(route).partition(b"Content-Length")[0]
        client.sendall(request + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n")
        assert up.trip() == ("client", "protocol")


@ROUTES
@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("Transfer-Encoding: chunked", "both transfer-encoding and content-length headers"),
        ("Content-Length: 5", "content-length header"),
        ("X-Note: one\r\n Transfer-Encoding: chunked", "'X-Note' has a line break"),
        ("X-Note: one\rTransfer-Encoding: chunked", "'X-Note' has a line break"),
        ("X-Note: one\0two", "'X-Note' has a line break"),
    ],
    ids=["two ways to read it", "two lengths", "a field on two lines", "a bare CR", "a NUL"],
)
def test_a_request_that_cannot_be_sent_on_is_the_fault_of_the_client(
    route: str, field: str, message: str, tape: Path, confdir: Path
) -> None:
    with raw(tape, confdir, SILENT) as (up, _), up.connect() as client:
        client.sendall(up.request(route).replace(b"\r\n\r\n", f"\r\n{field}\r\n\r\n".encode()))
        assert up.trip() == ("client", "protocol")
        head, _, body = Connection(client).rest().partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 400 ") and b"mitmproxy" not in head + body
    error = json.loads(body)["error"]
    assert error["type"] == "turntape_bad_request" and message in error["message"]
    [trip] = Cassette.load(tape)
    assert trip.failure is not None and message in trip.failure.message and "option" not in trip.failure.message


LATE = Behaviour("an answer after a while", (0.3, OK + SIZED + b"\r\n" + BODY))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says who holds a socket")
@ROUTES
@pytest.mark.parametrize("behaviour", [LATE, STREAMS_AND_ENDS], ids=["late", "a stream"])
def test_a_client_that_closes_one_direction_gets_its_answer(
    route: str, behaviour: Behaviour, tape: Path, confdir: Path
) -> None:
    with raw(tape, confdir, behaviour) as (up, _), up.connect() as client:
        client.sendall(up.request(route))
        client.shutdown(socket.SHUT_WR)
        answer = Connection(client).rest()
        assert up.trip() == (None, None)

    assert answer == b"".join(step for step in behaviour.steps if isinstance(step, bytes))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says who holds a socket")
def test_a_client_that_closes_the_other_direction_later_is_gone(tape: Path, confdir: Path) -> None:
    with raw(tape, confdir, SILENT) as (up, upstream):
        with up.connect() as client:
            client.sendall(up.request("base_url"))
            client.shutdown(socket.SHUT_WR)
            eventually(lambda: upstream.requests)
        assert up.trip() == ("client", "client_gone")
        assert upstream.left.acquire(timeout=PATIENCE)


def hung_tls() -> socket.socket:
    """A server that accepts connections and never takes part in the TLS handshake."""
    return socket.create_server(("127.0.0.1", 0))


@pytest.mark.parametrize("route", ["base_url", "http2"])
def test_a_client_that_drops_during_the_handshake_with_the_upstream(route: str, tape: Path, confdir: Path) -> None:
    with hung_tls() as server:
        port = server.getsockname()[1]
        place = f"https://localhost:{port}"
        with recording(tape, confdir, {"raw": place, "*": place}, port) as up:
            close: Callable[[], None]
            if route == "base_url":
                client = up.connect()
                client.sendall(up.request(route))
                close = client.close
            else:
                trust = ssl.create_default_context(cafile=str(confdir / "mitmproxy-ca-cert.pem"))
                second = Http2Client(443, "api.openai.com", trust, proxy=up.engine.port)
                second.send(PATH, ASKED, 0)
                close = second.close
            connection, _ = server.accept()
            with connection:
                assert connection.recv(1) == b"\x16"  # the handshake has begun
                close()
                trip = up.recorded.get(timeout=PATIENCE)

    said = f"the client closed while the TLS handshake with the server localhost:{port} was not finished"
    assert (trip.closed_first, trip.failure) == ("client", Failure("client_gone", said))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux does not answer when the queue is full")
@ROUTES
def test_a_client_that_drops_while_the_connection_is_made(route: str, tape: Path, confdir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server:
        port = server.getsockname()[1]
        full = socket.create_connection(("127.0.0.1", port))  # nobody else is let in
        with full, recording(tape, confdir, {"raw": f"http://127.0.0.1:{port}"}, port) as up:
            with up.connect() as client:
                client.sendall(up.request(route))
                eventually(lambda: up.engine.pending)
            trip = up.recorded.get(timeout=PATIENCE)

    said = f"the client closed while the connection to the server 127.0.0.1:{port} was not made"
    assert (trip.closed_first, trip.failure) == ("client", Failure("client_gone", said))


@contextmanager
def no_descriptors() -> Generator[None]:
    """This process can open nothing more."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken: list[int] = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(before[0], 1024), before[1]))
    try:
        with suppress(OSError):
            while True:
                taken.append(os.dup(0))
        yield
    finally:
        for one in taken:
            os.close(one)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.parametrize("host", ["127.0.0.2", "localhost"])
@ROUTES
def test_our_own_lack_of_descriptors_is_not_the_fault_of_the_upstream(
    route: str, host: str, tape: Path, confdir: Path
) -> None:
    upstream = RawUpstream((Behaviour("healthy", (OK + SIZED + b"\r\n" + BODY,)),))
    with serving(upstream):
        names = {"raw": f"http://127.0.0.1:{upstream.port}", "other": f"http://{host}:{upstream.port}"}
        with recording(tape, confdir, names, upstream.port) as up, up.connect() as client:
            ask(Connection(client), up.request(route))  # the connection is accepted
            assert up.trip() == (None, None)
            second = (
                up.request(route).replace(b"/raw", b"/other").replace(b"http://127.0.0.1", f"http://{host}".encode())
            )
            with no_descriptors():
                client.sendall(second)
                assert up.trip() == (None, "internal")
            assert client.recv(1) == b""


H2 = (
    (Streamed("reset", (("head", HEAD), ("data", b"half"), ("reset", 2))), "server"),
    (Streamed("refused", (("reset", 7),)), "server"),
    (Streamed("cancelled by the server", (("reset", 8),)), "server"),
    (Streamed("goaway", (("goaway", 0),)), "server"),
    (Streamed("closed", (("head", HEAD), ("data", b"half"), ("close", None))), "server"),
)


@pytest.mark.parametrize(("behaviour", "side"), H2, ids=[one.name for one, _ in H2])
def test_a_server_that_ends_a_stream(behaviour: Streamed, side: str, tape: Path, confdir: Path) -> None:
    with over_http2(tape, confdir, behaviour) as (up, client, _):
        client.read(client.send(PATH, ASKED, 0))
        assert up.trip() == (side, "cut")


HALF = Streamed("half", (("head", HEAD), ("data", b"half")))


@pytest.mark.parametrize("way", ["resets", "drops"])
@pytest.mark.parametrize("behaviour", [HALF, Streamed("nothing", ())], ids=["within", "before"])
def test_a_client_that_ends_a_stream(way: str, behaviour: Streamed, tape: Path, confdir: Path) -> None:
    with over_http2(tape, confdir, behaviour) as (up, client, upstream):
        stream = client.send(PATH, ASKED, 0)
        if behaviour is HALF:
            client.read(stream, until=4)
        else:
            assert upstream.asked.acquire(timeout=PATIENCE)
        if way == "resets":
            client.reset(stream, 8)
        else:
            client.close()
        assert up.trip() == ("client", "client_gone")
        if way == "resets":
            eventually(lambda: upstream.resets == [8])
        else:
            assert upstream.left.acquire(timeout=PATIENCE)


def test_a_server_that_goes_away_answers_what_it_has_begun_and_the_next_request_uses_a_new_connection(
    tape: Path, confdir: Path
) -> None:
    behaviour = Streamed("goaway", (("head", HEAD), ("data", b"ha"), ("goaway", None), ("data", b"lf"), ("end", None)))
    with over_http2(tape, confdir, behaviour) as (up, client, _):
        both = [client.read(client.send(PATH, ASKED, 0)) for _ in range(2)]
        assert [(seen.body, seen.ended) for seen in both] == [(b"half", "whole")] * 2
        assert [up.trip(), up.trip()] == [(None, None)] * 2


@contextmanager
def over_http2(tape: Path, confdir: Path, behaviour: Streamed) -> Generator[tuple[Rig, Http2Client, Http2Upstream]]:
    own = certificate(tape.parent)
    with serving2(Http2Upstream(server_context(own), (behaviour,))) as upstream:
        place = {"*": f"https://localhost:{upstream.port}"}
        with recording(tape, confdir, place, upstream.port, own) as up:
            trust = ssl.create_default_context(cafile=str(confdir / "mitmproxy-ca-cert.pem"))
            client = Http2Client(443, "api.openai.com", trust, proxy=up.engine.port)
            try:
                yield up, client, upstream
            finally:
                client.close()
