"""An enemy's answer does not take the machine's memory: what is beyond the bounds passes, and is reported."""

import gzip
import http.client
import os
import socket
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from waiting import PATIENCE
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.sync.server import ServerConnection, serve

from turntape.cassettes import Cassette, Recorder, RoundTrip
from turntape.proxy.capture import spool
from turntape.proxy.engine.engine import Engine, running
from turntape.proxy.layers import websocket

GIGABYTE = 1 << 30
PROXY = """
import resource, sys
from pathlib import Path
limit = int(sys.argv[4])
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
from turntape.cassettes import Recorder
from turntape.proxy.engine.engine import Engine, running
with Recorder(sys.argv[1]) as recorder:
    with running(Engine(recorder, upstreams={"openai": sys.argv[2]}, confdir=Path(sys.argv[3]))) as engine:
        print(engine.port, flush=True)
        sys.stdin.read()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""
"""A proxy with a limit to its address space; prints how many megabytes it took at most."""


@contextmanager
def upstream(answer: Callable[[socket.socket], None]) -> Generator[str]:
    """A server that reads a request and lets `answer` write."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                while not connection.recv(1 << 16).endswith(b"{}"):
                    pass
                answer(connection)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join()


def passed(answer: Callable[[socket.socket], None], tape: Path, limit: int) -> tuple[int, int]:
    """How many bytes the client got through a proxy, and how many megabytes the proxy took."""
    with upstream(answer) as url:
        proxy = subprocess.Popen(
            [sys.executable, "-c", PROXY, str(tape), url, str(tape.parent / "conf"), str(limit)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "MALLOC_ARENA_MAX": "2"},
        )  # fmt: skip
        assert proxy.stdout is not None and proxy.stdin is not None
        client = http.client.HTTPConnection("127.0.0.1", int(proxy.stdout.readline()))
        client.request("POST", "/openai/chat/completions", b"{}", {"content-type": "application/json"})
        got, response = 0, client.getresponse()
        while piece := response.read(1 << 20):
            got += len(piece)
        client.close()
        proxy.stdin.close()
        most = int(proxy.stdout.read())
        assert proxy.wait() == 0
        proxy.stdout.close()
    return got, most


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on the address space is Linux's")
def test_a_megabyte_that_decodes_to_a_gigabyte_is_stored_as_received(tmp_path: Path) -> None:
    packing = zlib.compressobj(wbits=31)
    packed = b"".join(packing.compress(bytes(1 << 20)) for _ in range(1024)) + packing.flush()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n"

    got, most = passed(lambda to: to.sendall(head % len(packed) + packed), tmp_path / "a.jsonl", 4 * GIGABYTE)

    assert got == len(packed)
    assert most < 900  # the gigabyte itself is not in memory
    [trip] = Cassette.load(tmp_path / "a.jsonl")
    assert trip.response is not None
    assert (trip.response.body, trip.response.encoding, trip.failure) == (packed, None, None)
    assert "; it is stored as received" in trip.faults[0]


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on the address space is Linux's")
def test_half_a_gigabyte_passes_whole_and_its_beginning_is_kept(tmp_path: Path) -> None:
    piece = ('{"a":"é"} ' * 100_000).encode()[: 1 << 20]

    def answer(to: socket.socket) -> None:
        to.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % (512 << 20))
        for _ in range(512):
            to.sendall(piece)

    got, most = passed(answer, tmp_path / "a.jsonl", 4 * GIGABYTE)

    assert got == 512 << 20
    assert most < 1200
    [trip] = Cassette.load(tmp_path / "a.jsonl")
    assert trip.response is not None and trip.failure is None
    assert 0 <= (64 << 20) - len(trip.response.body) < 1 << 20
    assert trip.response.body == (piece * 64)[: len(trip.response.body)]
    assert trip.faults[0].startswith("the answer is longer than 67,108,864 bytes; what came after the first ")


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("route", ["base_url", "forward"])
def test_many_long_answers_at_once_are_kept_whole_by_way_of_the_disk(
    route: str, packed: bool, tmp_path: Path, confdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "FROM", 100_000)
    body = os.urandom(1 << 20).hex().encode()
    sent = gzip.compress(body) if packed else body
    encoding = b"content-encoding: gzip\r\n" if packed else b""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n%scontent-length: %d\r\n\r\n" % (encoding, len(sent))
    spooled: list[bool] = []
    got: list[bytes] = []

    def ask(port: int, place: str) -> None:
        client = http.client.HTTPConnection("127.0.0.1", port)
        client.request("POST", f"{place}/chat/completions", b"{}", {"content-type": "application/json"})
        got.append(client.getresponse().read())
        client.close()

    def kept(trip: RoundTrip, number: int) -> None:
        assert trip.response is not None
        spooled.append(not isinstance(trip.response.content, bytes))

    with upstream(lambda to: to.sendall(head + sent)) as url, Recorder(tmp_path / "a.jsonl") as recorder:
        engine = Engine(
            recorder, upstreams={"openai": url}, intercept=("127.0.0.1",), confdir=confdir, spool=tmp_path,
            on_round_trip=kept,
        )  # fmt: skip
        with running(engine):
            place = "/openai" if route == "base_url" else url
            clients = [threading.Thread(target=ask, args=(engine.port, place)) for _ in range(6)]
            for client in clients:
                client.start()
            for client in clients:
                client.join()

    assert got == [sent] * 6 and spooled == [True] * 6
    trips = list(Cassette.load(tmp_path / "a.jsonl"))
    assert [trip.response and trip.response.body for trip in trips] == [body] * 6
    assert all(trip.faults == () and trip.failure is None for trip in trips)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["a.jsonl"]


SMALL = 100_000
"""The bound of these tests."""


@pytest.fixture
def bound(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("capture.pending", "layers.exchange", "layers.websocket"):
        monkeypatch.setattr(f"turntape.proxy.{module}.MOST_OF_A_BODY", SMALL)


@contextmanager
def taking(got: list[bytes]) -> Generator[int]:
    """A server that keeps the bodies of requests, with or without chunks."""

    class Api(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = b""
            if "content-length" in self.headers:
                body = self.rfile.read(int(self.headers["content-length"]))
            else:
                while size := int(self.rfile.readline(), 16):
                    body += self.rfile.read(size + 2)[:-2]
                self.rfile.readline()
            got.append(body)
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.usefixtures("bound")
@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunks"])
@pytest.mark.parametrize("route", ["base_url", "forward"])
def test_a_request_that_is_too_long_passes_whole_and_its_beginning_is_kept(
    route: str, chunked: bool, tape: Path, confdir: Path
) -> None:
    pieces = [b"%04d" % number * 2500 for number in range(30)]
    got: list[bytes] = []
    with taking(got) as port, Recorder(tape) as recorder:
        api = f"127.0.0.1:{port}"
        engine = Engine(recorder, upstreams={"openai": f"http://{api}/v1"}, intercept=("127.0.0.1",), confdir=confdir)
        with running(engine):
            client = http.client.HTTPConnection("127.0.0.1", engine.port)
            place = "/openai" if route == "base_url" else f"http://{api}/v1"
            for body in (pieces, pieces[:5]):
                sent = iter(body) if chunked else b"".join(body)
                client.request("POST", f"{place}/chat/completions", sent, {"content-type": "application/json"})
                assert client.getresponse().read() == b"{}"
            client.close()

    assert got == [b"".join(pieces), b"".join(pieces[:5])]
    long, short = Cassette.load(tape)
    kept = len(long.request.body)
    assert SMALL - (1 << 16) < kept <= SMALL and long.request.body == got[0][:kept]
    assert long.faults == (
        f"the request is longer than {SMALL:,} bytes; of the request, what came after the first {kept:,} is not kept",
    )
    assert long.response is not None and long.failure is None and long.request_at is not None
    assert (short.request.body, short.faults) == (got[1], ())


@pytest.mark.parametrize("part", [1 << 20, 1001])
@pytest.mark.usefixtures("bound")
def test_messages_that_are_too_long_or_too_many_pass_whole_and_their_beginning_is_kept(
    part: int, tape: Path, confdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket, "_TURN", part)  # one that cuts letters of two bytes
    got: list[str | bytes] = []

    def keep(connection: ServerConnection) -> None:
        for message in connection:
            got.append(message)
            connection.send("ok")

    long = [f"é{number:04d}" * 4000 for number in range(15)]
    with serve(keep, "127.0.0.1", 0, max_size=None) as server, Recorder(tape) as recorder:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.socket.getsockname()[1]}"
        with (
            running(Engine(recorder, upstreams={"raw": url}, confdir=confdir)) as engine,
            connect(f"ws://127.0.0.1:{engine.port}/raw/v1/realtime", proxy=None, compression=None) as client,
        ):
            for message in ("hello", iter(long), "x" * 90_000, b"y" * 20_000, "bye"):
                client.send(message)
                assert client.recv() == "ok"
        server.shutdown()
        thread.join()

    assert got == ["hello", "".join(long), "x" * 90_000, b"y" * 20_000, "bye"]
    [trip] = Cassette.load(tape)
    kept = [frame.data.decode() for frame in trip.frames if frame.sender == "client"]
    assert kept == ["hello"]
    assert trip.faults == (
        f"the messages of the session take more than {SMALL:,} bytes; what came after the first 2 messages is not kept",
    )


@pytest.mark.usefixtures("bound")
def test_a_message_that_is_too_long_and_never_ends_is_reported(tape: Path, confdir: Path) -> None:
    arrived = threading.Event()

    def read(connection: ServerConnection) -> None:
        with suppress(ConnectionClosed):
            for _ in connection.recv_streaming():
                arrived.set()

    with serve(read, "127.0.0.1", 0, close_timeout=0) as server, Recorder(tape) as recorder:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.socket.getsockname()[1]}"
        with (
            running(Engine(recorder, upstreams={"raw": url}, confdir=confdir)) as engine,
            connect(
                f"ws://127.0.0.1:{engine.port}/raw/v1/realtime", proxy=None, compression=None, close_timeout=0
            ) as client,
            suppress(ConnectionClosed),
        ):

            def pieces() -> Iterator[str]:
                yield from ["x" * (SMALL // 2)] * 3
                assert arrived.wait(PATIENCE)
                client.socket.shutdown(socket.SHUT_RDWR)
                yield "x"

            client.send(pieces())
        server.shutdown()
        thread.join()

    [trip] = Cassette.load(tape)
    assert trip.faults == (
        f"the messages of the session take more than {SMALL:,} bytes; what came after the first 0 messages is not kept",
    )
