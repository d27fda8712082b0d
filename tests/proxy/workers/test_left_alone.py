"""What a worker adds to the file of a process that was killed."""

from dataclasses import replace
from pathlib import Path
from threading import Timer

import pytest
from factories import round_trip

from turntape.cassettes import Cassette, Recorder
from turntape.cassettes.redaction.redactor import Redactor
from turntape.proxy.workers import left_alone
from turntape.proxy.workers.left_alone import add_missing

TRIPS = [replace(round_trip(b'{"number":%d}' % number), started_at=1000.25 + number) for number in range(4)]


def bodies(path: Path) -> list[bytes]:
    return [trip.request.body for trip in Cassette.load(path)]


def test_what_is_missing_is_added_once_behind_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "t.cassette.jsonl"
    with Recorder(path) as recorder:
        for trip in TRIPS[:2]:
            recorder.write(trip)
    with path.open("ab") as file:
        file.write(b'{"n":2,"started')

    said = add_missing(path, TRIPS[1:], Redactor())

    assert bodies(path) == [trip.request.body for trip in TRIPS]
    assert said.endswith(f"a worker has added its last 2 round trips to {str(path)!r}")


def test_another_worker_that_adds_its_own_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "t.cassette.jsonl"
    other = Recorder(path)
    other.write(TRIPS[0])
    other.flush()
    Timer(0.3, other.close).start()

    add_missing(path, TRIPS[1:], Redactor())

    assert bodies(path) == [trip.request.body for trip in TRIPS]


def test_it_tries_again_when_another_worker_ends_after_the_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.cassette.jsonl"
    other = Recorder(path)
    other.write(TRIPS[0])

    def ends_now(_path: Path) -> bool:
        other.close()
        return False

    monkeypatch.setattr(left_alone, "_is_busy", ends_now)
    add_missing(path, TRIPS[1:], Redactor())

    assert bodies(path) == [trip.request.body for trip in TRIPS]


def test_what_cannot_be_added_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.cassette.jsonl"
    monkeypatch.setattr(left_alone, "_PATIENCE", 0.1)
    monkeypatch.setattr(left_alone, "_AGAIN", 0.1)
    with Recorder(path) as recorder:
        recorder.flush()

        assert "4 round trips lost" in add_missing(path, TRIPS, Redactor())
    assert "4 round trips lost" in add_missing(tmp_path / "no folder" / "t.cassette.jsonl", TRIPS, Redactor())


def test_where_nothing_is_missing_the_file_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "t.cassette.jsonl"
    with Recorder(path) as recorder:
        recorder.write(TRIPS[0])
    before = path.read_bytes()

    assert "no round trip of this worker is missing" in add_missing(path, [], Redactor())
    assert "added its last 0 round trips" in add_missing(path, TRIPS[:1], Redactor())
    assert path.read_bytes() == before
