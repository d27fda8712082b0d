"""ToolSession: a request and its answer are one round trip, and no message is lost, whatever it holds."""

from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turntape.cassettes import Cassette, Recorder, Tail
from turntape.cassettes.recording.tool_session import ToolSession, new_session
from turntape.cassettes.tape.model import RoundTrip, Side, ToolServer


class Kept:
    """A sink that keeps what it is given."""

    def __init__(self) -> None:
        self.trips: list[RoundTrip] = []
        self.servers: list[ToolServer] = []
        self.pieces: list[tuple[str, int, bytes]] = []

    def write(self, round_trip: RoundTrip) -> int:
        self.trips.append(round_trip)
        return len(self.trips) - 1

    def tool_server(self, server: ToolServer) -> None:
        self.servers.append(server)

    def tool_server_stderr(self, session: str, at: int, data: bytes) -> None:
        self.pieces.append((session, at, data))

    def tool_server_end(self, server: ToolServer) -> None:
        self.servers.append(server)


def message(**fields: object) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", **fields})


def exchanged(*messages: tuple[Side, bytes], closed_first: Side | None = "client") -> list[RoundTrip]:
    """The round trips of a session with these messages, a second apart."""
    sink = Kept()
    session = ToolSession(sink, ToolServer("s1", "files", started_at=100.0), clock=lambda: 200.0)
    for place, (sender, data) in enumerate(messages):
        session.message(sender, data, 101.0 + place)
    session.end(exit_code=0, closed_first=closed_first)
    return sink.trips


def shapes(trips: list[RoundTrip]) -> list[tuple[str, int, int | None]]:
    return [(t.tool_wire.sender, t.tool_wire.sequence, t.tool_wire.answered) for t in trips if t.tool_wire]


CALL = message(id=0, method="tools/call", params={"name": "t"})
ANSWER = message(id=0, result={"content": []})


def test_a_request_and_its_answer_are_one_round_trip() -> None:
    (trip,) = exchanged(("client", CALL), ("server", ANSWER))
    assert (trip.request.body, trip.response and trip.response.body) == (CALL, ANSWER)
    assert (trip.started_at, trip.request_at, trip.first_byte_at, trip.ended_at) == (101.0, 0, 1_000_000, 1_000_000)
    assert (trip.request.method, trip.request.url, trip.route) == ("STDIO", "stdio://files", "stdio")
    assert trip.failure is None and trip.closed_first is None
    assert shapes([trip]) == [("client", 0, 1)]


def test_answers_out_of_order_find_their_requests() -> None:
    first, second = message(id="a", method="x"), message(id=7, method="y")
    trips = exchanged(
        ("client", first),
        ("client", second),
        ("server", message(id=7, result=1)),
        ("server", message(id="a", error={})),
    )
    assert shapes(trips) == [("client", 1, 2), ("client", 0, 3)]


def test_ids_of_both_sides_and_of_other_types_are_different() -> None:
    trips = exchanged(
        ("client", message(id=1, method="tools/call")),
        ("server", message(id=1, method="ping")),
        ("client", message(id="1", method="tools/list")),
        ("client", message(id=1, result={})),
        ("server", message(id="1", result={})),
        ("server", message(id=1, result={})),
    )
    assert shapes(trips) == [("server", 1, 3), ("client", 2, 4), ("client", 0, 5)]


@pytest.mark.parametrize(
    "data",
    [
        message(method="notifications/progress"),
        message(id=5, result={}),
        message(id=None, error={"code": -32700}),
        message(id=[1], method="x"),
        b"Listening on stdio",
        b"",
        b"\xff\xfe",
        b"[" + CALL + b"]",
        b"null",
        b'"id"',
    ],
)
def test_a_message_that_needs_no_answer_has_none(data: bytes) -> None:
    (trip,) = exchanged(("server", data))
    assert (trip.request.body, trip.response, trip.failure, trip.ended_at) == (data, None, None, None)


@pytest.mark.parametrize(("closed_first", "kind"), [("client", "client_gone"), ("server", "cut"), (None, "cut")])
def test_what_is_open_at_the_end_is_recorded_as_a_failure(closed_first: Side | None, kind: str) -> None:
    (trip,) = exchanged(("client", CALL), closed_first=closed_first)
    assert trip.response is None and trip.failure is not None and trip.failure.kind == kind
    assert trip.closed_first == closed_first and trip.ended_at == 99_000_000


def test_an_id_that_is_used_again_while_it_is_open_loses_nothing() -> None:
    trips = exchanged(("client", CALL), ("client", CALL), ("server", ANSWER))
    assert shapes(trips) == [("client", 0, None), ("client", 1, 2)]


def test_only_calls_of_the_client_count() -> None:
    session = ToolSession(Kept(), ToolServer("s1"))
    session.message("client", CALL)
    session.message("server", CALL)
    session.message("client", message(id=1, method="tools/list"))
    assert session.calls == 1


def test_sessions_have_different_names() -> None:
    assert len({new_session() for _ in range(100)}) == 100


@given(
    st.lists(st.tuples(st.sampled_from(["client", "server"]), st.binary(max_size=30) | st.just(CALL) | st.just(ANSWER)))
)
def test_every_message_is_recorded_once(messages: list[tuple[Side, bytes]]) -> None:
    seen: dict[int, bytes] = {}
    for trip in exchanged(*messages):
        assert trip.tool_wire is not None
        seen[trip.tool_wire.sequence] = trip.request.body
        if trip.tool_wire.answered is not None:
            assert trip.response is not None
            seen[trip.tool_wire.answered] = trip.response.body
    assert [seen[place] for place in sorted(seen)] == [data for _, data in messages]


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.zst"])
def test_a_session_comes_back_from_the_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.cassette.{suffix}"
    tools = message(id=1, result={"tools": [{"name": "x" * 2000}]})
    with Recorder(path) as recorder:
        server = ToolServer(
            "s1", "files & more", "stdio", ("npx", "--api-key", "hush", "TOKEN=abc", "/tmp"), "/work", 42, "r1", 100.5
        )
        session = ToolSession(recorder, server)
        for number, tools_again in ((1, tools), (2, tools.replace(b'"id":1', b'"id":2'))):
            session.message("client", message(id=number, method="tools/list"), 101.0)
            session.message("server", tools_again, 101.25)
        session.message("server", b"caf\xe9", 102.0)
        session.stderr(b"ready\n", 101.5)
        session.stderr(b"\xff", 101.75)
        session.end(signal="SIGKILL", closed_first="server", at=103.0)

    assert path.read_bytes().count(b"x" * 2000) <= 1, "an answer that comes again is stored once"
    for cassette in (Cassette.load(path), (tail := Tail(path))):
        trips = cassette.poll() if isinstance(cassette, Tail) else list(cassette)
        assert [t.response and t.response.body for t in trips] == [tools, tools.replace(b'"id":1', b'"id":2'), None]
        assert trips[2].request.body == b"caf\xe9"
        assert [(t.request.url, t.run, t.route) for t in trips] == [("stdio://files%20%26%20more", "r1", "stdio")] * 3
        assert cassette.problems == []
        kept = cassette.tool_servers["s1"]
        assert kept.command[:2] == ("npx", "--api-key") and kept.command[4] == "/tmp"
        assert not {"hush", "TOKEN=abc"} & set(kept.command)
        assert (kept.cwd, kept.pid, kept.run, kept.started_at, kept.ended_at) == ("/work", 42, "r1", 100.5, 103.0)
        assert (kept.exit, kept.signal, kept.closed_first) == (None, "SIGKILL", "server")
        assert kept.stderr == ((1_000_000, b"ready\n"), (1_250_000, b"\xff"))
    assert tail.round_trip(1).response is not None
    cassette = Cassette.load(path)
    assert [trip.index for trip in cassette] == [0, 1, 2] and len(cassette.without_tool_wire()) == 0
    assert cassette[1].response is not None and cassette[1].response.body == tools.replace(b'"id":1', b'"id":2')
