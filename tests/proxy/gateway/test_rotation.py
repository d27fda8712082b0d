"""Files are rotated at a size or an age; labels go on as if there were one file."""

import errno
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from conversations import CALL, HELLO, START, chat, loop, result, said, user
from waiting import PATIENCE, eventually

from turntape.cassettes import Cassette, Recorder, RoundTrip
from turntape.cassettes.errors import CassetteError
from turntape.cassettes.recording import tape_file
from turntape.cassettes.tape.carried import carried
from turntape.cassettes.tape.recording_id import recording_id
from turntape.inspector.run.labels import label_all, label_stream
from turntape.inspector.run.run_index import Run
from turntape.proxy.gateway import rotation as module
from turntape.proxy.gateway.rotation import RotateAt, Rotation
from turntape.proxy.gateway.segments import Segments
from turntape.proxy.sidecar.orders import Order
from turntape.proxy.sidecar.sidecar_client import SidecarClient

NEVER = RotateAt(seconds=1e9)


class Recording:
    """Segments with the real labeller process."""

    def __init__(self, folder: Path, at: RotateAt = NEVER) -> None:
        self.segments = Segments(Recorder(folder / "a.cassette.jsonl"))
        self.closed: list[Path] = []
        self.made = 0
        self.sidecar = self.label(self.segments.current)
        self.now = 0.0
        self.rotation = Rotation(
            at, self.segments, self.sidecar, self.make, self.label, self.closed.append, clock=lambda: self.now
        )

    def label(self, recorder: Recorder) -> SidecarClient:
        self.sidecar = SidecarClient(recorder.path, recorder.label_line, console=False, colour=False)
        return self.sidecar

    def make(self, path: Path) -> Recorder:
        self.made += 1
        return Recorder(path)

    def end(self) -> dict[str, Any]:
        current = self.segments.current
        totals = self.sidecar.close(current.count)
        current.close()
        assert totals is not None
        return totals


def facts(label: dict[str, Any]) -> tuple[object, ...]:
    return label["thread"], label["turn"], label["client"]["history"], [one["id"] for one in label["findings"]]


def long_loop(turns: int) -> list[RoundTrip]:
    """One thread of many turns, each with a call and its result."""
    history: list[dict[str, Any]] = [HELLO]
    trips: list[RoundTrip] = []
    for number in range(turns):
        call = said(None, (f"call_{number}", "look_up", f'{{"word":"word {number}"}}'))
        trips.append(chat(history, call, index=number))
        history = [*history, call, result(f"call_{number}", f"meaning {number}")]
    return [*trips, chat(history, said("Done."), index=turns)]


def test_labels_are_those_of_one_file_and_each_round_trip_counts_once(tmp_path: Path) -> None:
    trips = long_loop(5)
    whole = [facts(one.label) for one in label_all(trips)]

    recording = Recording(tmp_path)
    for number, trip in enumerate(trips):
        recording.segments.write(trip)
        if number in (1, 3):
            recording.rotation.rotate()
    totals = recording.end()

    files = sorted(tmp_path.iterdir(), key=lambda path: (len(path.name), path.name))
    found = [facts(one.label) for file in files for one in label_all(Cassette.load(file))]
    assert [path.name for path in files] == ["a.cassette.jsonl", "a-2.cassette.jsonl", "a-3.cassette.jsonl"]
    assert recording.closed == files[:2]
    assert found == whole
    assert totals["turns"] == recording.segments.count == len(trips)
    assert sum(len(Run.load(file).rows.all) for file in files) == len(trips)


def test_a_segment_begins_with_the_last_round_trip_of_each_open_thread(tmp_path: Path) -> None:
    recording = Recording(tmp_path)
    now = time.time() - START
    old = chat([user("long ago")], said("Done."), at=now - 99_999)
    waits = chat([user("waits for its result")], said(None, CALL), at=now - 88_888)
    fresh = [chat([user("new")], said("Done."), at=now - 5), chat([HELLO], said("Yes."), at=now)]
    for trip in (old, waits, *fresh):
        recording.segments.write(trip)

    recording.rotation.rotate()
    recording.end()

    first = Cassette.load(tmp_path / "a.cassette.jsonl")
    second = list(Cassette.load(tmp_path / "a-2.cassette.jsonl").with_carried())
    marks = [mark for trip in second if (mark := carried(trip))]
    assert [(mark.thread, mark.turn, mark.threads) for mark in marks] == [("t2", 1, 4), ("t3", 1, 4), ("t4", 1, 4)]
    assert {mark.recording for mark in marks} == {recording_id(first.header)}
    assert first.continued == {1, 2, 3}
    assert first.labels.keys() == {0, 1, 2, 3}, "the labels of a file are in it before it is closed"


def test_the_end_of_a_segment_is_announced_when_all_of_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = Recording(tmp_path)
    first = recording.segments.current
    recording.segments.write(chat([HELLO], said("Done.")))
    flushed: list[str] = []
    flush, order = first.flush, recording.sidecar.order
    monkeypatch.setattr(first, "flush", lambda *_: flushed.append("flush") or flush())
    monkeypatch.setattr(recording.sidecar, "order", lambda one: flushed.append(one.kind) or order(one))

    recording.rotation.rotate()
    recording.end()

    assert flushed == ["flush", "carry", "flush", "next", "end"]


def test_a_labeller_that_is_gone_costs_the_threads_and_not_the_rotation(tmp_path: Path) -> None:
    recording = Recording(tmp_path)
    gone = recording.sidecar
    recording.segments.write(loop()[0])
    gone.kill()
    eventually(lambda: not gone.runs)

    recording.rotation.rotate()
    recording.segments.write(loop()[1])
    totals = recording.end()

    assert recording.sidecar is not gone
    assert totals["turns"] == 1
    first = Cassette.load(tmp_path / "a.cassette.jsonl")
    assert first.continued == {0}, "nothing is known to have ended"
    [(_, one)] = label_stream(Cassette.load(tmp_path / "a-2.cassette.jsonl"))
    assert (one.label["turn"], one.label["thread"]) == (1, "t1")


def test_a_file_is_due_at_its_size_or_age_and_only_with_something_in_it(tmp_path: Path) -> None:
    recording = Recording(tmp_path, RotateAt(size=2000, seconds=60))
    rotation = recording.rotation

    recording.now = 61
    empty = rotation.due
    recording.now = 10
    recording.segments.write(loop()[0])
    young = rotation.due
    recording.now = 61
    old = rotation.due
    recording.now = 10
    for trip in long_loop(20):
        recording.segments.write(trip)
    eventually(lambda: rotation.size > 2000)
    large = rotation.due
    recording.end()

    assert (empty, young, old, large) == (False, False, True, True)


def test_a_folder_that_takes_no_new_file_keeps_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK", 0.01)
    recording = Recording(tmp_path, RotateAt(seconds=1))

    def refuse(path: Path) -> Recorder:
        raise CassetteError("no space left on device")

    monkeypatch.setattr(recording, "make", refuse)
    rotation = Rotation(
        RotateAt(seconds=0.0), recording.segments, recording.sidecar, refuse, recording.label, recording.closed.append
    )
    recording.segments.write(loop()[0])
    rotation.start()
    eventually(lambda: rotation.problem is not None)
    recording.segments.write(loop()[1])
    rotation.stop()
    recording.end()

    assert rotation.problem == (
        f"the recording stays in {str(tmp_path / 'a.cassette.jsonl')!r}: no space left on device"
    )
    assert len(Cassette.load(tmp_path / "a.cassette.jsonl")) == 2


class FullDisk:
    """Takes no byte for a recording while `full`."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.full = False
        self._folder = folder
        self._write = os.write
        monkeypatch.setattr(tape_file.os, "write", self.write)

    def write(self, file: int, data: bytes | memoryview) -> int:
        ours = any(os.path.samestat(os.fstat(file), path.stat()) for path in self._folder.glob("a*"))
        if self.full and ours:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self._write(file, data)


def test_a_full_disk_begins_no_file_until_it_has_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = FullDisk(tmp_path, monkeypatch)
    recording = Recording(tmp_path, RotateAt(seconds=1))
    trips = long_loop(3)
    recording.segments.write(trips[0])
    recording.segments.flush()
    disk.full, recording.now = True, 5
    recording.segments.write(trips[1])
    recording.segments.flush()
    while_full = recording.rotation.due
    disk.full = False
    recording.segments.write(trips[2])
    recording.segments.flush()
    with_room = recording.rotation.due
    recording.end()

    assert (while_full, with_room) == (False, True)
    assert [trip.index for trip in Cassette.load(tmp_path / "a.cassette.jsonl")] == [0, 2]


def test_round_trips_that_the_disk_refused_are_counted_once_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is lost at the end of a file is never read; what the next one carries of it is lost already."""
    disk = FullDisk(tmp_path, monkeypatch)
    recording = Recording(tmp_path)
    asked: list[Order] = []
    order = recording.sidecar.order
    monkeypatch.setattr(recording.sidecar, "order", lambda one: asked.append(one) or order(one))
    trips = long_loop(5)
    for trip in trips[:2]:
        recording.segments.write(trip)
    recording.segments.flush()
    disk.full = True
    for trip in trips[2:4]:
        recording.segments.write(trip)

    monkeypatch.setattr(recording.rotation, "_make", lambda path: said_full(disk, path))
    recording.rotation.rotate()
    recording.segments.write(trips[4])
    recording.segments.flush()
    new = recording.segments.current
    totals = recording.sidecar.close(new.readable)
    new.close()
    recording.segments.closed(new)

    assert [(one.kind, one.count) for one in asked] == [("carry", 2), ("next", 2), ("end", 0)]
    assert totals is not None and totals["turns"] == 2
    assert (recording.segments.count, recording.segments.lost) == (5, 3)


def said_full(disk: FullDisk, path: Path) -> Recorder:
    """A recorder whose header came to the disk before that was full again."""
    disk.full = False
    recorder = Recorder(path)
    disk.full = True
    return recorder


@pytest.mark.parametrize("change", ["removed", "renamed"])
def test_a_file_that_left_its_place_is_followed_by_another_at_once(change: str, tmp_path: Path) -> None:
    said: list[str] = []
    recording = Recording(tmp_path)
    recording.segments.on_problem(said.append)
    first = tmp_path / "a.cassette.jsonl"
    recording.segments.write(loop()[0])
    recording.segments.flush()
    before = recording.rotation.due
    first.unlink() if change == "removed" else first.rename(tmp_path / "mine")
    after = recording.rotation.due
    recording.rotation.rotate()
    recording.segments.write(loop()[1])
    recording.end()

    second = tmp_path / "a-2.cassette.jsonl"
    assert (before, after) == (False, True)
    assert len(Cassette.load(second)) == 1
    assert said[-1] == f"the recording continues in {str(second)!r}"
    assert f"was {change} " in said[0] and recording.segments.lost == 1
    assert recording.closed == [], "there is nothing to ship"


def test_whoever_stops_does_not_wait_for_a_labeller_that_is_asked_what_to_carry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOK", 0.01)
    recording = Recording(tmp_path, RotateAt(seconds=0))
    recording.now = 1
    asked = threading.Event()
    monkeypatch.setattr(recording.sidecar, "order", lambda one: asked.set() or True)
    recording.segments.write(loop()[0])
    recording.rotation.start()
    assert asked.wait(PATIENCE)
    recording.rotation.stop()
    monkeypatch.undo()
    recording.end()

    assert [path.name for path in tmp_path.iterdir()] == ["a.cassette.jsonl"]


def test_whoever_waits_for_the_labels_of_the_old_file_learns_how_far_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOK", 0.01)
    monkeypatch.setattr(module, "STEP", 0.01)
    recording = Recording(tmp_path)
    recording.segments.write(loop()[0])
    order, waits, seen = recording.sidecar.order, threading.Event(), list[tuple[int, int]]()
    late: list[Order] = []
    monkeypatch.setattr(recording.sidecar, "order", lambda one: kept(one, late, waits) or order(one))
    monkeypatch.setattr(Rotation, "due", property(lambda _: not waits.is_set()))
    recording.rotation.start()
    assert waits.wait(PATIENCE)

    def report(done: int, count: int) -> None:
        seen.append((done, count))
        if len(seen) == 2:
            order(late[0])

    recording.rotation.stop(report)
    recording.end()

    assert len(seen) >= 2 and {count for _, count in seen} == {1}
    assert (tmp_path / "a-2.cassette.jsonl").exists()


def kept(order: Order, late: list[Order], waits: threading.Event) -> bool:
    """Keep the order to go on with the next file."""
    if order.kind != "next":
        return False
    late.append(order)
    waits.set()
    return True


@pytest.mark.parametrize("taken", ["file", "link"])
def test_a_name_that_is_taken_is_passed_over(taken: str, tmp_path: Path) -> None:
    second = tmp_path / "a-2.cassette.jsonl"
    second.write_text("mine") if taken == "file" else second.symlink_to("nowhere")
    recording = Recording(tmp_path)
    recording.segments.write(loop()[0])

    recording.rotation.rotate()
    recording.end()

    assert recording.segments.current.path.name == "a-3.cassette.jsonl"
    assert not (tmp_path / "nowhere").exists()
    assert taken == "link" or second.read_text() == "mine"
