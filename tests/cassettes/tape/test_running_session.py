"""A session that was never finished is a round trip; one that was finished is there once."""

from dataclasses import replace
from pathlib import Path

from turntape.cassettes import Cassette, Recorder
from turntape.cassettes.tape.format import header_line, round_trip_line
from turntape.cassettes.tape.model import Frame, Request, Response, RoundTrip
from turntape.cassettes.tape.reader import Tail
from turntape.cassettes.tape.running_session import continues_line, messages_line, opened_line

OPENED = RoundTrip(Request("GET", "wss://api.openai.com/v1/realtime"), Response(101), 1000.0, route="forward")
FIRST, SECOND = Frame("client", 5, b"one", True), Frame("server", 9, b"\xff", False)
HEAD = header_line("test", 1000.0, "00")


def loaded(tmp_path: Path, *lines: bytes) -> Cassette:
    path = tmp_path / "a.cassette.jsonl"
    path.write_bytes(HEAD + b"".join(lines))
    return Cassette.load(path)


def test_a_session_without_its_round_trip_is_made_from_its_lines(tmp_path: Path) -> None:
    cassette = loaded(
        tmp_path, opened_line("a", OPENED), messages_line("a", [FIRST]), messages_line("a", [SECOND]), b'{"torn'
    )

    [trip] = cassette
    assert (trip.index, trip.frames, trip.ended_at, trip.route) == (0, (FIRST, SECOND), 9, "forward")
    assert trip.failure is not None and trip.failure.kind == "internal"
    assert cassette.following == 1


def test_a_session_with_its_round_trip_is_there_once(tmp_path: Path) -> None:
    whole = replace(OPENED, frames=(FIRST, SECOND), extra={"running": "a"})
    other = opened_line("b", OPENED)
    cassette = loaded(
        tmp_path, opened_line("a", OPENED), messages_line("a", [FIRST]), other, round_trip_line(0, whole, b"", None)
    )

    first, second = cassette
    assert (first.index, first.failure, len(first.frames)) == (0, None, 2)
    assert (second.index, second.frames) == (1, ())
    assert cassette.problems == []


def test_the_number_is_one_that_no_other_round_trip_has(tmp_path: Path) -> None:
    plain = round_trip_line(1, RoundTrip(Request("POST", "https://a/b"), None, 1000.0), b"", None)
    cassette = loaded(tmp_path, opened_line("a", OPENED), plain)

    assert [trip.index for trip in cassette] == [1, 0]
    assert cassette.following == 2


def test_messages_without_a_beginning_are_left_out(tmp_path: Path) -> None:
    assert list(loaded(tmp_path, messages_line("a", [FIRST]), b'{"running":"b","opened":3}\n')) == []


def test_one_that_continues_in_the_next_file_is_not_here(tmp_path: Path) -> None:
    cassette = loaded(tmp_path, opened_line("a", OPENED), messages_line("a", [FIRST]), continues_line("a"))

    assert list(cassette) == [] and cassette.problems == []


def test_who_follows_the_file_gets_it_when_no_recorder_has_the_file_open(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl"
    tail = Tail(path)
    with Recorder(path) as recorder:
        recorder.line(lambda _: opened_line("a", OPENED), 0)
        recorder.line(lambda _: messages_line("a", [FIRST]), 0)
        while not tail.held and b'"frames"' not in path.read_bytes():
            assert tail.poll() == []
        assert tail.poll() == []

    [trip] = tail.poll()

    assert (trip.index, trip.frames) == (0, (FIRST,))
    assert tail.poll() == []


def test_who_follows_the_file_gets_an_ended_session_once(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl"
    tail = Tail(path)
    with Recorder(path) as recorder:
        recorder.line(lambda _: opened_line("a", OPENED), 0)
        recorder.write(replace(OPENED, frames=(FIRST,), extra={"running": "a"}))

    assert [trip.failure for trip in tail.poll()] == [None]
    assert tail.poll() == [] and tail.problems == []
