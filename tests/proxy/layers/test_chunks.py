"""Whole chunks are taken at once; everything else is left to the reader that knows all rules."""

import pytest
from h11._readers import ChunkedReader
from h11._receivebuffer import ReceiveBuffer

from turntape.proxy.layers.chunks import chunked, has_bare_line, whole_chunks, without_zeros


def buffer(data: bytes) -> ReceiveBuffer:
    made = ReceiveBuffer()
    made += data
    return made


@pytest.mark.parametrize(
    ("data", "pieces", "left"),
    [
        (b"3\r\nabc\r\n2\r\nde\r\n", [b"abc", b"de"], b""),
        (b"3\r\nabc\r\n2\r\nd", [b"abc"], b"2\r\nd"),
        (b"3\r\nabc\r\n0\r\n\r\n", [b"abc"], b"0\r\n\r\n"),
        (b"A\r\n0123456789\r\n", [b"0123456789"], b""),
        (b"3\r\na\r\n\r\n3\r\nabc", [b"a\r\n"], b"3\r\nabc"),
        (b"3;x=1\r\nabc\r\n", [], b"3;x=1\r\nabc\r\n"),
        (b"3\r\nabcd\r\n", [], b"3\r\nabcd\r\n"),
        (b"-3\r\nabc\r\n", [], b"-3\r\nabc\r\n"),
        (b"1_0\r\n0123456789012345\r\n", [], b"1_0\r\n0123456789012345\r\n"),
        (b"3\r\nabc", [], b"3\r\nabc"),
        (b"", [], b""),
    ],
)
def test_only_plain_whole_chunks_are_taken(data: bytes, pieces: list[bytes], left: bytes) -> None:
    waiting = buffer(data)

    assert whole_chunks(ChunkedReader(), waiting) == pieces
    assert bytes(waiting) == left


def test_within_a_chunk_and_in_other_bodies_nothing_is_taken() -> None:
    reader, waiting = ChunkedReader(), buffer(b"5\r\nab")
    reader(waiting)
    waiting += b"cde\r\n3\r\nabc\r\n"

    assert whole_chunks(reader, waiting) == []
    assert whole_chunks(object(), buffer(b"3\r\nabc\r\n")) == []


def test_the_same_pieces_make_the_same_bytes() -> None:
    data = b"3\r\nabc\r\nb\r\n01234567890\r\n"

    assert chunked(whole_chunks(ChunkedReader(), buffer(data))) == data
    assert chunked([b"", b"a"]) == b"1\r\na\r\n"


@pytest.mark.parametrize(
    ("data", "bare"),
    [
        (b"3\nabc\n0\n\n", True),
        (b"3\r\nabc\r\n1\nd", True),
        (b"3", False),
        (b"3\r", False),
        (b"3\r\na\n", False),
        (b"3\r\na\nb\r", False),
        (b"3\r\na\nb\r\n", False),
        (b"0\r\nx: y\n", False),
    ],
)
def test_a_line_that_ends_with_lf_alone_is_seen(data: bytes, bare: bool) -> None:
    reader, waiting = ChunkedReader(), buffer(data)
    while reader(waiting) is not None:
        pass

    assert has_bare_line(reader, waiting) is bare
    assert not has_bare_line(object(), waiting)


@pytest.mark.parametrize(
    ("data", "left"),
    [
        (b"0" * 40 + b"3\r\nabc", b"3\r\nabc"),
        (b"00\r\n\r\n", b"0\r\n\r\n"),
        (b"0\r\n\r\n", b"0\r\n\r\n"),
        (b"000", b"0"),
        (b"a0\r\n", b"a0\r\n"),
        (b"0x5\r\n", b"0x5\r\n"),
        (b"0 5\r\n", b"0 5\r\n"),
        (b"", b""),
    ],
)
def test_zeros_before_a_size_mean_nothing(data: bytes, left: bytes) -> None:
    waiting, body = buffer(data), buffer(data)
    without_zeros(ChunkedReader(), waiting)
    without_zeros(object(), body)

    assert (bytes(waiting), bytes(body)) == (left, data)


def test_zeros_within_a_chunk_are_content() -> None:
    reader, waiting = ChunkedReader(), buffer(b"5\r\n00")
    reader(waiting)
    waiting += b"001\r\n"
    without_zeros(reader, waiting)

    assert bytes(waiting) == b"001\r\n"


def test_zeros_after_the_end_of_a_chunk_belong_to_the_next_size() -> None:
    reader, waiting = ChunkedReader(), buffer(b"1\r\na\r")
    reader(waiting)
    reader(waiting)
    waiting += b"\n" + b"0" * 40 + b"2\r\nbc\r\n"
    without_zeros(reader, waiting)

    assert whole_chunks(reader, waiting) == [b"bc"]
