"""The file of a recording is whole up to its last line, whatever happens to the process or the disk."""

import errno
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from factories import round_trip
from recordings import bodies, growing, history, read_by_any_tool, record, single
from small_disks import NO_BYTECODE
from waiting import eventually

from turntape.cassettes import Cassette, CassetteError, FormatError, Recorder, Tail
from turntape.cassettes.recording import disk_sync, loss, tape_file, write_queue
from turntape.cassettes.tape.carried import Carried
from turntape.cassettes.tape.compression import CompressionParameter, ZstdCompressor, ZstdDecompressor

ENVIRONMENT = {
    **os.environ,
    **NO_BYTECODE,
    "PYTHONPATH": os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), str(Path(__file__).parents[2])]),
}
"""For a process that imports the helpers of the tests."""


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
from collections.abc import Callable
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
until(lambda: recorder.problem is not None and not recorder.waiting)
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
        monkeypatch.setattr(tape_file.os, "write", self.write)

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


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "run.cassette.jsonl"

    with pytest.raises(CassetteError, match="^cannot write the cassette .*: No such file or directory; choose another"):
        Recorder(path)


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


def test_no_child_process_inherits_the_file(path: Path) -> None:
    """Its lock would outlive the recorder."""
    with Recorder(path) as recorder:
        assert not os.get_inheritable(recorder._file._file)


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


@pytest.fixture
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_queue, "LOOK", 0.02)


def remove(path: Path) -> None:
    path.unlink()


def rename(path: Path) -> None:
    path.rename(path.with_name("other.jsonl"))


def put_another(path: Path) -> None:
    path.with_name("new").write_text("{}\n")
    path.with_name("new").replace(path)


def written(recorder: Recorder) -> None:
    eventually(lambda: not recorder.waiting)


@pytest.mark.usefixtures("looks_often")
@pytest.mark.parametrize("change", [remove, rename, put_another])
def test_a_file_that_leaves_its_place_is_said_at_once(
    change: Callable[[Path], None], path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first, second, third = growing(3)
    with Recorder(path, durable=False) as recorder:
        recorder.write(first)
        recorder.write(second)
        written(recorder)
        assert recorder.problem is None and recorder.loss is None
        change(path)
        eventually(lambda: recorder.problem is not None)  # nothing is written meanwhile
        assert [message for message in caplog.messages if str(path) in message] == [f"turntape: {recorder.problem}"]
        recorder.write(third)

    assert recorder.problem is not None and "(2 of 2 round trips are not in" in recorder.problem
    assert recorder.loss == f"3 of 3 round trips are not in {str(path)!r}"
    assert recorder.lost == 3


@pytest.mark.usefixtures("looks_often")
def test_a_renamed_file_keeps_everything_and_is_named(path: Path) -> None:
    first, second = growing(2)
    with Recorder(path, durable=False) as recorder:
        recorder.write(first)
        written(recorder)
        rename(path)
        recorder.write(second)

    other = path.with_name("other.jsonl")
    assert bodies(list(Cassette.load(other))) == bodies([first, second])
    assert (
        recorder.problem is not None
        and f"was renamed while it was being written; the recording is in '{other}'" in (recorder.problem)
    )


@pytest.mark.usefixtures("looks_often")
def test_after_the_file_was_removed_each_round_trip_is_reported_as_lost(path: Path) -> None:
    lost: list[int] = []
    with Recorder(path, durable=False) as recorder:
        recorder.on_lost = lost.append
        recorder.write(growing(1)[0])
        written(recorder)
        path.unlink()
        eventually(lambda: recorder.problem is not None)
        recorder.write(growing(1)[0])
        recorder.label(0, {})

    assert lost == [1]


@pytest.mark.usefixtures("looks_often")
@pytest.mark.parametrize(("kept", "more"), [(0, -1), (0, 0), (2, 0), (2, 30), (3, 7)])
def test_a_file_that_is_cut_is_continued_and_what_is_lost_is_counted(
    kept: int, more: int, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    trips = growing(7)
    sizes = [0]
    with Recorder(path, durable=False) as recorder:
        for trip in trips[:5]:
            recorder.write(trip)
            written(recorder)
            sizes.append(path.stat().st_size)
        size = 5 if more < 0 else sizes[kept] + more
        os.truncate(path, size)
        eventually(lambda: recorder.problem is not None)
        assert len(caplog.messages) == 1
        for trip in trips[5:]:
            recorder.write(trip)

    read = list(Cassette.load(path))
    assert [trip.index for trip in read] == [*range(kept), 5, 6]
    assert bodies(read) == bodies([*trips[:kept], *trips[5:]])
    assert recorder.lost == 5 - kept
    assert recorder.problem is not None and f"to {size:,} bytes while it was being written; {5 - kept} round trips" in (
        recorder.problem
    )
    assert recorder.loss == f"{5 - kept} of 7 round trips are not in {str(path)!r}"
    assert read_by_any_tool(path)


@pytest.mark.usefixtures("looks_often")
def test_a_device_is_not_taken_for_a_cut_file() -> None:
    with Recorder("/dev/null", append=True, durable=False) as recorder:
        recorder.write(round_trip())
        written(recorder)

    assert recorder.problem is None and recorder.lost == 0


@pytest.mark.usefixtures("looks_often")
def test_a_file_that_leaves_its_place_before_anything_is_recorded_is_said(path: Path) -> None:
    with Recorder(path, durable=False) as recorder:
        path.unlink()
        eventually(lambda: recorder.problem is not None)

    assert recorder.problem is not None and recorder.problem.endswith(" (nothing was recorded yet)")
    assert (recorder.lost, recorder.loss) == (0, None)


@pytest.mark.usefixtures("looks_often")
def test_a_file_that_loses_one_round_trip_says_so_in_the_singular(path: Path) -> None:
    with Recorder(path, durable=False) as recorder:
        recorder.write(growing(1)[0])
        written(recorder)
        size = path.stat().st_size
        recorder.write(growing(1)[0])
        written(recorder)
        os.truncate(path, size)
        eventually(lambda: recorder.problem is not None)

    assert recorder.problem is not None and recorder.problem.endswith("; 1 round trip is lost")


def test_an_error_without_a_number_is_a_refusal_too(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(file: int, data: bytes) -> int:
        raise OSError("odd")

    file = tape_file.TapeFile(path, loss.Loss(path), append=False, durable=False)
    file.begin(b"{}\n")
    assert not file.is_refused
    with monkeypatch.context() as patch:
        patch.setattr(tape_file.os, "write", write)
        assert not file.put(b"{}\n")
        assert file.is_refused
        assert not file.may_not_grow

    assert file.put_round_trip(0, b"{}\n", counts=True)
    assert not file.is_refused
    file.close()
