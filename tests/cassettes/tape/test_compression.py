"""Compressed recordings are read block by block, around what is damaged."""

import os

from turntape.cassettes.tape.compression import FRAME_END, MAGIC, Decompression, compressor


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


def test_the_window_of_eight_megabytes_is_enough_for_any_reader() -> None:
    text = os.urandom(1 << 20).hex().encode() * 6
    stream = compressor()
    data = stream.compress(text) + stream.flush(stream.FLUSH_FRAME)

    plain, taken = Decompression().feed(data, final=True)

    assert (plain, taken) == (text, len(data))
