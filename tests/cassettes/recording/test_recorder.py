"""What is recorded is in the file, byte for byte, whatever happens to the process or the disk."""

import errno
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
from threading import Event, Thread
from typing import Self, override

import orjson
import pytest
from factories import round_trip
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recordings import bodies, growing, read_by_any_tool, record, single
from small_disks import NO_BYTECODE
from waiting import eventually

from turntape.cassettes import Cassette, CassetteError, Chunk, FormatError, Frame, Recorder, Redactor, RoundTrip, Tail
from turntape.cassettes.recording import disk_sync, loss
from turntape.cassettes.recording import recorder as recorder_module
from turntape.cassettes.redaction.search_process import LEAST, Cleaner, SearchElsewhere
from turntape.cassettes.tape.carried import Carried
from turntape.cassettes.tape.compression import CompressionParameter, ZstdCompressor, ZstdDecompressor

SUFFIXES = ["jsonl", "jsonl.zst"]
ENVIRONMENT = {
    **os.environ,
    **NO_BYTECODE,
    "PYTHONPATH": os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), str(Path(__file__).parents[2])]),
}
"""For a process that imports the helpers of the tests."""


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


def test_only_the_owner_may_read_the_file(path: Path) -> None:
    record(path, [])

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_second_recorder_on_a_file_is_refused(path: Path) -> None:
    with Recorder(path):
        with pytest.raises(CassetteError, match="exists already"):
            Recorder(path)
        with pytest.raises(CassetteError, match="another recorder"):
            Recorder(path, append=True)


def test_appending_continues_the_numbers_after_a_torn_line(path: Path) -> None:
    record(path, history(3))
    if path.suffix == ".jsonl":
        with path.open("ab") as file:
            file.write(b'{"n":3,"started_at":"2026')
    record(path, history(2), append=True)

    cassette = Cassette.load(path)

    assert [trip.index for trip in cassette] == [0, 1, 2, 3, 4]
    assert len(cassette.problems) == (1 if path.suffix == ".jsonl" else 0)
    assert cassette[4].request.body == history(2)[1].request.body


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
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, env=ENVIRONMENT)
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


SMALL_DISK = """
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
def test_a_file_that_is_removed_meanwhile_is_reported_as_lost(replaced: bool, tmp_path: Path) -> None:
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
    command = [sys.executable, "-c", SMALL_DISK, str(tape)]

    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)

    assert done.returncode == 0
    assert "cannot write to" in done.stdout and "`ulimit -f`" in done.stdout
    assert len(Cassette.load(tape)) > 1


def test_appending_keeps_the_salt_of_the_file(tmp_path: Path) -> None:
    """Or fingerprints of one key would differ within a file."""
    path = tmp_path / "run.cassette.jsonl"
    trip = round_trip(headers=(("authorization", "Bearer k"),))
    record(path, [trip])
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
    monkeypatch.setattr(recorder_module, "_LOOK", 0.01)
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


def test_a_text_that_is_withheld_is_a_problem_of_the_recording(path: Path) -> None:
    said: list[str] = []

    def failing(text: str) -> list[str]:
        raise ValueError

    with Recorder(path, redactor=Redactor(function=failing)) as recorder:
        recorder.on_problem(said.append)
        recorder.write(round_trip(b'{"a":1}'))

    reason = "the redaction function failed (ValueError); a text of this round trip is withheld and is not kept"
    assert said == [recorder.problem] == [f"round trip 0 is not whole: {reason}"]


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
        until(lambda: recorder._blocked == 2)
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


KILLED = """
import os, sys, time
from factories import round_trip
from turntape.cassettes import Cassette, Recorder
recorder = Recorder(sys.argv[1])
body = b""
for number in range(20):
    body += b'"%d %s",' % (number, os.urandom(300).hex().encode())
    recorder.write(round_trip(body))
while os.path.getsize(sys.argv[1]) == 0 or len(Cassette.load(sys.argv[1])) < 20:
    time.sleep(0.01)
print("written", flush=True)
time.sleep(600)
"""


def test_what_is_appended_after_kill_9_is_read(path: Path) -> None:
    writer = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, env=ENVIRONMENT)
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"written\n"
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    before = bodies(list(Cassette.load(path)))
    tail = Tail(path)
    assert len(tail.poll()) == len(before) == 20

    trips = growing(5)
    recorder = record(path, trips, append=True)

    cassette = Cassette.load(path)
    read = list(cassette)
    assert [trip.index for trip in read] == list(range(25))
    assert bodies(read) == before + bodies(trips)
    assert (cassette.problems, recorder.problem) == ([], None)
    assert bodies(tail.poll()) == bodies(trips)
    assert read_by_any_tool(path)


def test_a_file_cut_at_any_byte_is_read_and_appended_to(path: Path) -> None:
    whole, more = growing(4), growing(2, "b")
    record(path, whole)
    data = path.read_bytes()
    opened = 0
    for size in range(1, len(data) + 1, 1 if path.suffix == ".zst" else 7):
        cut = path.with_name(f"cut-{size}.{path.name}")
        cut.write_bytes(data[:size])
        try:
            kept = bodies(list(Cassette.load(cut)))
        except FormatError:
            assert opened == 0, "only a file without its header is refused"
            continue
        opened += 1

        record(cut, more, append=True)

        cassette = Cassette.load(cut)
        read = list(cassette)
        assert bodies(read) == kept + bodies(more) == bodies(whole)[: len(kept)] + bodies(more)
        assert len({trip.index for trip in read}) == len(read)
        assert len(cassette.problems) <= 1
        assert read_by_any_tool(cut)
    assert opened > 100


FULL = """
import os, resource, signal, sys, time
from factories import round_trip
from turntape.cassettes import Cassette, Recorder
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path, room = sys.argv[1], int(sys.argv[2])
body = b""
recorder = Recorder(path)
def write(count):
    global body
    for _ in range(count):
        body += b'"%s",' % os.urandom(300).hex().encode()
        recorder.write(round_trip(body))
def until(done):
    while not done():
        time.sleep(0.005)
write(5)
until(lambda: os.path.getsize(path) > 0 and len(Cassette.load(path)) == 5)
resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(path) + room, resource.RLIM_INFINITY))
write(3)
until(lambda: recorder.problem is not None and not recorder._queue)
time.sleep(0.1)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
if len(sys.argv) > 3:
    write(10)
recorder.close()
print(recorder.problem)
"""


def filled(path: Path, room: int, *more: str) -> str:
    command = [sys.executable, "-c", FULL, str(path), str(room), *more]
    return subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=True).stdout


@pytest.mark.parametrize("room", [0, 1, 200, 900])
def test_recording_continues_when_the_disk_has_space_again(path: Path, room: int) -> None:
    said = filled(path, room, "go on")

    assert "cannot write to" in said and "`ulimit -f`" in said
    cassette = Cassette.load(path)
    numbers = [trip.index for trip in cassette]
    assert cassette.problems == []
    assert numbers[:5] == [0, 1, 2, 3, 4] and numbers[-10:] == list(range(8, 18))
    sizes = [len(trip.request.body) for trip in cassette]
    assert sizes == [603 * (number + 1) for number in numbers]
    assert read_by_any_tool(path)


def test_a_recording_that_ended_on_a_full_disk_is_whole_up_to_there(path: Path) -> None:
    filled(path, 300)
    more = growing(2)
    record(path, more, append=True)

    cassette = Cassette.load(path)
    read = list(cassette)

    assert cassette.problems == []
    assert len(read) >= 7 and bodies(read)[-2:] == bodies(more)
    assert read_by_any_tool(path)


def test_a_disk_that_is_full_from_the_start_gets_the_header_later(path: Path) -> None:
    code = """
import resource, signal, sys
from factories import round_trip
from turntape.cassettes import Recorder
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
recorder = Recorder(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
recorder.write(round_trip())
recorder.close()
"""
    subprocess.run([sys.executable, "-c", code, str(path)], env=ENVIRONMENT, check=True)

    cassette = Cassette.load(path)

    assert (len(list(cassette)), cassette.problems) == (1, [])
    assert read_by_any_tool(path)


def test_frames_of_other_tools_are_read_and_appended_to(packed: Path) -> None:
    """Somebody compresses a plain recording with `zstd`: several frames, a checksum, a skippable frame."""
    plain = packed.with_name("plain.cassette.jsonl")
    trips = growing(4)
    record(plain, trips)
    text = plain.read_bytes()
    half = len(text) // 2
    packed.write_bytes(b"".join([
        checked(text[:half]), b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc", checked(text[half:]),
    ]))  # fmt: skip

    record(packed, growing(1, "b"), append=True)

    cassette = Cassette.load(packed)
    assert bodies(list(cassette))[:4] == bodies(trips)
    assert (len(cassette), cassette.problems) == (5, [])


def checked(text: bytes) -> bytes:
    """A zstd frame with a checksum."""
    return ZstdCompressor(options={CompressionParameter.checksum_flag: 1}).compress(text, ZstdCompressor.FLUSH_FRAME)


def test_a_torn_frame_with_a_checksum_is_not_appended_to(packed: Path) -> None:
    plain = packed.with_name("plain.cassette.jsonl")
    record(plain, growing(4))
    packed.write_bytes(checked(plain.read_bytes())[:-2])
    before = packed.read_bytes()

    with pytest.raises(CassetteError, match="frame with a checksum; decompress it before appending"):
        Recorder(packed, append=True)

    assert packed.read_bytes() == before
    with pytest.raises(CassetteError, match="frame with a checksum"):  # the lock was given back
        Recorder(packed, append=True)


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


class Disk:
    """A disk that refuses some writes to a recorder's file, or takes only a part of them."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._path = path
        self.refused: set[int] = set()
        """The writes that are refused, by their place from 0."""
        self.error = errno.ENOSPC
        self.takes = 1 << 30
        """How many bytes a write takes at most; a refused one takes these first."""
        self.writes = 0
        self.calls = 0
        self._write = os.write
        self._partial = False
        monkeypatch.setattr(recorder_module.os, "write", self.write)

    def write(self, file: int, data: bytes | memoryview) -> int:
        if self._path.exists() and os.path.samestat(os.fstat(file), self._path.stat()):
            self.calls += 1
            if self.writes in self.refused:
                if not self._partial and self.takes < len(data):
                    self._partial = True
                    return self._write(file, data[: self.takes])
                self._partial = False
                self.writes += 1
                raise OSError(self.error, os.strerror(self.error))
            taken = self._write(file, data[: self.takes])
            self.writes += taken == len(data)
            return taken
        return self._write(file, data)


@pytest.fixture
def disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(path, monkeypatch)


@pytest.mark.parametrize("takes", [0, 5, 1 << 30])
@pytest.mark.parametrize("refused", [{1}, {2}, {2, 3}, {4}, {1, 3}])
def test_what_the_disk_refuses_is_left_out_and_nothing_refers_to_it(
    refused: set[int], takes: int, path: Path, disk: Disk
) -> None:
    """Write 0 is the header, and the others are a round trip each."""
    disk.refused = refused
    disk.takes = takes or 1 << 30
    trips = growing(4)
    with Recorder(path, durable=False) as recorder:
        for trip in trips:
            recorder.write(trip)
    kept = [number for number in range(4) if number + 1 not in refused]

    cassette = Cassette.load(path)

    assert [trip.index for trip in cassette] == kept
    assert bodies(list(cassette)) == [bodies(trips)[number] for number in kept]
    assert cassette.problems == [] and not cassette.torn
    assert read_by_any_tool(path)
    assert recorder.problem == (
        f"cannot write to {str(path)!r}: No space left on device; what was recorded so far is kept, free some space"
    )


@pytest.mark.parametrize("refused", [{1}, {2, 4}, {3}])
def test_the_numbers_of_lost_round_trips_are_reported(refused: set[int], path: Path, disk: Disk) -> None:
    disk.refused = refused
    lost: list[int] = []
    with Recorder(path, durable=False) as recorder:
        recorder.on_lost = lost.append
        for trip in growing(4):
            recorder.write(trip)

    assert lost == [number - 1 for number in sorted(refused)]


def test_a_label_that_was_refused_is_not_a_lost_round_trip(path: Path, disk: Disk) -> None:
    disk.refused = {2}
    lost: list[int] = []
    with Recorder(path, durable=False) as recorder:
        recorder.on_lost = lost.append
        recorder.write(growing(1)[0])
        recorder.label(0, {})

    assert lost == [] and recorder.problem is not None


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


def test_a_write_that_takes_only_a_part_is_continued(path: Path, disk: Disk) -> None:
    disk.takes = 7
    record(path, growing(3))

    assert disk.calls > 50
    assert len(list(Cassette.load(path))) == 3
    assert read_by_any_tool(path)


def text_of(path: Path) -> bytes:
    """All lines of a recording, decompressed."""
    data = path.read_bytes()
    if path.suffix != ".zst":
        return data
    text = b""
    while data:
        frame = ZstdDecompressor()
        text += frame.decompress(data)
        data = frame.unused_data
    return text


def test_a_header_that_was_refused_goes_before_the_next_line(path: Path, disk: Disk) -> None:
    disk.refused = {0, 1}
    record(path, growing(3))

    cassette = Cassette.load(path)

    assert [trip.index for trip in cassette] == [1, 2]
    assert cassette.problems == []
    assert read_by_any_tool(path)
    assert text_of(path).count(b'"salt":') == 1


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (errno.ENOSPC, "free some space"),
        (errno.EDQUOT, "free some space"),
        (errno.EFBIG, "raise the limit on the size of files (`ulimit -f`)"),
        (errno.EIO, "check the disk"),
    ],
)
def test_a_refusal_says_what_to_do(error: int, advice: str, path: Path, disk: Disk) -> None:
    disk.refused, disk.error = {1}, error

    assert record(path, single(1)).problem == (
        f"cannot write to {str(path)!r}: {os.strerror(error)}; what was recorded so far is kept, {advice}"
    )


def test_every_refusal_has_a_case() -> None:
    assert set(loss._ROOM) == {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def test_a_problem_is_said_once_and_logged_and_so_is_its_end(
    path: Path, disk: Disk, caplog: pytest.LogCaptureFixture
) -> None:
    disk.refused = {1, 2}

    recorder = record(path, single(4))

    assert [message for message in caplog.messages if str(path) in message] == [
        f"turntape: {recorder.problem}",
        f"turntape: the recording continues in {str(path)!r}; 2 of 4 round trips are not in it",
    ]


def test_a_label_that_is_taken_is_not_the_end_of_a_full_disk(
    path: Path, disk: Disk, caplog: pytest.LogCaptureFixture
) -> None:
    disk.refused = {2, 4}
    with Recorder(path, durable=False) as recorder:
        for trip in growing(2):
            recorder.write(trip)
        recorder.label(0, {})
        recorder.write(growing(1)[0])
        eventually(lambda: not recorder.waiting)
        assert recorder.is_refused and not recorder.needs_another

    assert [message for message in caplog.messages if str(path) in message] == [f"turntape: {recorder.problem}"]


def test_what_can_be_read_ends_with_the_last_round_trip_in_the_file(path: Path, disk: Disk) -> None:
    disk.refused = {3, 4}
    with Recorder(path, durable=False) as recorder:
        assert recorder.readable == 0
        for trip in growing(4):
            recorder.write(trip)
        recorder.flush()
        assert (recorder.readable, recorder.own, recorder.lost) == (2, 4, 2)
        path.unlink()
        assert recorder.readable == 0 and recorder.needs_another


def test_carried_round_trips_are_lost_in_their_own_file(path: Path, disk: Disk) -> None:
    disk.refused = {2, 4}
    lost: list[int] = []
    with Recorder(path, durable=False) as recorder:
        recorder.on_lost = lost.append
        for trip in map(Carried("r").mark, growing(2)):
            recorder.write(trip)
        for trip in growing(2):
            recorder.write(trip)

    assert (recorder.count, recorder.own, recorder.lost, lost) == (4, 2, 1, [3])
    assert recorder.loss == f"1 of 2 round trips is not in {str(path)!r}"


@pytest.mark.parametrize(("error", "helps"), [(errno.EFBIG, True), (errno.ENOSPC, False)])
def test_another_file_helps_against_a_limit_of_each_file_alone(error: int, helps: bool, path: Path, disk: Disk) -> None:
    disk.refused, disk.error = {1, 3}, error
    with Recorder(path, durable=False) as recorder:
        for trip, needed in zip(growing(3), (False, False, helps), strict=True):
            recorder.write(trip)
            recorder.flush()
            assert recorder.needs_another == needed, "a file that has nothing yet is as good as another"


def test_a_header_that_is_refused_is_said_to_the_listener(path: Path, disk: Disk) -> None:
    said: list[str] = []
    disk.refused = {0}
    Recorder(path, durable=False, say=said.append).close()

    assert len(said) == 1 and said[0].startswith(f"cannot write to {str(path)!r}")


@pytest.mark.parametrize("durable", [True, False])
def test_each_batch_is_synced_when_it_must_be_durable(
    durable: bool, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []

    def refuse(file: int) -> None:
        synced.append(os.fstat(file).st_size)
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(disk_sync, "_sync", refuse)
    with Recorder(path, durable=durable) as recorder:
        header = path.stat().st_size
        recorder.write(round_trip())

    assert bool(synced) == durable and all(size > header for size in synced)
    assert recorder.problem == (f"cannot sync {str(path)!r}: broken" if durable else None)
    assert len(Cassette.load(path)) == 1


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


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "run.cassette.jsonl"

    with pytest.raises(CassetteError, match="^cannot write the cassette .*: No such file or directory; choose another"):
        Recorder(path)


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


def test_a_plain_recording_stays_plain_whatever_its_name(packed: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.cassette.jsonl"
    record(plain, single(2))
    packed.write_bytes(plain.read_bytes())

    record(packed, single(1), append=True)

    assert packed.read_bytes().startswith(plain.read_bytes()) and packed.read_bytes().endswith(b"\n")
    assert len(list(Cassette.load(packed))) == 3


def test_a_compressed_recording_stays_compressed_whatever_its_name(packed: Path, tmp_path: Path) -> None:
    record(packed, single(2))
    plain = tmp_path / "plain.cassette.jsonl"
    plain.write_bytes(packed.read_bytes())

    record(plain, single(1), append=True)

    assert len(list(Cassette.load(plain))) == 3
    assert plain.read_bytes().startswith(packed.read_bytes())
    assert read_by_any_tool(plain.rename(packed))


def test_a_torn_line_is_ended_before_the_next(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    record(path, single(1))
    before = path.read_bytes()
    path.write_bytes(before + b'{"n":1')

    record(path, [], append=True)
    assert path.read_bytes() == before + b'{"n":1\n'
    record(path, [], append=True)
    assert path.read_bytes() == before + b'{"n":1\n'


def test_a_frame_that_was_left_open_is_ended_before_the_next(packed: Path) -> None:
    record(packed, growing(3))
    whole = packed.read_bytes()
    packed.write_bytes(whole[:-3])  # without the empty last block

    recorder = Recorder(packed, append=True)

    assert packed.read_bytes()[: len(whole) - 3] == whole[:-3]
    assert read_by_any_tool(packed)
    assert recorder.count == 3
    recorder.close()
    assert read_by_any_tool(packed) and len(list(Cassette.load(packed))) == 3


@pytest.mark.parametrize("cut", [3, 20])
def test_a_refusal_right_after_an_open_frame_was_ended_keeps_the_file_whole(
    cut: int, packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(packed, growing(3))
    packed.write_bytes(packed.read_bytes()[:-cut])
    kept = bodies(list(Cassette.load(packed)))
    disk = Disk(packed, monkeypatch)
    disk.refused = {1, 2}  # write 0 ends the frame

    recorder = record(packed, growing(1, "b"), append=True)

    assert recorder.problem is not None and disk.writes > 1
    assert bodies(list(Cassette.load(packed))) == kept
    assert read_by_any_tool(packed)


def test_a_frame_is_ended_once(packed: Path) -> None:
    record(packed, growing(2))
    size = packed.stat().st_size

    record(packed, [], append=True)

    assert packed.stat().st_size == size


def test_a_forked_child_that_writes_does_not_wait_for_a_thread_that_it_has_not(path: Path) -> None:
    recorder = Recorder(path, waiting_bytes=1)
    recorder.close()
    recorder._closing = False

    recorder.write(round_trip())
    recorder.write(round_trip())  # the thread has ended: nobody would make room

    assert recorder.waiting > 0


def test_what_is_handed_in_after_a_pause_is_written_too(path: Path) -> None:
    with Recorder(path, durable=False) as recorder:
        for number in range(3):
            recorder.write(round_trip(b'{"n":%d}' % number))
            until(lambda: not recorder.waiting and not recorder._wake.is_set())

    assert numbers(path) == [0, 1, 2]


def test_a_recorder_without_work_sleeps(path: Path) -> None:
    """It would use the processor for the whole run of an idle agent."""
    with Recorder(path, durable=False) as recorder:
        recorder.write(round_trip())
        until(lambda: not recorder.waiting)

        until(lambda: is_in_a_method_of(recorder._thread, recorder._wake))


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

        until(lambda: not recorder.waiting and not recorder._hurry.is_set())


def test_closing_does_not_wait_for_a_larger_batch(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_module, "BATCH_SECONDS", 3600)

    record(path, single(2))

    assert len(Cassette.load(path)) == 2


def test_no_larger_batch_is_collected_when_nothing_else_ends(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_module, "BUSY_SECONDS", 3600)

    with Recorder(path) as recorder:
        recorder.write(round_trip())

        until(lambda: not recorder.waiting)


def test_closing_does_not_wait_for_a_batch_that_grows(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_module, "BUSY_SECONDS", 3600)

    with Recorder(path) as recorder:
        recorder.write(round_trip())
        until(lambda: not recorder._wake.is_set())
        recorder.write(round_trip())

    assert len(Cassette.load(path)) == 2


def test_who_waits_for_room_does_not_wait_for_a_larger_batch(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_module, "BATCH_SECONDS", 3600)
    monkeypatch.setattr(recorder_module, "_LOOK", 3600)

    with Recorder(path, durable=False, waiting_bytes=1) as recorder:
        for trip in single(3):
            recorder.write(trip)

    assert len(Cassette.load(path)) == 3


@pytest.fixture
def paused(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds of each pause between two lines, none of which is made."""
    seconds: list[float] = []
    monkeypatch.setattr(recorder_module, "sleep", seconds.append)
    monkeypatch.setattr(recorder_module, "RUN_SECONDS", -1)  # each line takes longer
    monkeypatch.setattr(recorder_module, "_UNHURRIED", 3600)
    return seconds


@pytest.fixture
def collected(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """A batch is written when this is set."""
    event = threading.Event()
    monkeypatch.setattr(Recorder, "_collect", lambda self: event.wait())
    return event


def test_traffic_runs_between_two_lines_of_a_batch(path: Path, paused: list[float], collected: threading.Event) -> None:
    with Recorder(path, durable=False) as recorder:
        for trip in single(4):
            recorder.write(trip)
        collected.set()
        until(lambda: not recorder.waiting)

        assert paused == [recorder_module.PAUSE_SECONDS] * 3


def test_a_batch_that_takes_long_has_no_more_pauses(
    path: Path, paused: list[float], collected: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_module, "_UNHURRIED", 0)
    with Recorder(path, durable=False) as recorder:
        for trip in single(4):
            recorder.write(trip)
        collected.set()
        until(lambda: not recorder.waiting)

        assert paused == []


def test_lines_that_are_written_fast_need_no_pause(
    path: Path, paused: list[float], collected: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_module, "RUN_SECONDS", 3600)
    with Recorder(path, durable=False) as recorder:
        for trip in single(4):
            recorder.write(trip)
        collected.set()
        until(lambda: not recorder.waiting)

        assert paused == []


def test_nothing_pauses_while_somebody_waits_for_the_disk(
    path: Path, paused: list[float], collected: threading.Event
) -> None:
    with Recorder(path, durable=False) as recorder:
        for trip in single(4):
            recorder.write(trip)
        recorder._hurry.set()
        collected.set()
        recorder.flush()

        assert paused == []


def test_nothing_pauses_while_much_waits(
    path: Path, paused: list[float], collected: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_module, "_AT_EASE", 1)
    with Recorder(path, durable=False) as recorder:
        for trip in single(4):
            recorder.write(trip)
        collected.set()
        until(lambda: not recorder.waiting)

        assert paused == []


def test_no_child_process_inherits_the_file(path: Path) -> None:
    """Its lock would outlive the recorder."""
    with Recorder(path) as recorder:
        assert not os.get_inheritable(recorder._file)


def test_the_thread_is_named_after_its_file_and_does_not_keep_the_program_running(path: Path) -> None:
    with Recorder(path):
        (thread,) = [one for one in threading.enumerate() if one.name == f"turntape recorder {path.name}"]

        assert thread.daemon


def test_appending_keeps_what_follows_a_damaged_block(packed: Path) -> None:
    """Such a block may announce more bytes than the file has."""
    record(packed, growing(2))
    size = packed.stat().st_size
    record(packed, growing(2, "b"), append=True)
    data = bytearray(packed.read_bytes())
    first = 6  # the header of the frame
    second = first + 3 + (int.from_bytes(data[first : first + 3], "little") >> 3)
    data[second : second + 3] = (100_000 << 3 | 2 << 1).to_bytes(3, "little")
    packed.write_bytes(data)
    kept = bodies(list(Cassette.load(packed)))
    assert second < size and len(kept) == 2

    more = growing(1, "c")
    record(packed, more, append=True)

    assert bodies(list(Cassette.load(packed))) == kept + bodies(more)


def test_the_limits_are_those_that_the_docs_promise() -> None:
    """docs/cassette-format.md: within about 10 ms, or 50 ms; CHANGELOG.md: at most 256 MB wait."""
    recorder = recorder_module
    assert (recorder.BATCH_SECONDS, recorder.BATCH_SECONDS + recorder.BUSY_SECONDS) == (0.01, 0.05)
    assert recorder.WAITING_BYTES == 256 * 1024 * 1024
