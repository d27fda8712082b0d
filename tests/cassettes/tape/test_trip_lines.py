from pathlib import Path

import pytest
from recordings import bodies, growing, record, single

from turntape.cassettes import Cassette, CassetteError, Recorder, Tail
from turntape.cassettes.tape.trip_lines import TripLines


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.zst"])
def test_round_trips_are_the_same_when_their_lines_are_read_again(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"run.cassette.{suffix}"
    record(path, growing(4) + single(2, 4))
    tail = Tail(path, longest=0)

    polled = bodies(tail.poll())
    record(path, growing(3, "b"), append=True)
    polled += bodies(tail.poll())

    whole = bodies(list(Cassette.load(path)))
    assert polled == whole and len(whole) == 9
    assert bodies([tail.round_trip(number) for number in range(9)]) == whole
    assert bodies([trip for trip in tail.again() if trip is not None]) == whole


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.zst"])
def test_a_cassette_without_its_long_lines_is_the_same(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"run.cassette.{suffix}"
    record(path, growing(4) + single(2, 4))
    whole, aside = Cassette.load(path), Cassette.load(path, longest=0)

    assert bodies(list(aside)) == bodies(list(whole))
    assert aside[3].request.body == whole[3].request.body == aside.round_trip(3).request.body
    assert (len(aside), aside.torn, aside.problems) == (6, False, [])
    with pytest.raises(CassetteError, match="round trip 6 cannot be read"):
        aside.round_trip(6)


def test_only_the_long_lines_of_a_cassette_are_read_from_the_file_again(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    record(path, single(2))
    held, aside = Cassette.load(path, longest=1 << 20), Cassette.load(path, longest=0)

    path.write_bytes(b"")

    assert held[1].request.body
    with pytest.raises(CassetteError, match="can no longer be read"):
        aside[1]


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.zst"])
def test_the_first_long_lines_stay_in_memory_while_there_is_room(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"run.cassette.{suffix}"
    record(path, single(4))

    def read_again(room: int) -> int:
        tail = Tail(path, longest=0, room=room)
        list(tail.poll())
        lines = tail._lines.trips._lines
        return sum(map(callable, lines))

    line = len(Cassette.load(path)[0].request.body) + 200
    assert (read_again(0), read_again(1 << 20)) == (4, 0)
    assert 0 < read_again(2 * line) < 4


def test_lines_are_read_from_the_file_that_was_opened_though_it_was_renamed(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    record(path, single(2))
    tail = Tail(path, longest=0)
    polled = bodies(tail.poll())

    path.rename(tmp_path / "moved.cassette.jsonl")

    assert bodies([tail.round_trip(0), tail.round_trip(1)]) == polled


def test_a_line_that_was_cut_off_meanwhile_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    record(path, single(2))
    tail = Tail(path, longest=0)
    assert len(tail.poll()) == 2

    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 10)

    assert tail.round_trip(0).request.body
    with pytest.raises(CassetteError, match="can no longer be read"):
        tail.round_trip(1)


def test_a_short_line_stays_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    record(path, single(2))
    tail = Tail(path, longest=1 << 20)
    polled = bodies(tail.poll())

    path.write_bytes(b"")

    assert bodies([tail.round_trip(0), tail.round_trip(1)]) == polled


def test_lines_that_are_put_aside_keep_their_places() -> None:
    lines = TripLines()
    for number in range(3):
        lines.append({"n": number})

    lines.put_aside(1, lambda: {"n": 1, "again": True})

    assert list(lines) == [{"n": 0}, {"n": 1, "again": True}, {"n": 2}]
    assert len(lines) == 3 and lines[1] == {"n": 1, "again": True}


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.zst"])
def test_a_program_that_reads_a_file_once_holds_no_labels_of_it(tmp_path: Path, suffix: str) -> None:
    """A label holds all that the model said: as much as the recording."""
    path = tmp_path / f"run.cassette.{suffix}"
    with Recorder(path) as recorder:
        for trip in single(2):
            recorder.label(recorder.write(trip), {"model": "x" * 1000})

    assert len(Cassette.load(path).labels) == 2 and Cassette.load(path, longest=1 << 20).labels == {}
    assert Cassette.load(path, longest=1 << 20).following == 2
