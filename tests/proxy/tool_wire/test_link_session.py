"""From frames to the lines of a tape."""

import json
from pathlib import Path
from typing import Any

import pytest

from turntape.cassettes import Cassette, Recorder
from turntape.proxy.tool_wire import frames
from turntape.proxy.tool_wire.frames import encode
from turntape.proxy.tool_wire.identity import VERSION, end_fields, start_fields
from turntape.proxy.tool_wire.link_session import Lines, LinkSession

START = encode(frames.START, 1.0, start_fields(["srv", "x"], "calc", "r1", 42, ""))
CALL = b'{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"add"}}'
ANSWER = b'{"jsonrpc":"2.0","id":0,"result":{}}'


class Tape:
    def __init__(self, path: Path, token: str = "") -> None:
        self.path = path
        self.reports: list[str] = []
        self.recorder = Recorder(path)
        self.session = LinkSession(self.recorder, self.reports.append, token=token)

    def feed(self, *data: bytes) -> None:
        for piece in data:
            self.session.feed(piece)

    def close(self) -> Cassette:
        self.session.close()
        self.recorder.close()
        return Cassette.load(self.path)


@pytest.fixture
def tape(tmp_path: Path) -> Tape:
    return Tape(tmp_path / "x.cassette.jsonl")


def client(data: bytes, at: float = 2.0) -> bytes:
    return encode(frames.CLIENT, at, data)


def server(data: bytes, at: float = 3.0) -> bytes:
    return encode(frames.SERVER, at, data)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_lines_are_put_together_whatever_pieces_they_come_in(tape: Tape, size: int) -> None:
    tape.feed(START)
    for start in range(0, len(CALL), size):
        tape.feed(client(CALL[start : start + size]))
    tape.feed(client(b"\n", 2.5), server(ANSWER + b"\nafter"), encode(frames.STDERR, 4.0, b"hm\n"))
    tape.feed(encode(frames.END, 5.0, end_fields(0, None, "client")))

    cassette = tape.close()
    call, rest = cassette
    (started,) = cassette.tool_servers.values()
    assert (call.request.body, call.started_at, call.ended_at) == (CALL, 2.5, 500_000)
    assert call.response and call.response.body == ANSWER
    assert (rest.request.body, rest.started_at) == (b"after", 3.0)
    assert (started.server, started.command, started.pid, started.run) == ("calc", ("srv", "x"), 42, "r1")
    assert (started.exit, started.closed_first, started.ended_at) == (0, "client", 5.0)
    assert b"".join(data for _, data in started.stderr) == b"hm\n"
    assert (tape.session.calls, tape.session.name, tape.session.ended) == (1, "calc", True)
    assert tape.reports == []


def test_a_connection_that_breaks_leaves_what_was_open_as_cut(tape: Tape) -> None:
    tape.feed(START, client(CALL + b"\n"), server(b'{"half'))

    cassette = tape.close()
    half, call = sorted(cassette, key=lambda trip: len(trip.request.body))
    assert half.request.body == b'{"half'
    assert call.failure and call.failure.kind == "cut"
    assert [one.ended_at for one in cassette.tool_servers.values()] == [3.0]


def test_after_a_loss_the_broken_line_is_left_out_and_the_next_one_counts(tape: Tape) -> None:
    tape.feed(START, client(b'{"id":1,"begun'))
    tape.feed(encode(frames.LOST, 2.0, json.dumps({"of": frames.CLIENT, "bytes": 1234}).encode()))
    tape.feed(client(b'the rest"}\n' + CALL + b"\n"), server(ANSWER + b"\n"))
    tape.feed(encode(frames.END, 5.0, end_fields(0, None, None)))

    (call,) = tape.close()
    assert (call.request.body, call.response is not None) == (CALL, True)
    assert tape.reports == ["1,234 bytes of the tool server calc were not recorded: they came too fast"]


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        (client(b"x"), "does not begin as that of a wrapper"),
        (encode(frames.START, 1.0, b'{"version":99}'), f"another version of turntape (99, not {VERSION})"),
        (encode(frames.START, 1.0, b"no json"), "not recorded any more"),
    ],
)
def test_who_is_not_a_wrapper_of_ours_is_reported_once_and_not_recorded(tape: Tape, first: bytes, reason: str) -> None:
    tape.feed(first, client(CALL + b"\n"), first)

    assert list(tape.close()) == []
    assert len(tape.reports) == 1
    assert reason in tape.reports[0]


@pytest.mark.parametrize(("token", "recorded"), [("secret", 1), ("guess", 0), ("", 0)])
def test_only_who_has_the_token_is_recorded(tmp_path: Path, token: str, recorded: int) -> None:
    tape = Tape(tmp_path / "x.cassette.jsonl", token="secret")
    tape.feed(encode(frames.START, 1.0, start_fields(["srv"], None, None, None, token)), client(CALL + b"\n"))

    assert len(list(tape.close())) == recorded
    assert tape.reports == []


def test_a_fault_of_ours_is_reported_and_ends_the_session(tape: Tape, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("oh")

    tape.feed(START)
    monkeypatch.setattr("turntape.cassettes.recording.tool_session.ToolSession.message", broken)
    tape.feed(client(b"x\n"), client(b"y\n"))

    assert tape.reports == ["the tool calls of calc are not recorded any more: oh"]
    assert tape.session.ended


def test_the_rest_of_a_broken_line_is_left_out_in_whatever_pieces_it_comes() -> None:
    lines = Lines()
    lines.feed(b"begun")
    lines.skip()

    assert lines.feed(b"middle") == []
    assert lines.feed(b"end\nnext") == []
    assert lines.feed(b"\n") == [b"next"]


def test_empty_lines_and_carriage_returns_are_kept() -> None:
    lines = Lines()

    assert lines.feed(b"a\r\n\n\nb") == [b"a\r", b"", b""]
    assert lines.feed(b"") == []
    assert lines.rest() == b"b"
    assert lines.rest() == b""


def test_a_line_beyond_the_limit_comes_in_pieces() -> None:
    lines = Lines(most=10)

    assert lines.feed(b"x" * 6) == []
    assert lines.feed(b"x" * 4) == [b"x" * 10]
    assert lines.feed(b"yy\nz") == [b"yy"]
    assert lines.rest() == b"z"
