"""Long bodies leave the memory for the disk, encrypted, and come back whole."""

import errno
import gzip
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from waiting import PATIENCE, eventually

from turntape.cassettes import Cassette, Recorder, RoundTrip
from turntape.cassettes.tape.bounds import Memory
from turntape.cassettes.tape.model import Request, Response
from turntape.proxy.capture import spool as module
from turntape.proxy.capture.kept_body import KeptBody, StoredBody
from turntape.proxy.capture.pending import PendingRoundTrip
from turntape.proxy.capture.spool import Spool

STEP = 1000


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FROM", 5000)
    monkeypatch.setattr(module, "STEP", STEP)
    monkeypatch.setattr(module, "_MOST_ON_THE_WAY", 3000)
    monkeypatch.setattr("turntape.proxy.capture.kept_body.STEP", STEP)


def pending(memory: Memory, folder: Path, waiting: Callable[[], int] = lambda: 0) -> PendingRoundTrip:
    one = PendingRoundTrip("https://llm.local/", 1000.0, 0, None, "base_url", None, memory=memory)
    one.spool = Spool(folder, memory, waiting)
    return one


def pieces(count: int, size: int = 300) -> list[bytes]:
    return [b"%06d" % number * (size // 6) for number in range(count)]


def whole(body: KeptBody) -> bytes:
    content = body.content
    return content if isinstance(content, bytes) else content()


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """What came to the disk."""
    seen: list[bytes] = []
    write = os.pwrite

    def noted(file: int, data: memoryview, at: int) -> int:
        seen.append(bytes(data))
        return write(file, data, at)

    monkeypatch.setattr(module.os, "pwrite", noted)
    yield seen


def test_a_body_is_whole_and_takes_little_memory_and_nothing_of_it_can_be_read_on_the_disk(
    tmp_path: Path, written: list[bytes]
) -> None:
    one = pending(Memory(30_000), tmp_path)
    sent = pieces(40, 3000)
    for piece in sent:
        one.tee(piece)
    content = one.body.content

    assert isinstance(content, StoredBody) and len(content) == 120_000
    assert content() == content() == b"".join(sent)
    assert [chunk.size for chunk in one.body.chunks] == [3000] * 40
    assert one.faults == [] and b"".join(one.body.so_far) == b"".join(sent)
    assert len(b"".join(written)) > 100_000 and not any(b"000123" in data for data in written)
    assert list(tmp_path.iterdir()) == [], "the file has no name"


def test_memory_that_was_given_to_the_disk_is_free_and_is_freed_once(tmp_path: Path) -> None:
    memory = Memory()
    one = pending(memory, tmp_path)
    for piece in pieces(400):
        one.tee(piece)
    whole(one.body)
    eventually(lambda: memory.taken == one.taken)
    memory.free(one.taken)

    assert memory.taken == 0


def test_bodies_stay_in_memory_while_there_is_enough_and_short_ones_always(
    tmp_path: Path, written: list[bytes]
) -> None:
    memory = Memory()
    few, waits = pending(memory, tmp_path), [0]
    for piece in pieces(10):
        few.tee(piece)
    short = pending(memory, tmp_path, lambda: waits[0])
    waits[0] = 1 << 30
    for piece in pieces(3):
        short.tee(piece)
    before = list(written)
    short.tee(b"x" * 200)
    whole(short.body)

    assert before == [] and isinstance(few.body.content, bytes)
    assert len(written) == 1, "what waits to be written counts too"


def test_an_encoded_body_is_decoded(tmp_path: Path) -> None:
    one = pending(Memory(), tmp_path)
    body = os.urandom(60_000)
    packed = gzip.compress(body)
    one.decode_as("gzip")
    for at in range(0, len(packed), 300):
        one.tee(packed[at : at + 300])

    assert whole(one.body) == body and len(one.body.chunks) == len(one.body.times)
    assert one.encoding == "gzip" and one.faults == []


def test_a_body_that_does_not_decode_late_is_whole_as_it_came(tmp_path: Path) -> None:
    one = pending(Memory(), tmp_path)
    packed = bytearray(gzip.compress(os.urandom(60_000)))
    packed[-8] ^= 1  # the checksum
    one.decode_as("gzip")
    for at in range(0, len(packed), 300):
        one.tee(bytes(packed[at : at + 300]))

    assert whole(one.body) == packed
    assert one.encoding is None and "it is stored encoded" in one.faults[0]


@pytest.mark.parametrize("takes", [0, 2, 30])
def test_what_the_disk_refuses_stays_in_memory_and_counts_there(
    takes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, calls = os.pwrite, [0]

    def refuses(file: int, data: memoryview, at: int) -> int:
        calls[0] += 1
        if calls[0] > takes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, data[:500], at)

    monkeypatch.setattr(module.os, "pwrite", refuses)
    memory = Memory()
    one = pending(memory, tmp_path)
    sent = pieces(100)
    for piece in sent:
        one.tee(piece)
    assert whole(one.body) == b"".join(sent)
    memory.free(one.taken)
    held = memory.taken
    one.body.clear()

    assert held > 0 and memory.taken == 0


def test_a_folder_that_takes_no_file_is_replaced_and_without_any_the_body_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = pending(Memory(), tmp_path / "gone")
    for piece in pieces(100):
        gone.tee(piece)
    elsewhere = gone.body.content

    def refuse(folder: Path | None) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(module, "_new_file", refuse)
    nowhere = pending(Memory(20_000), tmp_path)
    for piece in pieces(100):
        nowhere.tee(piece)

    assert isinstance(elsewhere, StoredBody) and len(elsewhere) == 30_000
    assert "the bodies that are running take more than 20,000 bytes together" in nowhere.faults[0]


def test_many_bodies_take_few_descriptors_which_are_free_when_none_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_FULL", 100_000)
    made: list[int] = []
    closed: list[int] = []
    new, close = module._new_file, os.close
    memory = Memory()
    spool = Spool(tmp_path, memory)

    def counted(folder: Path | None) -> int:
        made.append(new(folder))
        return made[-1]

    monkeypatch.setattr(module, "_new_file", counted)
    monkeypatch.setattr(module.os, "close", lambda file: closed.append(file) or close(file))
    bodies: list[KeptBody] = []

    def body(number: int) -> KeptBody:
        one = pending(memory, tmp_path)
        one.spool = spool
        for piece in pieces(4, 3000):
            one.tee(piece + b"%d" % number)
        return one.body

    bodies += map(body, range(30))
    found = [whole(one) for one in bodies]
    several = len(made)
    assert found == [b"".join(piece + b"%d" % number for piece in pieces(4, 3000)) for number in range(30)]
    bodies.clear()
    for piece in pieces(200, 3000):  # the file that is being filled is full then
        spool.add(module.SpooledBody(spool), piece)

    assert several in (3, 4)
    eventually(lambda: set(made[:several]) <= set(closed))


def test_traffic_waits_for_a_disk_that_is_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_ON_THE_WAY", 2500)
    may, write, sent, done = threading.Event(), os.pwrite, pieces(100), threading.Event()

    def slow(file: int, data: memoryview, at: int) -> int:
        assert may.wait(PATIENCE)
        return write(file, data, at)

    monkeypatch.setattr(module.os, "pwrite", slow)
    one = pending(Memory(), tmp_path)

    def send() -> None:
        for piece in sent:
            one.tee(piece)
        done.set()

    thread = threading.Thread(target=send)
    thread.start()
    assert one.spool is not None
    eventually(lambda: one.spool is not None and one.spool._on_the_way > 2500)
    behind = one.body.size
    may.set()
    thread.join()

    assert behind < 20_000 and whole(one.body) == b"".join(sent)


def test_the_recorder_says_how_much_is_still_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turntape.cassettes.recording.write_queue.LOOK", 0.01)
    one = pending(Memory(), tmp_path)
    for piece in pieces(100):
        one.tee(piece)
    content = one.body.content
    one.body.clear()
    may, left = threading.Event(), list[int]()

    def waiting() -> bytes:
        assert may.wait(PATIENCE)
        return b"{}"

    trip = RoundTrip(Request("POST", "https://a.local/"), Response(200, content=content), 1.0)
    first = RoundTrip(Request("POST", "https://a.local/", content=waiting), None, 1.0)
    del content
    with Recorder(tmp_path / "a.jsonl", durable=False) as recorder:
        recorder.write(first)
        recorder.write(trip)
        del trip
        held = recorder.waiting
        recorder.flush(lambda size: left.append(size) or may.set())
        assert held < 10_000 < 30_000 <= left[0]

    [_, read] = Cassette.load(tmp_path / "a.jsonl")
    assert read.response is not None and read.response.body == b"".join(pieces(100))
