import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Self, override

import orjson
import pytest
from factories import round_trip
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from turntape.cassettes import Cassette, CassetteError, Chunk, Frame, Recorder, Redactor, RoundTrip, Tail

SUFFIXES = ["jsonl", "jsonl.zst"]


@pytest.fixture(params=SUFFIXES)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / f"run.cassette.{request.param}"


def record(path: Path, *trips: RoundTrip, append: bool = False) -> None:
    with Recorder(path, append=append) as recorder:
        for trip in trips:
            recorder.write(trip)


def history(turns: int) -> list[RoundTrip]:
    body = b'{"messages":['
    trips: list[RoundTrip] = []
    for turn in range(turns):
        body += b'{"role":"user","content":"%d %s"},' % (turn, b"word " * 60)
        trips.append(round_trip(body + '{}],"tools":"é☃"}'.encode()))
    return trips


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
    record(path, trip)

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
    record(path, *trips)

    read = list(Cassette.load(path))

    assert [trip.request.body for trip in read] == [trip.request.body for trip in trips]
    for trip, (_, pieces) in zip(read, bodies, strict=True):
        assert trip.response is not None
        assert [piece for piece, _ in trip.response.pieces] == pieces


def test_history_is_stored_once_and_read_from_anywhere(path: Path) -> None:
    trips = history(120)
    record(path, *trips)
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


def test_only_the_owner_may_read_the_file(path: Path) -> None:
    record(path)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_second_recorder_on_a_file_is_refused(path: Path) -> None:
    with Recorder(path):
        with pytest.raises(CassetteError, match="exists already"):
            Recorder(path)
        with pytest.raises(CassetteError, match="another recorder"):
            Recorder(path, append=True)


def test_appending_goes_on_with_the_numbers_after_a_torn_line(path: Path) -> None:
    record(path, *history(3))
    if path.suffix == ".jsonl":
        with path.open("ab") as file:
            file.write(b'{"n":3,"started_at":"2026')
    record(path, *history(2), append=True)

    cassette = Cassette.load(path)

    assert [trip.index for trip in cassette] == [0, 1, 2, 3, 4]
    assert len(cassette.problems) == (1 if path.suffix == ".jsonl" else 0)
    assert cassette[4].request.body == history(2)[1].request.body


def test_a_tail_gives_what_was_added_since(path: Path) -> None:
    tail = Tail(path)
    assert tail.poll() == []
    trips = history(4)
    record(path, *trips[:2])
    assert [trip.index for trip in tail.poll()] == [0, 1]
    record(path, *trips[2:], append=True)

    assert [trip.index for trip in tail.poll()] == [2, 3]
    assert tail.poll() == []


def test_a_tail_waits_for_the_rest_of_a_line(tmp_path: Path) -> None:
    whole, growing = tmp_path / "a.cassette.jsonl", tmp_path / "b.cassette.jsonl"
    record(whole, *history(2))
    data = whole.read_bytes()
    tail = Tail(growing)
    growing.write_bytes(data[:-50])

    assert [trip.index for trip in tail.poll()] == [0]
    growing.write_bytes(data)
    assert [trip.index for trip in tail.poll()] == [1]


WRITER = """
import sys
from factories import round_trip
from turntape.cassettes import Recorder
recorder = Recorder(sys.argv[1])
for number in range(10_000):
    recorder.write(round_trip(b'{"n":%d,"text":"%s"}' % (number, b"word " * 200)))
    if number % 100 == 0:
        print(number, flush=True)
"""


def test_kill_9_in_the_middle_leaves_a_file_that_opens(path: Path) -> None:
    tests = str(Path(__file__).parents[2])
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": tests},
    )
    assert writer.stdout is not None
    for _ in range(20):
        writer.stdout.readline()
    while not path.stat().st_size:
        pass
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait()
    writer.stdout.close()

    read = [orjson.loads(trip.request.body)["n"] for trip in Cassette.load(path)]

    assert read == list(range(len(read)))


FULL = """
import resource, signal, sys
from factories import round_trip
from turntape.cassettes import Recorder
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
with Recorder(sys.argv[1]) as recorder:
    for number in range(60):
        recorder.write(round_trip(b"%d" % number * 900))
print(recorder.problem)
"""


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_is_taken_away_meanwhile_is_told_as_lost(replaced: bool, tmp_path: Path) -> None:
    tape = tmp_path / "gone.cassette.jsonl"
    with Recorder(tape) as recorder:
        recorder.write(round_trip(b"one"))
        tape.unlink()
        if replaced:
            tape.write_text("")

    assert recorder.problem is not None
    assert "was removed or replaced while it was being written; what was recorded is lost" in recorder.problem


def test_a_change_of_the_working_folder_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Recorder("kept.cassette.jsonl") as recorder:
        monkeypatch.chdir("/")

    assert recorder.problem is None


def test_a_folder_in_place_of_a_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match="is a folder; name a file in it"):
        Recorder(tmp_path)


def test_a_full_disk_is_said_once_and_harms_nobody(tmp_path: Path) -> None:
    tape = tmp_path / "full.cassette.jsonl"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}

    done = subprocess.run([sys.executable, "-c", FULL, str(tape)], capture_output=True, text=True, env=environment)

    assert done.returncode == 0
    assert "cannot write to" in done.stdout and "`ulimit -f`" in done.stdout
    assert len(Cassette.load(tape)) > 1


def test_appending_keeps_the_salt_of_the_file(tmp_path: Path) -> None:
    """Or fingerprints of one key would differ within a file."""
    path = tmp_path / "run.cassette.jsonl"
    trip = round_trip(headers=(("authorization", "Bearer k"),))
    record(path, trip)
    with Recorder(path, append=True, redactor=Redactor()) as recorder:
        recorder.write(trip)

    first, second = Cassette.load(path)

    assert first.request.headers == second.request.headers


class Gated(Redactor):
    """As slow as a test wants: each round trip waits for its turn before it is written."""

    def __init__(self) -> None:
        super().__init__()
        self.turns = threading.Semaphore(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Open for good, or a test that fails would wait for ever."""
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
        until(lambda: recorder._blocked == 2)  # pyright: ignore[reportPrivateUsage]
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
