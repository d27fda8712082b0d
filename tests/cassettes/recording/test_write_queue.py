"""What waits for the disk is bounded, and written in batches that hold nobody up."""

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Self, override

import orjson
import pytest
from factories import round_trip
from recordings import record, single

from turntape.cassettes import Cassette, Frame, Recorder, Redactor, RoundTrip
from turntape.cassettes.recording import write_queue
from turntape.cassettes.recording.write_queue import Waiting, WriteQueue
from turntape.cassettes.redaction.search_process import LEAST, Cleaner, SearchElsewhere


class Gated(Redactor):
    """As slow as a test wants: each round trip waits for its turn before it is written."""

    def __init__(self) -> None:
        super().__init__()
        self.turns = threading.Semaphore(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Open permanently, or a test that fails would never end."""
        self.turns.release(10_000)

    @override
    def round_trip(self, trip: RoundTrip) -> RoundTrip:
        self.turns.acquire()
        return super().round_trip(trip)


LARGE = 100_000


def large(count: int) -> list[RoundTrip]:
    return [round_trip(b'{"n":%d,"x":"%s"}' % (number, b"x" * LARGE)) for number in range(count)]


def numbers(path: Path) -> list[int]:
    return [orjson.loads(trip.request.body)["n"] for trip in Cassette.load(path)]


class Writers:
    """Threads that hand in a share of `trips` each."""

    def __init__(self, recorder: Recorder, trips: list[RoundTrip], threads: int = 1) -> None:
        self.tried = 0
        self._recorder = recorder
        self._threads = [Thread(target=self._write, args=(trips[n::threads],)) for n in range(threads)]
        for thread in self._threads:
            thread.start()

    def _write(self, trips: list[RoundTrip]) -> None:
        for trip in trips:
            self.tried += 1
            self._recorder.write(trip)

    def join(self) -> None:
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()


def until(done: Callable[[], bool]) -> None:
    """Wait for what must come; a test that fails ends some day."""
    for _ in range(30_000):
        if done():
            return
        time.sleep(0.001)
    pytest.fail("what was waited for never came")


def test_what_waits_for_the_disk_is_bounded_and_the_writer_waits_instead(path: Path) -> None:
    gate = Gated()
    most = 3 * LARGE + LARGE // 2
    with Recorder(path, redactor=gate, waiting_bytes=most) as recorder, gate:
        writers = Writers(recorder, large(12))
        for written in range(9):
            until(lambda written=written: writers.tried >= written + 4)
            time.sleep(0.01)  # a writer that does not wait would run ahead here
            assert recorder.count == written + 3
            assert 3 * LARGE < recorder.waiting <= most
            gate.turns.release()
        gate.turns.release(3)
        writers.join()

    assert recorder.waiting == 0
    assert numbers(path) == list(range(12))
    assert recorder.problem is None


def test_nobody_waits_while_a_long_round_trip_is_searched(path: Path) -> None:
    """What ends meanwhile is handed in first, and written after it."""
    events: list[str] = []
    searching, go = Event(), Event()

    class Slow(SearchElsewhere):
        @override
        def clean(self, redactor: Cleaner, body: bytes, stream: bool) -> bytes:
            searching.set()
            go.wait(60)
            events.append("searched")
            return body

    redactor = Redactor()
    redactor.elsewhere = Slow()
    with Recorder(path, redactor=redactor, waiting_bytes=LEAST) as recorder:
        recorder.write(round_trip(b'{"n":0,"x":"%s"}' % (b"x" * (2 * LEAST))))
        searching.wait(60)
        for trip in large(3):
            recorder.write(trip)
            events.append("handed in")
        go.set()

    assert events == [*["handed in"] * 3, "searched"]
    assert numbers(path) == [0, 0, 1, 2]


def test_flush_waits_until_all_is_written_and_says_what_is_left(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_queue, "LOOK", 0.01)
    gate, left = Gated(), list[int]()
    with Recorder(path, redactor=gate) as recorder, gate:
        for trip in large(2):
            recorder.write(trip)
        flushing = Thread(target=recorder.flush, args=(left.append,))
        flushing.start()
        until(lambda: bool(left))
        gate.turns.release()
        until(lambda: left[-1] < 2 * LARGE)
        assert flushing.is_alive()
        gate.turns.release()
        flushing.join()

        assert (left[0] > 2 * LARGE, recorder.waiting) == (True, 0)
        recorder.flush()  # nothing to wait for


def test_many_writers_behind_a_slow_disk_lose_nothing(path: Path) -> None:
    with Recorder(path, durable=False, waiting_bytes=2 * LARGE) as recorder:
        writers = Writers(recorder, large(80), threads=8)
        writers.join()

    assert sorted(numbers(path)) == list(range(80))
    assert [trip.index for trip in Cassette.load(path)] == list(range(80))


def test_who_waits_for_room_while_the_file_is_closed_is_written(path: Path) -> None:
    gate = Gated()
    recorder = Recorder(path, redactor=gate, durable=False, waiting_bytes=LARGE // 2)
    closer = Thread(target=recorder.close)
    with gate:
        writers = Writers(recorder, large(3), threads=3)
        until(lambda: recorder._queue._blocked == 2)
        closer.start()
    writers.join()
    closer.join(60)

    assert not closer.is_alive()
    assert sorted(numbers(path)) == [0, 1, 2]
    assert recorder.problem is None


def test_a_round_trip_larger_than_all_that_may_wait_is_taken(path: Path) -> None:
    with Recorder(path, waiting_bytes=10) as recorder:
        for trip in large(3):
            recorder.write(trip)
            recorder.label(recorder.count - 1, {"turn": recorder.count})

    assert numbers(path) == [0, 1, 2]
    assert Cassette.load(path).labels == {n: {"turn": n + 1} for n in range(3)}


def test_what_waits_is_counted_by_its_parts(path: Path) -> None:
    gate = Gated()
    trip = round_trip(b"a" * 500, b"b" * 300, frames=(Frame("client", 1, b"c" * 70, True),))
    lazy = replace(trip, request=replace(trip.request, content=lambda: b"a" * 500), response=None, frames=())
    with Recorder(path, redactor=gate) as recorder, gate:
        recorder.write(trip)
        whole = recorder.waiting
        recorder.write(lazy)
        later = recorder.waiting - whole
        recorder.label_line(0, b"{}")
        label = recorder.waiting - whole - later

    assert (whole, later, label) == (1000 + 500 + 300 + 70 + 3 * 100, 1000, len(b'{"label":0,"of":{}}\n'))
    assert recorder.waiting == 0
    assert [trip.request.body for trip in Cassette.load(path)] == [b"a" * 500] * 2


def test_a_forked_child_that_writes_does_not_wait_for_a_thread_that_it_has_not(path: Path) -> None:
    recorder = Recorder(path, waiting_bytes=1)
    recorder.close()
    recorder._queue._closing = False

    recorder.write(round_trip())
    recorder.write(round_trip())  # the thread has ended: nobody would make room

    assert recorder.waiting > 0


def test_what_is_handed_in_after_a_pause_is_written_too(path: Path) -> None:
    with Recorder(path, durable=False) as recorder:
        for number in range(3):
            recorder.write(round_trip(b'{"n":%d}' % number))
            until(lambda: not recorder.waiting and not recorder._queue._wake.is_set())

    assert numbers(path) == [0, 1, 2]


def test_a_recorder_without_work_sleeps(path: Path) -> None:
    """It would use the processor for the whole run of an idle agent."""
    with Recorder(path, durable=False) as recorder:
        recorder.write(round_trip())
        until(lambda: not recorder.waiting)

        until(lambda: is_in_a_method_of(recorder._thread, recorder._queue._wake))


def is_in_a_method_of(thread: Thread, one: object) -> bool:
    frame = sys._current_frames().get(thread.ident or 0)
    while frame is not None:
        if frame.f_locals.get("self") is one:
            return True
        frame = frame.f_back
    return False


def test_larger_batches_are_collected_again_when_nobody_waits_any_longer(path: Path) -> None:
    with Recorder(path, durable=False, waiting_bytes=1) as recorder:
        recorder.write(round_trip())
        recorder.write(round_trip())  # waits for room, so the thread hurries

        until(lambda: not recorder.waiting and not recorder._queue._hurry.is_set())


def test_closing_does_not_wait_for_a_larger_batch(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_queue, "BATCH_SECONDS", 3600)

    record(path, single(2))

    assert len(Cassette.load(path)) == 2


def test_no_larger_batch_is_collected_when_nothing_else_ends(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_queue, "BUSY_SECONDS", 3600)

    with Recorder(path) as recorder:
        recorder.write(round_trip())

        until(lambda: not recorder.waiting)


def test_closing_does_not_wait_for_a_batch_that_grows(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_queue, "BUSY_SECONDS", 3600)

    with Recorder(path) as recorder:
        recorder.write(round_trip())
        until(lambda: not recorder._queue._wake.is_set())
        recorder.write(round_trip())

    assert len(Cassette.load(path)) == 2


def test_who_waits_for_room_does_not_wait_for_a_larger_batch(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_queue, "BATCH_SECONDS", 3600)
    monkeypatch.setattr(write_queue, "LOOK", 3600)

    with Recorder(path, durable=False, waiting_bytes=1) as recorder:
        for trip in single(3):
            recorder.write(trip)

    assert len(Cassette.load(path)) == 3


@pytest.fixture
def paused(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds of each pause between two lines, none of which is made."""
    seconds: list[float] = []
    monkeypatch.setattr(write_queue, "sleep", seconds.append)
    monkeypatch.setattr(write_queue, "RUN_SECONDS", -1)  # each line takes longer
    monkeypatch.setattr(write_queue, "_UNHURRIED", 3600)
    return seconds


@pytest.fixture
def collected(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """A batch is written when this is set."""
    event = threading.Event()
    monkeypatch.setattr(WriteQueue, "collect", lambda self: event.wait())
    return event


def write_a_batch(path: Path, collected: threading.Event, *, hurried: bool = False) -> None:
    """Write four round trips at once."""
    with Recorder(path, durable=False) as recorder:
        for trip in single(4):
            recorder.write(trip)
        if hurried:
            recorder._queue._hurry.set()
        collected.set()
        if hurried:
            recorder.flush()
        until(lambda: not recorder.waiting)


def test_traffic_runs_between_two_lines_of_a_batch(path: Path, paused: list[float], collected: threading.Event) -> None:
    write_a_batch(path, collected)

    assert paused == [write_queue.PAUSE_SECONDS] * 3


@pytest.mark.parametrize(
    ("bound", "value"),
    [
        pytest.param("_UNHURRIED", 0, id="the batch takes long"),
        pytest.param("RUN_SECONDS", 3600, id="lines are written fast"),
        pytest.param("_AT_EASE", 1, id="much waits"),
    ],
)
def test_a_batch_without_need_or_time_for_pauses_has_none(
    bound: str, value: int, path: Path, paused: list[float], collected: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_queue, bound, value)

    write_a_batch(path, collected)

    assert paused == []


def test_nothing_pauses_while_somebody_waits_for_the_disk(
    path: Path, paused: list[float], collected: threading.Event
) -> None:
    write_a_batch(path, collected, hurried=True)

    assert paused == []


def test_the_limits_are_those_that_the_docs_promise() -> None:
    """docs/cassette-format.md: within about 10 ms, or 50 ms; CHANGELOG.md: at most 256 MB wait."""
    assert (write_queue.BATCH_SECONDS, write_queue.BATCH_SECONDS + write_queue.BUSY_SECONDS) == (0.01, 0.05)
    assert write_queue.WAITING_BYTES == 256 * 1024 * 1024


def thread() -> Thread:
    """One that runs for as long as the test."""
    running = Thread(target=Event().wait, daemon=True)
    running.start()
    return running


def test_each_item_counts_until_it_is_written() -> None:
    queue = WriteQueue(thread(), 100)
    sizes: list[int] = []
    for number, size in enumerate([10, 20]):
        with queue.room(size) as is_open:
            assert is_open
            queue.add(Waiting(number, b"", size))
    assert queue.size == 30

    assert queue.drain(lambda waiting: sizes.append(queue.size))

    assert (sizes, queue.size) == ([30, 20], 0)
    assert not queue.drain(lambda waiting: pytest.fail("nothing waits"))


def test_what_is_handed_in_while_a_batch_is_written_is_the_next_batch() -> None:
    queue = WriteQueue(thread(), 100)
    queue.add(Waiting(0, b"", 1))
    written: list[int] = []

    def write(waiting: Waiting) -> None:
        written.append(waiting.number)
        queue.add(Waiting(waiting.number + 1, b"", 1))

    queue.drain(write)
    assert written == [0]
    queue.drain(write)
    assert written == [0, 1]


def test_a_queue_ends_when_it_is_closed_and_empty() -> None:
    queue = WriteQueue(thread(), 100)
    queue.add(Waiting(0, b"", 1))
    assert not queue.has_ended()

    queue.close()
    with queue.room(1) as is_open:
        assert not is_open
    assert not queue.has_ended()
    queue.drain(lambda waiting: None)

    assert queue.has_ended()


def test_labels_have_less_room_than_round_trips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_queue, "LABELS_WAITING", 10)
    queue = WriteQueue(thread(), 100)
    queue.add(Waiting(0, b"", 10))
    with queue.room(50):
        pass

    def hand_in() -> None:
        with queue.room(1, for_label=True):
            pass

    handing_in = Thread(target=hand_in, daemon=True)
    handing_in.start()
    until(lambda: queue._blocked == 1)
    queue.drain(lambda waiting: None)
    handing_in.join(60)

    assert not handing_in.is_alive()


def test_bytes_that_are_not_in_memory_count_as_left() -> None:
    queue = WriteQueue(thread(), 100)
    queue.add(Waiting(0, b"", 10, unloaded=5))
    left: list[int] = []

    def waiting(count: int) -> None:
        left.append(count)
        queue.drain(lambda item: None)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write_queue, "LOOK", 0.01)
        queue.flush(waiting)

    assert left == [15]
