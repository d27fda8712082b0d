"""What is recorded is in the file, byte for byte, whatever happens to the process or the disk."""

import os
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import override

import pytest
from factories import round_trip
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recordings import bodies, growing, history, record, single

from turntape.cassettes import Cassette, Chunk, Frame, Recorder, Redactor, RoundTrip
from turntape.cassettes.tape.carried import Carried
from turntape.cassettes.tape.command_end import CommandEnd
from turntape.cassettes.tape.model import ToolServer

SUFFIXES = ["jsonl", "jsonl.zst"]


def test_a_round_trip_comes_back_as_it_was(path: Path) -> None:
    trip = round_trip(
        run="a",
        route="forward",
        upstream="openai",
        client="127.0.0.1:1",
        request_at=1,
        first_byte_at=2,
        ended_at=3,
        frames=(Frame("client", 5, b"\xff", False), Frame("server", 6, b"hi", True)),
        faults=("odd",),
    )
    record(path, [trip])

    assert list(Cassette.load(path)) == [replace(trip, index=0)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.binary(max_size=600), st.lists(st.binary(min_size=1, max_size=200))), max_size=8))
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_any_bytes_in_any_chunks_come_back(
    suffix: str, tmp_path: Path, bodies: list[tuple[bytes, list[bytes]]]
) -> None:
    path = tmp_path / f"{os.urandom(8).hex()}.cassette.{suffix}"
    trips: list[RoundTrip] = []
    grown = b""
    for body, pieces in bodies:
        grown += body
        trip = round_trip(grown, b"".join(pieces))
        assert trip.response is not None
        chunks = tuple(Chunk(len(piece), place) for place, piece in enumerate(pieces))
        trips.append(replace(trip, response=replace(trip.response, chunks=chunks)))
    record(path, trips)

    read = list(Cassette.load(path))

    assert [trip.request.body for trip in read] == [trip.request.body for trip in trips]
    for trip, (_, pieces) in zip(read, bodies, strict=True):
        assert trip.response is not None
        assert [piece for piece, _ in trip.response.pieces] == pieces


def test_history_is_stored_once_and_read_from_anywhere(path: Path) -> None:
    trips = history(120)
    record(path, trips)
    cassette = Cassette.load(path)

    assert path.stat().st_size < sum(len(trip.request.body) for trip in trips) / 10
    assert [trip.request.body for trip in cassette] == [trip.request.body for trip in trips]
    for place in (119, 0, 60, -1):
        assert cassette[place].request.body == trips[place].request.body
    assert [trip.index for trip in cassette[10:12]] == [10, 11]


def test_the_last_label_of_a_round_trip_holds(path: Path) -> None:
    with Recorder(path) as recorder:
        number = recorder.write(round_trip())
        recorder.label(number, {"turn": 1})
        recorder.label_line(number, b'{"turn":2}')

    assert Cassette.load(path).labels == {0: {"turn": 2}}


def test_appending_keeps_the_salt_of_the_file(tmp_path: Path) -> None:
    """Or fingerprints of one key would differ within a file."""
    path = tmp_path / "run.cassette.jsonl"
    trip = round_trip(headers=(("authorization", "Bearer k"),))
    record(path, [trip])
    with Recorder(path, append=True, redactor=Redactor()) as recorder:
        recorder.write(trip)

    first, second = Cassette.load(path)

    assert first.request.headers == second.request.headers


def test_a_text_that_is_withheld_is_a_problem_of_the_recording(path: Path) -> None:
    said: list[str] = []

    def failing(text: str) -> list[str]:
        raise ValueError

    with Recorder(path, redactor=Redactor(function=failing)) as recorder:
        recorder.on_problem(said.append)
        recorder.write(round_trip(b'{"a":1}'))

    reason = "the redaction function failed (ValueError); a text of this round trip is withheld and is not kept"
    assert said == [recorder.problem] == [f"round trip 0 is not whole: {reason}"]


def test_a_round_trip_that_cannot_be_encoded_costs_only_itself(path: Path) -> None:
    trips = growing(6)
    trips[2] = replace(trips[2], started_at=float("nan"))

    recorder = record(path, trips)
    record(path, growing(1, "b"), append=True)

    cassette = Cassette.load(path)
    read = list(cassette)
    assert [trip.index for trip in read] == [0, 1, 3, 4, 5, 6]
    assert bodies(read)[:5] == [body for place, body in enumerate(bodies(trips)) if place != 2]
    assert cassette.problems == []
    assert recorder.problem is not None and "round trip 2 could not be recorded" in recorder.problem


def test_a_number_that_only_a_label_has_is_not_given_again(path: Path) -> None:
    """Its round trip was lost; the label must not come to mean another."""
    with Recorder(path) as recorder:
        recorder.write(round_trip())
        recorder.label(4, {"turn": 4})

    record(path, single(1), append=True)

    assert [trip.index for trip in Cassette.load(path)] == [0, 5]


def test_what_comes_after_close_is_said_and_not_written(path: Path) -> None:
    recorder = record(path, single(2))
    size = path.stat().st_size

    recorder.write(round_trip())
    recorder.label(0, {"turn": 1})
    recorder.close()

    assert recorder.problem is not None and "closed and is not in it" in recorder.problem
    assert path.stat().st_size == size
    assert len(Cassette.load(path)) == 2


def test_a_round_trip_that_cannot_be_written_down_is_lost_and_a_fault_of_the_listener_is_harmless(path: Path) -> None:
    def fails() -> bytes:
        raise ValueError("no body")

    def on_lost(number: int) -> None:
        lost.append(number)
        raise RuntimeError("the listener fails")

    first, second = growing(2)
    lost: list[int] = []
    with Recorder(path, durable=False) as recorder:
        recorder.on_lost = on_lost
        recorder.write(replace(first, request=replace(first.request, content=fails)))
        recorder.write(second)

    assert lost == [0]
    assert [trip.index for trip in Cassette.load(path)] == [1]


def test_the_header_says_who_wrote_the_file_and_when(path: Path) -> None:
    Recorder(path, tool="mine 1.0", clock=lambda: 1.5, redactor=Redactor(salt="abc")).close()

    assert Cassette.load(path).header == {
        "turntape": "1.2",
        "tool": "mine 1.0",
        "started_at": "1970-01-01T00:00:01.500000Z",
        "salt": "abc",
    }


def test_without_a_name_the_tool_is_turntape(path: Path) -> None:
    with Recorder(path) as recorder:
        assert recorder.count == 0

    assert Cassette.load(path).header["tool"] == "turntape"


def test_labels_are_cleaned_like_bodies(path: Path) -> None:
    secret = "sk-proj-abcDEF123456ghiJKL789012mnoPQR345678"
    with Recorder(path) as recorder:
        recorder.label(0, {"text": f"it is {secret}"})
        recorder.label_line(1, b'{"text":"it is %s"}' % secret.encode())

    labels = Cassette.load(path).labels

    assert [str(label["text"])[:23] for label in labels.values()] == ["it is sk-proj-REDACTED-"] * 2
    assert secret not in str(labels)


def test_a_fault_of_ours_costs_one_round_trip(path: Path) -> None:
    class Faulty(Redactor):
        @override
        def round_trip(self, trip: RoundTrip) -> RoundTrip:
            if trip.run == "bad":
                raise ValueError("boom")
            return super().round_trip(trip)

    with Recorder(path, redactor=Faulty()) as recorder:
        numbers = [recorder.write(round_trip(run=name)) for name in ("a", "bad", "b")]

    assert numbers == [0, 1, 2]
    assert [trip.index for trip in Cassette.load(path)] == [0, 2]
    assert recorder.problem == "round trip 1 could not be recorded: boom"
    assert (recorder.waiting, recorder.count) == (0, 3)


def test_what_comes_late_is_said_with_its_kind(path: Path) -> None:
    first, second = Recorder(path), Recorder(path.with_name(f"b.{path.name}"))
    for recorder in (first, second):
        recorder.close()
        recorder.close()

    first.label(7, {"turn": 1})
    assert second.write(round_trip()) == 0

    assert first.problem == f"a label of round trip 7 came after {str(path)!r} was closed and is not in it"
    assert second.problem == f"a round trip came after {str(second.path)!r} was closed and is not in it"
    assert (first.count, second.count, first.waiting, second.waiting) == (0, 1, 0, 0)


def test_the_thread_is_named_after_its_file_and_does_not_keep_the_program_running(path: Path) -> None:
    with Recorder(path):
        (thread,) = [one for one in threading.enumerate() if one.name == f"turntape recorder {path.name}"]

        assert thread.daemon


def test_a_line_that_comes_late_is_said(path: Path) -> None:
    made, ready = record(path, []), record(path.with_name(f"b.{path.name}"), [])

    made.line(lambda redactor: b"{}\n", 3)
    ready.command_ended(CommandEnd(0.0))

    for recorder in (made, ready):
        assert recorder.problem == f"a line came after {str(recorder.path)!r} was closed and is not in it"
        assert (recorder.lost, recorder.own) == (0, 0)


def test_a_line_that_cannot_be_made_is_said_and_no_round_trip_is_lost(path: Path) -> None:
    def fails(redactor: Redactor) -> bytes:
        raise ValueError("no line")

    with Recorder(path, durable=False) as recorder:
        recorder.line(fails, 10)
        recorder.write(round_trip())

    assert recorder.problem == "a line could not be recorded: no line"
    assert (recorder.lost, len(Cassette.load(path))) == (0, 1)


def test_a_carried_round_trip_that_comes_late_is_lost_in_its_own_file_only(path: Path) -> None:
    recorder = record(path, [])

    recorder.write(Carried("r").mark(round_trip()))

    assert (recorder.lost, recorder.own, recorder.count) == (0, 0, 1)


def test_what_is_known_of_a_tool_server_is_in_the_file(path: Path) -> None:
    server = ToolServer("s", command=("serve",), started_at=1.0, ended_at=5.0, exit=3)
    with Recorder(path, durable=False) as recorder:
        recorder.tool_server(server)
        recorder.tool_server_stderr("s", 7, b"careful\n")
        recorder.tool_server_end(server)

    (read,) = Cassette.load(path).tool_servers.values()
    assert (read.session, read.command, read.exit) == ("s", ("serve",), 3)
    assert list(read.stderr) == [(7, b"careful\n")]


def test_what_was_handed_in_and_what_can_be_read_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl"
    with Recorder(path) as recorder:
        assert (recorder.own, recorder.readable, recorder.lost, recorder.loss) == (0, 0, 0, None)
        recorder.write(Carried("5" * 32, "t9", 1).mark(round_trip()))
        for _ in range(2):
            recorder.write(round_trip())
        recorder.flush()
        assert (recorder.own, recorder.readable, recorder.count) == (2, 3, 3)
        assert recorder.is_in_place and not recorder.needs_another

    with Recorder(path, append=True) as recorder:
        assert (recorder.own, recorder.readable, recorder.count) == (0, 3, 3)
        recorder.write(round_trip())
        recorder.flush()
        assert (recorder.own, recorder.readable) == (1, 4)


@pytest.mark.skipif(sys.platform == "win32", reason="a file that is open cannot be renamed there")
def test_nothing_can_be_read_at_the_path_of_a_file_that_was_renamed(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl"
    with Recorder(path, say=lambda _: None) as recorder:
        recorder.write(round_trip())
        recorder.flush()
        path.rename(tmp_path / "b.cassette.jsonl")
        recorder.write(round_trip())
        recorder.flush()

        assert (recorder.readable, recorder.is_in_place, recorder.needs_another) == (0, False, True)


def test_a_line_that_is_made_later_takes_the_room_of_its_size(tmp_path: Path) -> None:
    held, begun = threading.Event(), threading.Event()

    def wait(_redactor: Redactor) -> bytes:
        begun.set()
        held.wait(20)
        return b"{}"

    with Recorder(tmp_path / "a.cassette.jsonl") as recorder:
        recorder.line(wait, 0)
        begun.wait(20)
        rooms = [recorder.waiting]
        for size in (0, 5_000):
            recorder.line(lambda _: b"{}", size)
            rooms.append(recorder.waiting)
        held.set()
        recorder.flush()

        first, second = rooms[1] - rooms[0], rooms[2] - rooms[1]
        assert first > 0 and second - first == 5_000
        assert recorder.waiting == 0
