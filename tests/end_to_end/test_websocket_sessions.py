"""WebSocket sessions end for the client as for the server, and are on the tape while they run."""

import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mitmproxy.connection import Client, Server
from waiting import eventually
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.protocol import Event
from websockets.sync.client import ClientConnection, connect
from websockets.sync.connection import Connection
from websockets.sync.server import ServerConnection, serve

from turntape.cassettes import Cassette, Recorder, RoundTrip
from turntape.cassettes.tape.bounds import Memory
from turntape.cassettes.tape.model import Failure
from turntape.proxy.engine.engine import Engine, running
from turntape.proxy.layers.websocket import Session
from turntape.proxy.limits.limit_checker import LimitChecker
from turntape.proxy.limits.limits import Limits

ROUTES = pytest.mark.parametrize("route", ["base_url", "forward"])
type Talk = Callable[[ServerConnection], None]


@contextmanager
def websocket_server(talk: Talk, **options: Any) -> Generator[int]:
    with serve(talk, "127.0.0.1", 0, **options) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.socket.getsockname()[1]
        finally:
            server.shutdown()
            thread.join()


def client_of(route: str, proxy: int, upstream: int, **options: Any) -> ClientConnection:
    if route == "base_url":
        return connect(f"ws://127.0.0.1:{proxy}/raw/v1/realtime", proxy=None, **options)
    return connect(f"ws://127.0.0.1:{upstream}/v1/realtime", proxy=f"http://127.0.0.1:{proxy}", **options)


@contextmanager
def session(
    route: str, talk: Talk, tape: Path, confdir: Path, limits: LimitChecker | None = None, **options: Any
) -> Generator[ClientConnection]:
    with websocket_server(talk, **options) as port, Recorder(tape) as recorder:
        upstreams = {"raw": f"http://127.0.0.1:{port}"}
        engine = Engine(recorder, upstreams=upstreams, intercept=("127.0.0.1",), confdir=confdir, limits=limits)
        with running(engine), client_of(route, engine.port, port, **options) as client:
            yield client


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> dict[type, list[Frame]]:
    """All frames that each side gets, in their order."""
    frames: dict[type, list[Frame]] = {ClientConnection: [], ServerConnection: []}
    process = Connection.process_event

    def seen(self: Connection, event: Event) -> None:
        if isinstance(event, Frame):
            frames[type(self)].append(event)
        process(self, event)

    monkeypatch.setattr(Connection, "process_event", seen)
    return frames


def end(client: ClientConnection) -> tuple[int | None, str | None, list[str | bytes]]:
    """Read to the end: the code and reason of the close frame that came, None without one, and the messages."""
    said: list[str | bytes] = []
    with contextlib.suppress(ConnectionClosed):
        while True:
            said.append(client.recv())
    got = client.protocol.close_rcvd
    return (got.code, got.reason, said) if got else (None, None, said)


def only(tape: Path) -> RoundTrip:
    [trip] = Cassette.load(tape)
    return trip


def closing(code: int, reason: str) -> Talk:
    def talk(connection: ServerConnection) -> None:
        connection.send("one")
        connection.close(code, reason)

    return talk


@ROUTES
@pytest.mark.parametrize(("code", "reason"), [(1000, ""), (1014, "bad gateway"), (4008, "rate limit")])
def test_the_servers_close_arrives_and_is_kept(route: str, code: int, reason: str, tape: Path, confdir: Path) -> None:
    with session(route, closing(code, reason), tape, confdir) as client:
        assert end(client) == (code, reason, ["one"])

    trip = only(tape)
    assert trip.extra["closed"] == {"from": "server", "code": code, "reason": reason}
    assert (trip.closed_first, trip.failure, trip.route) == ("server", None, route)


@ROUTES
@pytest.mark.parametrize("way", ["closes", "resets"])
def test_an_abort_of_the_server_reaches_the_client_as_one(route: str, way: str, tape: Path, confdir: Path) -> None:
    def talk(connection: ServerConnection) -> None:
        connection.send("one")
        if way == "resets":
            connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.socket.close()
        else:
            connection.socket.shutdown(socket.SHUT_RDWR)

    with session(route, talk, tape, confdir) as client:
        code, _, said = end(client)
        assert code is None  # no close frame: the client reports 1006
        assert said in ([], ["one"]) if way == "resets" else said == ["one"]

    trip = only(tape)
    assert trip.extra["closed"] == {"from": "server", "code": 1006, "reason": ""}
    assert trip.closed_first == "server"
    assert trip.failure == Failure("cut", "the server ended the session without a close frame")


def test_a_server_that_breaks_the_protocol_is_named_in_the_record(tape: Path, confdir: Path) -> None:
    def talk(connection: ServerConnection) -> None:
        connection.socket.sendall(b"\x83\x01x")  # a message of a kind that there is not
        connection.recv()

    with session("base_url", talk, tape, confdir) as client:
        assert end(client) == (1002, "Invalid opcode 0x3", [])

    trip = only(tape)
    assert (trip.closed_first, trip.failure) == ("server", Failure("protocol", "Invalid opcode 0x3"))


@ROUTES
def test_a_fault_of_ours_ends_the_session_for_both_and_is_on_the_tape(
    route: str, tape: Path, confdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: Session, from_client: bool, data: bytes) -> object:
        raise RuntimeError("ours")

    monkeypatch.setattr(Session, "_inflate", fails)
    ended = threading.Event()

    def talk(connection: ServerConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            connection.recv()
        ended.set()

    with session(route, talk, tape, confdir) as client:
        client.send("one")
        assert end(client) == (None, None, [])
        ended.wait()

    failure = only(tape).failure
    assert failure is not None and failure.kind == "internal" and "RuntimeError('ours')" in failure.message


@ROUTES
@pytest.mark.parametrize("sender", ["client", "server"])
@pytest.mark.parametrize("compression", [None, "deflate"])
def test_a_ping_within_a_message_arrives_within_it_and_the_message_is_kept_whole(
    route: str, sender: str, compression: str | None, tape: Path, confdir: Path, seen: dict[type, list[Frame]]
) -> None:
    """The sender waits for the pong before it sends the rest, so that nothing may be held until the end."""

    def say(connection: ServerConnection | ClientConnection) -> None:
        def parts() -> Generator[str]:
            yield ""
            yield "ä"
            assert connection.ping("p").wait(60)
            yield "b"

        connection.send(parts())

    def talk(connection: ServerConnection) -> None:
        if sender == "server":
            say(connection)
        connection.send(connection.recv())

    with session(route, talk, tape, confdir, compression=compression) as client:
        if sender == "server":
            client.send(client.recv())
        else:
            say(client)
        assert client.recv() == "äb"

    got = seen[ClientConnection if sender == "server" else ServerConnection]
    assert [(frame.opcode, frame.data, frame.fin) for frame in got[:5]] == [
        (Opcode.TEXT, b"", False),
        (Opcode.CONT, "ä".encode(), False),
        (Opcode.PING, b"p", True),
        (Opcode.CONT, b"b", False),
        (Opcode.CONT, b"", True),
    ]
    assert [frame.data for frame in only(tape).frames][:1] == ["äb".encode()]


@ROUTES
@pytest.mark.parametrize("how", ["closes", "breaks off"])
def test_the_beginning_of_a_message_arrives_before_the_end_of_the_session(
    route: str, how: str, tape: Path, confdir: Path, seen: dict[type, list[Frame]]
) -> None:
    def talk(connection: ServerConnection) -> None:
        connection.socket.sendall(b"\x01\x01a")
        if how == "closes":
            connection.close()
        else:
            connection.socket.shutdown(socket.SHUT_RDWR)

    with session(route, talk, tape, confdir) as client:
        assert end(client)[0] == (1000 if how == "closes" else None)

    assert [(frame.opcode, frame.data) for frame in seen[ClientConnection]][:1] == [(Opcode.TEXT, b"a")]
    assert only(tape).frames == ()


@ROUTES
def test_a_limit_refuses_a_message_with_a_ping_in_it_and_its_answer_breaks_no_message(
    route: str, tape: Path, confdir: Path
) -> None:
    asked: list[str | bytes] = []
    has_begun, rest_may_come = threading.Event(), threading.Event()

    def talk(connection: ServerConnection) -> None:
        def parts() -> Generator[str]:
            yield "x"
            has_begun.set()
            rest_may_come.wait(60)
            yield "y"

        asked.append(connection.recv())
        connection.send(parts())
        with contextlib.suppress(ConnectionClosed):
            asked.append(connection.recv())

    checker = LimitChecker(Limits(max_turns=1))
    checker.labels_ended("the test makes none")
    ask = '{"type":"response.create","response":{}}'
    with session(route, talk, tape, confdir, limits=checker) as client:

        def parts() -> Generator[str]:
            yield ask[:9]
            assert client.ping("p").wait(60)
            yield ask[9:]

        client.send(ask)
        assert has_begun.wait(60)  # the pong to the ping in the message comes behind it
        client.send(parts())
        client.ping("after").wait(60)
        rest_may_come.set()
        assert client.recv() == "xy"
        assert "turntape_max_turns" in str(client.recv())

    assert asked == [ask]


@pytest.mark.parametrize("count", [300, 3000])
def test_a_message_in_many_frames_arrives_whole_and_in_as_many_frames_as_are_held(
    count: int, tape: Path, confdir: Path
) -> None:
    """A flood of tiny frames must not take memory and time for each of them."""
    frames: list[str | bytes] = []

    def talk(connection: ServerConnection) -> None:
        frames.extend(connection.recv_streaming())
        connection.send("got it")

    pieces = ["", *(str(number) for number in range(count - 2))]
    with session("base_url", talk, tape, confdir) as client:
        client.send(iter(pieces))  # and an empty frame that ends it
        assert client.recv() == "got it"

    assert "".join(map(str, frames)) == "".join(pieces)
    assert len(frames) == min(count, 1000)
    assert [frame.data for frame in only(tape).frames] == ["".join(pieces).encode(), b"got it"]


@ROUTES
def test_what_inflates_to_much_is_read_bit_by_bit_and_others_have_their_turn(
    route: str, tape: Path, confdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A megabyte of such a message is a gigabyte. Here 1 KB is 1 MB, each way."""
    turns: list[object] = []
    monkeypatch.setattr("turntape.proxy.layers.websocket.pause", turns.append)
    monkeypatch.setattr("turntape.proxy.layers.websocket._BIT", 256)
    monkeypatch.setattr("turntape.proxy.layers.websocket._TURN", 1 << 16)
    long = b"x" * (1 << 20)

    def talk(connection: ServerConnection) -> None:
        connection.send(connection.recv())

    with session(route, talk, tape, confdir, max_size=None) as client:
        client.send(long)
        assert client.recv() == long

    assert {type(side) for side in turns} == {Client, Server}
    assert [frame.data for frame in only(tape).frames] == [long] * 2


@ROUTES
@pytest.mark.parametrize("compression", ["deflate", None])
def test_the_beginning_of_a_long_message_does_not_wait_for_its_end(
    route: str, compression: str | None, tape: Path, confdir: Path
) -> None:
    long = os.urandom(2 << 20)
    has_begun = threading.Event()

    def parts() -> Iterator[bytes]:
        yield long
        assert has_begun.wait(60)
        yield b"end"

    def talk(connection: ServerConnection) -> None:
        connection.send(parts())

    with session(route, talk, tape, confdir, max_size=None, compression=compression) as client:
        got = bytearray()
        for piece in client.recv_streaming():
            assert isinstance(piece, bytes)
            got += piece
            has_begun.set()

    assert got == long + b"end"
    assert [frame.data for frame in only(tape).frames] == [long + b"end"]


@ROUTES
def test_the_servers_answer_to_the_clients_close_comes_after_what_it_still_says(
    route: str, tape: Path, confdir: Path
) -> None:
    closed: list[tuple[int, str]] = []

    def talk(connection: ServerConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            for message in connection:
                connection.send(message)
        got = connection.protocol.close_rcvd
        assert got is not None
        closed.append((got.code, got.reason))

    with session(route, talk, tape, confdir) as client:
        client.send("one")
        assert client.recv() == "one"
        client.close(4001, "done")
        got = client.protocol.close_rcvd
        assert got is not None and (got.code, got.reason) == (4001, "done")

    trip = only(tape)
    assert closed == [(4001, "done")]
    assert trip.extra["closed"] == {"from": "client", "code": 4001, "reason": "done"}
    assert (trip.closed_first, trip.failure) == ("client", None)


@ROUTES
def test_an_abort_of_the_client_reaches_the_server_as_one(route: str, tape: Path, confdir: Path) -> None:
    seen: list[object] = []
    over = threading.Event()

    def talk(connection: ServerConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                connection.recv()
        seen.append(connection.protocol.close_rcvd)
        over.set()

    with session(route, talk, tape, confdir) as client:
        client.send("one")
        client.socket.shutdown(socket.SHUT_RDWR)
        assert over.wait(60)

    trip = only(tape)
    assert seen == [None]
    assert trip.extra["closed"] == {"from": "client", "code": 1006, "reason": ""}
    assert (trip.closed_first, [frame.data for frame in trip.frames]) == ("client", [b"one"])


PROXY = """
import sys
from pathlib import Path
from turntape.cassettes import Recorder
from turntape.proxy.engine.engine import Engine, running
from turntape.proxy.layers.websocket import Session
from turntape.proxy.gateway.segments import Segments
with Recorder(sys.argv[1]) as recorder:
    upstreams, confdir = {"raw": sys.argv[2]}, Path(sys.argv[3])
    with running(Engine(Segments(recorder), upstreams=upstreams, intercept=("127.0.0.1",), confdir=confdir)) as engine:
        print(engine.port, flush=True)
        sys.stdin.read()
"""


@ROUTES
def test_a_killed_recording_has_the_session_so_far(route: str, tape: Path, confdir: Path) -> None:
    def echo(connection: ServerConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            for message in connection:
                connection.send(message)

    with websocket_server(echo) as port:
        proxy = subprocess.Popen(
            [sys.executable, "-c", PROXY, str(tape), f"http://127.0.0.1:{port}", str(confdir)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert proxy.stdout is not None and proxy.stdin is not None
        with client_of(route, int(proxy.stdout.readline()), port) as client:
            said = [f'{{"n":{number}}}' for number in range(20)]
            for message in said:
                client.send(message)
                assert client.recv() == message
            client.send(b"\x00\xff")
            client.recv()
            eventually(lambda: tape.read_bytes().count(b'"binary":true') == 2)
            os.kill(proxy.pid, signal.SIGKILL)
            proxy.wait()
        proxy.stdin.close()
        proxy.stdout.close()

    trip = only(tape)
    assert [frame.data.decode() for frame in trip.frames if frame.text] == [one for one in said for _ in range(2)]
    assert [(frame.sender, frame.data) for frame in trip.frames[-2:]] == [
        ("client", b"\x00\xff"),
        ("server", b"\x00\xff"),
    ]
    assert trip.failure is not None and trip.failure.kind == "internal"
    assert (trip.route, trip.response and trip.response.status) == (route, 101)
    with Recorder(tape, append=True) as recorder:
        assert recorder.count == 1


def test_a_session_that_ends_is_on_the_tape_once(tape: Path, confdir: Path) -> None:
    with session("base_url", closing(1000, ""), tape, confdir) as client:
        end(client)

    cassette = Cassette.load(tape)
    assert [len(trip.frames) for trip in cassette] == [1] and cassette.problems == []
    assert b'"opened"' in tape.read_bytes()


@ROUTES
def test_open_messages_share_the_memory_and_all_of_them_pass(
    route: str, tape: Path, confdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of several clients may send 64 MB of a message that it does not end. Here they have 100 KB together."""
    shared = Memory(100_000)
    monkeypatch.setattr("turntape.proxy.engine.engine.Memory", lambda: shared)
    parts = ["a" * 30_000, "b" * 30_000]
    arrived: list[str | bytes] = []

    def talk(connection: ServerConnection) -> None:
        for message in connection:
            arrived.append(message)
            connection.send("got it")

    clients: list[ClientConnection] = []
    with websocket_server(talk) as port, Recorder(tape) as recorder:
        upstreams = {"raw": f"http://127.0.0.1:{port}"}
        engine = Engine(recorder, upstreams=upstreams, intercept=("127.0.0.1",), confdir=confdir)
        with running(engine), contextlib.ExitStack() as stack:
            for number in range(4):
                client = stack.enter_context(client_of(route, engine.port, port, compression=None))
                clients.append(client)
                client.socket.sendall(masked(1, parts[0], fin=False))
                eventually(lambda number=number: shared.taken >= min(30_000 * (number + 1), 90_000))
            for client in clients:
                client.socket.sendall(masked(0, parts[1], fin=True))
                assert client.recv() == "got it"

    assert arrived == ["".join(parts)] * 4
    assert shared.taken == 0
    kept = [[len(frame.data) for frame in trip.frames] for trip in Cassette.load(tape)]
    lost = [trip.faults for trip in Cassette.load(tape) if trip.faults]
    assert [60_000, 6] in kept and [] in kept and len(kept) == 4
    assert {fault for faults in lost for fault in faults} == {
        "the bodies that are running take more than 100,000 bytes together; "
        "what came after the first 0 messages is not kept"
    }
    assert len(lost) == kept.count([])


def masked(opcode: int, text: str, *, fin: bool) -> bytes:
    """A frame of a client; its mask is zeros."""
    return struct.pack("!BBH4x", fin << 7 | opcode, 0x80 | 126, len(text)) + text.encode()


@ROUTES
def test_a_session_does_not_hold_the_messages_that_it_has_passed_on(
    route: str, tape: Path, confdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions: list[Session] = []
    made = Session.__init__

    def noted(self: Session, *given: Any) -> None:
        sessions.append(self)
        made(self, *given)

    monkeypatch.setattr(Session, "__init__", noted)

    def talk(connection: ServerConnection) -> None:
        connection.send(connection.recv())
        connection.recv()

    with session(route, talk, tape, confdir) as client:
        client.send("x" * 1000)
        assert client.recv() == "x" * 1000
        [one] = sessions
        assert one.flow.websocket is not None
        eventually(lambda: one.flow.websocket and not one.flow.websocket.messages)
    assert [len(frame.data) for frame in only(tape).frames] == [1000, 1000]
