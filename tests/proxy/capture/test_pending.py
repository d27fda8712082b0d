"""A round trip while it runs."""

import gzip
import zlib

import brotli
import pytest
import zstandard

from turntape.cassettes.tape.bounds import Memory
from turntape.cassettes.tape.model import Frame
from turntape.proxy.capture.pending import PendingRoundTrip


def pending() -> PendingRoundTrip:
    return PendingRoundTrip("https://llm.local/", 1000.0, 0, None, "base_url", None)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The last number is the time, in nanoseconds."""
    now = [0]
    monkeypatch.setattr("turntape.proxy.capture.pending.time.monotonic_ns", lambda: now[-1])
    return now


def test_times_are_microseconds_since_the_start(clock: list[int]) -> None:
    one = PendingRoundTrip("https://llm.local/", 1000.0, 5_000, None, "base_url", None)
    clock.append(7_005_999)

    assert one.now() == 7000


def test_pieces_pass_unchanged_and_are_kept_with_their_times(clock: list[int]) -> None:
    one = pending()
    one.decode_as("")
    passed: list[bytes] = []
    for at, piece in ((1000, b"a"), (2000, b""), (3000, b"bc")):
        clock.append(at)
        passed.append(one.tee(piece))

    assert passed == [b"a", b"", b"bc"]
    assert (one.body.pieces, one.body.times, one.encoding) == ([b"a", b"bc"], [1, 3], None)


@pytest.mark.parametrize("name", ["gzip", "GZIP", " gzip "])
def test_encoded_pieces_pass_encoded_and_are_kept_decoded(name: str, clock: list[int]) -> None:
    one = pending()
    body = gzip.compress(b"data: one\n\n" * 50, mtime=0)
    parts = [body[:5], body[5:]]
    one.decode_as(name)

    assert [one.tee(part) for part in parts] == parts
    assert (b"".join(one.body.pieces), one.encoding) == (b"data: one\n\n" * 50, "gzip")
    assert len(one.body.pieces) == len(one.body.times) == 1  # the first part decodes to nothing


@pytest.mark.parametrize(("cut", "faults"), [(1, 1), (None, 0)])
@pytest.mark.parametrize("encoding", ["br", "gzip", "zstd", "deflate"])
def test_an_answer_that_ends_before_its_encoding_does_is_noted(encoding: str, cut: int | None, faults: int) -> None:
    pack = {"br": brotli.compress, "gzip": gzip.compress, "zstd": zstandard.compress, "deflate": zlib.compress}
    one = pending()
    one.decode_as(encoding)
    one.tee(pack[encoding](b"data: one\n\n" * 50)[: -cut if cut else None])

    one.end_encoding()

    sentence = f"the answer ends before its {encoding} encoding does; what can be decoded of it is kept"
    assert one.faults == [sentence] * faults


def test_an_answer_without_a_body_is_not_cut_within_its_encoding() -> None:
    one = pending()
    one.decode_as("gzip")

    one.end_encoding()

    assert one.faults == []


@pytest.mark.parametrize("name", ["", " ", "identity", "x-unknown"])
def test_an_unknown_encoding_is_kept_as_it_arrives(name: str) -> None:
    one = pending()
    one.decode_as(name)
    one.tee(b"\x00\xff")

    assert (one.body.pieces, one.encoding) == ([b"\x00\xff"], None)


def test_a_body_that_cannot_be_decoded_is_kept_encoded_with_a_fault(clock: list[int]) -> None:
    one = pending()
    head = gzip.compress(b"x" * 999, mtime=0)[:10]
    one.decode_as("gzip")
    clock.append(1000)
    one.tee(head)
    clock.append(2000)

    assert one.tee(b"\x00 no gzip \xff") == b"\x00 no gzip \xff"
    clock.append(3000)
    one.tee(b"more")

    assert (one.body.pieces, one.body.times) == ([head, b"\x00 no gzip \xff", b"more"], [1, 2, 3])
    assert one.encoding is None
    [fault] = one.faults
    assert fault.startswith("the answer cannot be decoded as gzip: ") and fault.endswith("; it is stored encoded")


def test_a_replaced_body_has_one_time_and_no_encoding(clock: list[int]) -> None:
    one = pending()
    one.decode_as("gzip")
    clock.append(4000)

    one.replace((b"new", b"body"))
    one.tee(b"!")

    assert (one.body.pieces, one.body.times, one.encoding) == ([b"new", b"body", b"!"], [4, 4, 4], None)


def test_nothing_is_known_at_the_start() -> None:
    one = pending()

    assert (one.request_at, one.first_byte_at, one.encoding, one.held) == (None, None, None, False)
    assert (one.body.pieces, one.body.times, one.frames, one.faults, one.extra) == ([], [], [], [], {})


@pytest.mark.parametrize("encoding", ["", "gzip"])
def test_what_is_more_than_the_most_of_a_stream_passes_and_is_not_kept(encoding: str) -> None:
    one = pending()
    one.most, one.stream = 10, True
    one.decode_as(encoding)
    pieces = [b"12345", b"67890", b"abc", b"d"]
    stream = zlib.compressobj(wbits=31)
    flushed = [stream.compress(p) + stream.flush(zlib.Z_SYNC_FLUSH) for p in pieces]
    sent = flushed if encoding else pieces

    assert [one.tee(piece) for piece in sent] == sent
    assert b"".join(one.body.pieces) == b"1234567890" and len(one.body.pieces) == len(one.body.times)
    why = (
        "the answer cannot be decoded: it is longer than 10 bytes" if encoding else "the answer is longer than 10 bytes"
    )
    assert one.faults == [f"{why}; what came after the first 10 is not kept"]


def test_after_a_piece_that_is_not_kept_no_other_is_so_that_there_is_no_gap() -> None:
    one = pending()
    one.most = 10
    for piece in (b"12345", b"678901", b"x"):
        one.tee(piece)

    assert one.body.pieces == [b"12345"]
    assert one.faults == ["the answer is longer than 10 bytes; what came after the first 5 is not kept"]


def test_an_answer_that_decodes_to_more_than_the_most_is_stored_as_received(clock: list[int]) -> None:
    one = pending()
    one.most = 100_000
    packed = gzip.compress(bytes(200_000), mtime=0)
    parts = [packed[:20], packed[20:100], packed[100:], b"more"]
    one.decode_as("gzip")
    for at, part in enumerate(parts, 1):
        clock.append(at * 1000)
        assert one.tee(part) == part

    assert (one.body.pieces, one.body.times, one.encoding) == (parts, [1, 2, 3, 4], None)
    assert one.faults == [
        "the answer is not decoded as gzip: it is longer than 100,000 bytes; it is stored as received"
    ]


@pytest.mark.parametrize("encoding", ["", "gzip"])
def test_running_answers_share_a_memory_and_the_one_that_finds_none_is_cut(encoding: str) -> None:
    memory = Memory(2000)
    first, second = pending(), pending()
    first.memory = second.memory = memory
    first.tee(b"x" * 1500)
    second.decode_as(encoding)
    second.tee(gzip.compress(b"y") if encoding else b"y")
    second.tee(b"z" * 500)
    memory.free(first.taken)
    second.tee(b"late")

    assert memory.taken == second.taken
    third = pending()
    third.memory = memory
    assert (third.has_room(1400, 0), third.has_room(1400, 1400)) == (True, False)
    assert not third.add_frame(Frame("client", 1, b"x" * 400, True))
    assert [fault.partition(";")[2] for fault in third.faults] == [
        " of the request, what came after the first 1,400 is not kept",
        " what came after the first 0 messages is not kept",
    ]
    assert [len(one.body.pieces) for one in (first, second)] == [1, 1]
    assert second.faults == [
        "the bodies that are running take more than 2,000 bytes together; what came after the first 1 is not kept"
    ]


def test_an_answer_that_grows_two_hundredfold_is_stored_as_received_and_its_memory_is_free() -> None:
    one = pending()
    one.decode_as("gzip")
    packed = gzip.compress(bytes(32 << 20))

    for at in range(0, len(packed), 4096):
        one.tee(packed[at : at + 4096])

    assert b"".join(one.body.pieces) == packed
    assert one.encoding is None
    assert "longer than 8,388,608 bytes and than 200 times what was received" in one.faults[0]
    assert one.memory.taken == one.taken < 2 * len(packed)


def test_what_a_piece_has_decoded_to_is_said() -> None:
    sizes: list[int] = []
    one = pending()
    one.inflated = sizes.append
    one.decode_as("gzip")

    one.tee(gzip.compress(bytes(100_000)))

    assert sizes == [100_000]
