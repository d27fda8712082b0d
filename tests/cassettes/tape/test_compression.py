"""Compressed recordings are read block by block, around what is damaged."""

import os

import pytest

from turntape.cassettes.tape import compression
from turntape.cassettes.tape.compression import ALWAYS_READ, FRAME_END, MAGIC, Decompression, compressor


def raw_block(text: bytes, size: int | None = None) -> bytes:
    """A block that is stored as it is, by RFC 8878, section 3.1.1.2; `size` is the one it claims."""
    return ((len(text) if size is None else size) << 3).to_bytes(3, "little") + text


@pytest.mark.parametrize("cut", [False, True])
def test_a_line_that_takes_all_memory_is_not_read(cut: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "LONGEST_LINE", 1 << 20)
    pack = compressor()
    long = b"x" * ((1 << 20) + (1 << 18 if cut else 0))
    data = b"".join(pack.compress(part) for part in (b"one\n", long, b"\nthree\n")) + pack.flush()

    stream = Decompression()
    plain, _ = stream.feed(data, final=True)

    assert bool(stream.problems) == cut
    assert plain.endswith(b"three\n") != cut


def test_a_stored_block_that_claims_the_next_frame_is_damaged() -> None:
    """What does not need decompressing cannot fail to decompress."""
    begin = MAGIC + b"\x00\x58"
    first = begin + raw_block(b"one\n") + raw_block(b"two\n", 40) + FRAME_END
    second = begin + raw_block(b"three\n" * 9) + FRAME_END

    stream = Decompression()
    plain, taken = stream.feed(first + second, final=True)

    assert plain.split() == [b"one", *[b"three"] * 9]
    assert taken == len(first + second) and len(stream.problems) == 1


def test_the_window_of_eight_megabytes_is_enough_for_any_reader() -> None:
    text = os.urandom(1 << 20).hex().encode() * 6
    stream = compressor()
    data = stream.compress(text) + stream.flush(stream.FLUSH_FRAME)

    plain, taken = Decompression().feed(data, final=True)

    assert (plain, taken) == (text, len(data))


@pytest.mark.parametrize("final", [True, False])
def test_a_small_file_that_would_fill_the_memory_is_read_up_to_a_bound(final: bool) -> None:
    stream = compressor()
    data = stream.compress(b"one\n") + b"".join(stream.compress(bytes(1 << 20)) for _ in range(512))
    data += stream.flush(stream.FLUSH_FRAME)
    reader = Decompression()

    plain, taken = reader.feed(data, final)

    assert plain.startswith(b"one\n\0") and ALWAYS_READ < len(plain) < ALWAYS_READ + (1 << 20)
    assert taken == len(data)
    [problem] = reader.problems
    assert problem.startswith("the compressed recording grows to more than 1,000 times its size")
    assert reader.feed(data, final) == (b"", len(data))


def test_a_recording_that_compresses_well_is_read_whole() -> None:
    text = b"".join(os.urandom(10_000).hex().encode() + b" " * 4_000_000 for _ in range(12))
    stream = compressor()
    data = stream.compress(text) + stream.flush(stream.FLUSH_FRAME)
    reader = Decompression()

    plain, _ = reader.feed(data, final=True)

    assert len(data) * 50 < len(plain) == len(text) > ALWAYS_READ
    assert reader.problems == []
