"""Lines about tool servers, and what is said of lines that break the format."""

from pathlib import Path

import pytest
from factories import round_trip

from turntape.cassettes import Cassette, Recorder
from turntape.cassettes.recording.tool_session import ToolSession
from turntape.cassettes.tape.model import ToolServer
from turntape.cassettes.tape.tool_servers import MOST_STDERR, end_line, read_tool_server, start_line, stderr_line

HEADER = b'{"turntape":"1.1"}\n'


def loaded(tmp_path: Path, *lines: bytes) -> Cassette:
    path = tmp_path / "a.cassette.jsonl"
    path.write_bytes(HEADER + b"".join(lines))
    return Cassette.load(path)


def test_lines_of_one_session_are_one_server(tmp_path: Path) -> None:
    server = ToolServer("a", "files", "process", ("x", "y"), started_at=1.5, ended_at=9.0, exit=0)
    cassette = loaded(tmp_path, start_line(server), stderr_line("b", 5, b"other"), end_line(server))
    assert cassette.tool_servers == {"a": server, "b": ToolServer("b", stderr=((5, b"other"),))}
    assert cassette.problems == [] and len(cassette) == 0 and cassette.following == 0


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"tool_server":"a","pid":"x"}\n', "the tool server 'a' cannot be read: its pid is 'x' and not an integer"),
        (b'{"tool_server":"a","command":5}\n', "the tool server 'a' cannot be read: its command is 5 and not a list"),
        (b'{"tool_server":"a","started_at":"soon"}\n', "its started_at is 'soon' and not an ISO 8601 time"),
        (b'{"tool_server":"a","closed_first":"x"}\n', "its closed_first is 'x', neither client nor server"),
        (b'{"tool_server":"a","stderr":7}\n', "its stderr is 7 and not an object"),
    ],
)
def test_a_server_that_cannot_be_read_is_a_problem(tmp_path: Path, line: bytes, problem: str) -> None:
    cassette = loaded(tmp_path, line, b'{"tool_server":"b","pid":1}\n')
    assert list(cassette.tool_servers) == ["b"]
    assert len(cassette.problems) == 1 and problem in cassette.problems[0]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        (b"", "it has no session"),
        (b',"session":"a"', "it has no from"),
        (b',"session":"a","from":"x"', "from 'x', neither client nor server"),
        (b',"session":"a","from":"client"', "it has no sequence"),
        (
            b',"session":"a","from":"client","sequence":0,"message":{"base":0,"prefix":0,"suffix":0,"text":""}',
            "its message",
        ),
        (b',"session":"a","from":"client","sequence":-1', "its sequence is -1 and below 0"),
    ],
)
def test_an_exchange_that_cannot_be_read_is_a_problem(tmp_path: Path, fields: bytes, problem: str) -> None:
    cassette = loaded(tmp_path, b'{"mcp":0,"started_at":"2026-01-01T00:00:00Z"%b}\n' % fields)
    assert list(cassette) == []
    assert len(cassette.problems) == 1 and problem in cassette.problems[0]


def test_a_reader_keeps_a_bounded_part_of_stderr() -> None:
    piece = {"at": 1, "stderr": {"text": "x" * 100_000}}
    server = read_tool_server("a", [piece] * 100)
    assert MOST_STDERR <= sum(len(data) for _, data in server.stderr) < MOST_STDERR + 100_000


def test_requests_are_still_stored_once_between_many_answers_of_tools(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl"
    with Recorder(path) as recorder:
        recorder.write(round_trip(b"a" * 5000))
        session = ToolSession(recorder, ToolServer("s"))
        for number in range(40):
            session.message("client", b'{"id":%d,"method":"x"}' % number)
            session.message("server", b'{"id":%d,"result":"%b"}' % (number, bytes([97 + number % 26]) * 400))
        recorder.write(round_trip(b"a" * 5000 + b"b"))
    assert len(path.read_bytes().splitlines()[-1]) < 1000
    assert [len(trip.request.body) for trip in Cassette.load(path).without_tool_wire()] == [5000, 5001]
