"""One recorder over several files: nothing is lost between them, and nothing is counted twice."""

import threading
from pathlib import Path

import orjson
from conversations import loop
from factories import round_trip

from turntape.cassettes import Cassette, Recorder, RoundTrip
from turntape.cassettes.tape.carried import Carried, carried
from turntape.cassettes.tape.format import round_trip_line
from turntape.cassettes.tape.model import Frame, Request, Response, ToolServer
from turntape.cassettes.tape.running_session import messages_line, opened_line
from turntape.proxy.gateway.segments import Segments, next_path

RECORDING = "a" * 32


def line(number: int, trip: RoundTrip, mark: Carried) -> bytes:
    return round_trip_line(number, mark.mark(trip), trip.request.body, None)


def test_what_ends_during_a_switch_is_in_the_old_file_and_carried_by_the_new_one(tmp_path: Path) -> None:
    first, second = loop()
    segments = Segments(Recorder(tmp_path / "a.jsonl"))
    segments.write(first)
    segments.announce()
    segments.write(second)

    old, numbers = segments.switch(
        Recorder(tmp_path / "b.jsonl"), [line(0, first, Carried(RECORDING, "t1", 1, 1, 1))], RECORDING
    )
    segments.write(round_trip(b"{}"))
    old.close()
    segments.current.close()

    one, two = Cassette.load(tmp_path / "a.jsonl"), Cassette.load(tmp_path / "b.jsonl")
    assert (numbers, segments.count, segments.own, segments.number) == ([0, 1], 3, 1, 2)
    assert [len(one), len(two), len(two.with_carried())] == [2, 1, 3]
    assert [carried(trip) for trip in two.with_carried()] == [
        Carried(RECORDING, "t1", 1, 1, 1),
        Carried(RECORDING),
        None,
    ]
    assert [trip.request.body for trip in two.with_carried()][:2] == [first.request.body, second.request.body]


def test_a_running_session_is_in_the_next_file_from_its_beginning(tmp_path: Path) -> None:
    opened = RoundTrip(Request("GET", "wss://api.openai.com/v1/realtime"), Response(101), 1.0)
    said, more = Frame("client", 5, b"one", True), Frame("server", 9, b"two", True)
    segments = Segments(Recorder(tmp_path / "a.jsonl"))
    lines = [(lambda _: opened_line("s", opened), 1), (lambda _: messages_line("s", [said]), 1)]
    for make, size in lines:
        segments.line(make, size)
    segments.session("s", lambda: lines)
    segments.session("over", lambda: lines)
    segments.session("over", None)

    old, _ = segments.switch(Recorder(tmp_path / "b.jsonl"), [], RECORDING)
    segments.line(lambda _: messages_line("s", [more]), 1)
    old.close()
    segments.current.close()

    assert list(Cassette.load(tmp_path / "a.jsonl")) == []
    assert [trip.frames for trip in Cassette.load(tmp_path / "b.jsonl")] == [(said, more)]


def test_a_round_trip_that_was_already_carried_is_not_carried_as_new(tmp_path: Path) -> None:
    first, second = loop()
    segments = Segments(Recorder(tmp_path / "a.jsonl"))
    segments.announce()
    segments.write(first)

    _, numbers = segments.switch(
        Recorder(tmp_path / "b.jsonl"), [line(0, first, Carried(RECORDING, "t1", 1))], RECORDING
    )

    assert numbers == [0]
    assert segments.current.count == 1


def test_open_tool_servers_begin_in_the_new_file_too(tmp_path: Path) -> None:
    segments = Segments(Recorder(tmp_path / "a.jsonl"))
    for session in ("gone", "open"):
        segments.tool_server(ToolServer(session, "files", started_at=1.0))
    segments.tool_server_end(ToolServer("gone", ended_at=2.0))
    segments.write(round_trip(b"{}"))

    old, _ = segments.switch(Recorder(tmp_path / "b.jsonl"), [], None)
    segments.current.close()
    old.close()

    assert list(Cassette.load(tmp_path / "b.jsonl").tool_servers) == ["open"]


def test_many_writers_during_many_switches_lose_nothing(tmp_path: Path) -> None:
    segments = Segments(Recorder(tmp_path / "a.jsonl", durable=False))
    per_writer, writers = 60, 6

    def write(name: int) -> None:
        for number in range(per_writer):
            segments.write(round_trip(orjson.dumps({"writer": name, "number": number})))

    threads = [threading.Thread(target=write, args=(name,)) for name in range(writers)]
    for thread in threads:
        thread.start()
    path = tmp_path / "a.jsonl"
    for number in range(2, 8):
        segments.announce()
        path = next_path(tmp_path / "a.jsonl", number)
        old, _ = segments.switch(Recorder(path, durable=False), [], None)
        old.close()
    for thread in threads:
        thread.join()
    segments.current.close()

    files = sorted(tmp_path.glob("a*.jsonl"))
    found = [trip.request.body for file in files for trip in Cassette.load(file)]
    assert len(files) == 7
    assert len(found) == len(set(found)) == writers * per_writer == segments.count


def test_segments_are_numbered_before_the_suffixes() -> None:
    assert next_path(Path("runs/a.cassette.jsonl.zst"), 2) == Path("runs/a-2.cassette.jsonl.zst")
    assert next_path(Path("a"), 3) == Path("a-3")
