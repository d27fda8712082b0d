"""A cassette that was killed, cut, damaged or refused by the disk: what stands around the damage is kept."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from factories import round_trip

from turntape.cassettes import Cassette, CassetteError, FormatError, Recorder, RoundTrip, Tail
from turntape.cassettes.tape.compression import (
    FRAME_END,
    MAGIC,
    CompressionParameter,
    Decompression,
    ZstdCompressor,
    ZstdDecompressor,
    compressor,
)

STEP = 7
"""Damage at every byte takes half a minute; this hits every kind of place, and other ones each time."""
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}


@pytest.fixture(params=["jsonl", "jsonl.zst"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / f"run.cassette.{request.param}"


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    return tmp_path / "run.cassette.jsonl.zst"


def growing(count: int, name: str = "a") -> list[RoundTrip]:
    """Requests that resend what was before, so that each is a delta of the one before it, and compress badly."""
    body = b'{"messages":['
    trips: list[RoundTrip] = []
    for number in range(count):
        body += b'"%s %d %s",' % (name.encode(), number, os.urandom(200).hex().encode())
        trips.append(round_trip(body))
    return trips


def single(count: int, start: int = 0) -> list[RoundTrip]:
    """Requests that have nothing in common."""
    return [round_trip(b'{"n":%d,"x":"%s"}' % (start + n, os.urandom(80).hex().encode())) for n in range(count)]


def record(path: Path, trips: list[RoundTrip], append: bool = False) -> Recorder:
    with Recorder(path, append=append, durable=False) as recorder:
        for trip in trips:
            recorder.write(trip)
    return recorder


def bodies(trips: list[RoundTrip]) -> list[bytes]:
    return [trip.request.body for trip in trips]


def read_by_any_tool(path: Path) -> bool:
    """A compressed file is whole frames and nothing else, as `zstdcat` asks for; a plain one is whole lines."""
    data = path.read_bytes()
    if path.suffix != ".zst":
        return data.endswith(b"\n")
    while data:
        frame = ZstdDecompressor()
        frame.decompress(data)
        if not frame.eof:
            return False
        data = frame.unused_data
    return True


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
    whole, more = growing(6), growing(2, "b")
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


def test_a_compressed_file_that_ends_in_a_block_says_so(packed: Path) -> None:
    record(packed, growing(3))
    packed.write_bytes(packed.read_bytes()[:-40])

    cassette = Cassette.load(packed)

    assert len(list(cassette)) == 2
    assert cassette.problems == ["the compressed recording ends in the middle of a block; it was cut there"]


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
def test_recording_goes_on_when_the_disk_has_space_again(path: Path, room: int) -> None:
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


def sessions(path: Path) -> tuple[list[RoundTrip], list[int]]:
    """Three recordings in one file, and where each ends."""
    trips: list[RoundTrip] = []
    ends: list[int] = []
    for number in range(3):
        some = single(6, 100 * number)
        record(path, some, append=number > 0)
        trips += some
        ends.append(path.stat().st_size)
    return trips, ends


def test_a_byte_damaged_anywhere_costs_no_more_than_its_own_recording(packed: Path) -> None:
    """A frame is one recording. The line after it may be lost too: nobody knows where the damage ends."""
    trips, ends = sessions(packed)
    data = packed.read_bytes()
    refused = 0
    ends_of_frames = [place for end in ends for place in range(end - 4, end)]
    for place in [*range(0, len(data), STEP), *ends_of_frames]:
        damaged = bytearray(data)
        damaged[place] ^= 0xFF
        path = packed.with_name(f"{place}.{packed.name}")
        path.write_bytes(damaged)
        session = sum(place >= end for end in ends)
        kept = [trip for number, trip in enumerate(trips) if number // 6 != session and number != 6 * (session + 1)]
        try:
            cassette = Cassette.load(path)
        except FormatError:
            # The header is in the first block.
            assert session == 0
            refused += 1
            continue

        read = bodies(list(cassette))

        assert set(bodies(kept)) <= set(read)
        assert len(read) == len(trips) or cassette.problems
        more = single(1, 900)
        record(path, more, append=True)
        assert set(read) | set(bodies(more)) <= set(bodies(list(Cassette.load(path))))
    assert refused < len(data) / STEP / 10


def test_a_damaged_length_that_reaches_beyond_the_end_hides_no_later_recording(packed: Path) -> None:
    """Taken for a torn tail, it would cost all that follows, at the next append for good."""
    trips, ends = sessions(packed)
    data = bytearray(packed.read_bytes())
    steps = Decompression()
    _, last_block = steps.feed(bytes(data[: ends[0] - 4]))
    data[last_block : last_block + 3] = (100_000 << 3 | 2 << 1).to_bytes(3, "little")
    packed.write_bytes(data)

    cassette = Cassette.load(packed)

    assert bodies(list(cassette))[-12:] == bodies(trips)[-12:]
    assert any("damaged" in problem for problem in cassette.problems)
    record(packed, single(1), append=True)
    assert len(list(Cassette.load(packed))) == len(list(cassette)) + 1


def raw_block(text: bytes, size: int | None = None) -> bytes:
    """A block that is stored as it is, by RFC 8878, section 3.1.1.2; `size` is the one it claims."""
    return ((len(text) if size is None else size) << 3).to_bytes(3, "little") + text


def test_a_stored_block_that_claims_the_next_frame_is_damaged() -> None:
    """What does not need decompressing cannot fail to decompress."""
    begin = MAGIC + b"\x00\x58"
    first = begin + raw_block(b"one\n") + raw_block(b"two\n", 40) + FRAME_END
    second = begin + raw_block(b"three\n" * 9) + FRAME_END

    stream = Decompression()
    plain, taken = stream.feed(first + second, final=True)

    assert plain.split() == [b"one", *[b"three"] * 9]
    assert taken == len(first + second) and len(stream.problems) == 1


def test_a_compressed_file_that_is_damaged_from_its_start_is_refused(packed: Path) -> None:
    record(packed, single(3))
    packed.write_bytes(MAGIC + b"\xff" * 60)

    with pytest.raises(FormatError, match="damaged from its start"):
        Cassette.load(packed)


def test_a_recording_whose_header_is_damaged_says_so_although_others_follow(packed: Path) -> None:
    _, ends = sessions(packed)
    data = bytearray(packed.read_bytes())
    data[8:40] = b"\xff" * 32
    packed.write_bytes(data)
    assert len(data) > ends[0] + 40

    with pytest.raises(FormatError, match="damaged from its start; restore it from a copy"):
        Cassette.load(packed)


def test_a_tail_reads_on_behind_damage_whatever_pieces_it_gets(packed: Path, tmp_path: Path) -> None:
    trips, ends = sessions(packed)
    data = bytearray(packed.read_bytes())
    data[ends[0] + 4 : ends[0] + 8] = b"\xff\xff\xff\xff"
    growing_file = tmp_path / "growing"
    for step in (1, 2, 3, 5, 97):
        tail = Tail(growing_file)
        growing_file.write_bytes(b"")
        read: list[RoundTrip] = []
        for size in range(0, len(data) + step, step):
            growing_file.write_bytes(data[:size])
            read += tail.poll()

        assert bodies(read) == bodies(trips[:6] + trips[12:])
        assert len(tail.problems) == 1


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


def test_the_window_of_eight_megabytes_is_enough_for_any_reader() -> None:
    text = os.urandom(1 << 20).hex().encode() * 6
    stream = compressor()
    data = stream.compress(text) + stream.flush(stream.FLUSH_FRAME)

    plain, taken = Decompression().feed(data, final=True)

    assert (plain, taken) == (text, len(data))


def test_a_damaged_line_costs_its_round_trip_and_those_that_refer_to_it(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    record(path, growing(4))
    lines = path.read_bytes().split(b"\n")
    lines[2] = b'{"n":1,"started_at":"2026'
    path.write_bytes(b"\n".join(lines))
    new = growing(3, "b")

    record(path, new, append=True)

    cassette = Cassette.load(path)
    read = list(cassette)
    assert [trip.index for trip in read] == [0, 4, 5, 6]
    assert bodies(read)[1:] == bodies(new)
    assert [problem.split(";")[0] for problem in cassette.problems] == [
        "line 3 is no JSON and was skipped",
        "round trip 2 cannot be read: the body of round trip 2 refers to round trip 1, "
        "which is not in the file before it",
        "round trip 3 cannot be read: the body of round trip 2 refers to round trip 1, "
        "which is not in the file before it",
    ]
    # The rest of such a round trip is there for who looks it up, but not its body.
    assert cassette[1].response is not None
    with pytest.raises(CassetteError, match="refers to round trip 1"):
        _ = cassette[1].request.body


def delta(base: object, prefix: int = 0, suffix: int = 0) -> dict[str, object]:
    return {"base": base, "prefix": prefix, "suffix": suffix, "text": "q"}


def line(number: int, body: dict[str, object]) -> bytes:
    request = {"method": "POST", "url": "https://a.example", "body": body}
    return orjson.dumps({"n": number, "started_at": "2026-01-01T00:00:00Z", "request": request}) + b"\n"


@pytest.mark.parametrize(
    "lines",
    [
        [line(0, delta(0, 3))],
        [line(0, delta(1, 3)), line(1, delta(0, 3))],
        [line(1, delta(2)), line(2, {"text": "x" * 300})],
        [line(0, {"text": "x" * 300}), line(1, delta(0, 200, 101))],
        [line(0, {"text": "x"}), line(1, delta(0, 1, 1))],
        [line(0, {"text": "x" * 300}), line(1, delta(0, 2**62))],
    ],
    ids=["itself", "each other", "a later one", "more than there is", "more of a small one", "far more"],
)
def test_a_delta_that_cannot_be_is_a_problem_and_never_a_loop(lines: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    path.write_bytes(b'{"turntape":"1.0"}\n' + b"".join(lines))
    cassette = Cassette.load(path)

    broken = [trip.index for trip in cassette]

    assert len(broken) < len(lines) and cassette.problems
    for place in range(len(lines)):
        if cassette[place].index not in broken:
            with pytest.raises(CassetteError):
                _ = cassette[place].request.body


def test_recordings_that_were_joined_by_hand_keep_their_own_bodies(tmp_path: Path) -> None:
    """`cat a b`: numbers stand twice, and a delta means the nearest body before it."""
    one, two = tmp_path / "1.cassette.jsonl", tmp_path / "2.cassette.jsonl"
    first, second = growing(3, "first"), growing(3, "second")
    record(one, first)
    record(two, second)
    joined = tmp_path / "joined.cassette.jsonl"
    joined.write_bytes(one.read_bytes() + two.read_bytes())

    cassette = Cassette.load(joined)

    assert bodies(list(cassette)) == bodies(first + second)
    assert bodies([cassette[place] for place in range(6)]) == bodies(first + second)
    assert any("line 6 is a second round trip 0" in problem for problem in cassette.problems)


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
