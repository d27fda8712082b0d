"""Reads the whole chunks of a chunked body that arrived at once: thousands of small events come in one read."""

import re

from h11._readers import ChunkedReader
from h11._receivebuffer import ReceiveBuffer

_SIZE = re.compile(rb"([0-9a-fA-F]{1,8})\r\n")
_ZEROS = re.compile(rb"0+(?=[0-9a-fA-F])")


def whole_chunks(reader: object, buffer: ReceiveBuffer) -> list[bytes]:
    """Take the chunks that are whole from the beginning of a buffer; empty when the reader is within a chunk.

    What is not plain stays in the buffer, for the reader: the last chunk, extensions, and what breaks the rules.
    """
    if type(reader) is not ChunkedReader or not _is_between(reader):
        return []
    data = bytes(buffer)
    pieces: list[bytes] = []
    at = 0
    while (size := _SIZE.match(data, at)) is not None:
        start = size.end()
        end = start + int(size[1], 16)
        if end == start or data[end : end + 2] != b"\r\n":
            break
        pieces.append(data[start:end])
        at = end + 2
    if at:
        buffer.maybe_extract_at_most(at)
    return pieces


def without_zeros(reader: object, buffer: ReceiveBuffer) -> None:
    """Take the zeros from the front of a chunk's size: h11 reads 20 digits at most, and clients read any number."""
    if type(reader) is not ChunkedReader:
        return
    end = reader._bytes_to_discard  # pyright: ignore[reportPrivateUsage]
    if end and buffer._data.startswith(end):  # pyright: ignore[reportPrivateUsage]
        buffer.maybe_extract_at_most(len(end))
        reader._bytes_to_discard = b""  # pyright: ignore[reportPrivateUsage]
    if _is_between(reader) and (zeros := _ZEROS.match(buffer._data)):  # pyright: ignore[reportPrivateUsage]
        buffer.maybe_extract_at_most(zeros.end())


def has_bare_line(reader: object, buffer: ReceiveBuffer) -> bool:
    """True for the line of a chunk that ends with LF alone: the reader would wait for CR without end."""
    return type(reader) is ChunkedReader and _is_between(reader) and b"\n" in buffer._data  # pyright: ignore[reportPrivateUsage]


def _is_between(reader: ChunkedReader) -> bool:
    """True when what comes next is the size of a chunk."""
    return not (reader._bytes_in_chunk or reader._bytes_to_discard or reader._reading_trailer)  # pyright: ignore[reportPrivateUsage]


def chunked(pieces: list[bytes]) -> bytes:
    """Each piece as a chunk."""
    return b"".join([b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces if piece])
