"""Undoes content-encodings for the record, chunk by chunk; the traffic itself is not changed.

A megabyte can decode to a gigabyte, so each decoder gives at most `most` bytes and then raises TooLong.
"""

# brotli has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import zlib
from collections.abc import Callable, Iterator
from typing import Protocol

from .bounds import MOST_OF_A_BODY

_GZIP = zlib.MAX_WBITS | 16
_GZIP_MAGIC = b"\x1f\x8b"
_FIRST_BYTES = {_GZIP_MAGIC: "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
PACKED = tuple(_FIRST_BYTES)
"""How bodies begin that are encoded as gzip or zstd."""
MOST_ENCODINGS = 4
"""Servers send one, gateways sometimes a second; a longer list only costs memory."""


SLICE = 4096
"""How many encoded bytes are decoded at a time: a thousand times as many may come out of them."""
_MUCH, _TIMES = 8 << 20, 200
"""A text that anybody sends has fewer bytes, or is fewer times as long as what it was encoded in."""
_AT_ONCE = 4 << 20
"""So many bytes are decoded at a time: as many as can come out of a slice of gzip. A few bytes of brotli or zstd can
decode to all that there may be."""


class TooLong(ValueError):
    """The data is longer than it may be when it is decoded."""


def check_growth(plain: int, encoded: int) -> None:
    """Raise TooLong when so many bytes came out of so few that they are meant to fill the memory."""
    if plain > _MUCH and plain > _TIMES * encoded:
        raise TooLong(f"it is longer than {_MUCH:,} bytes and than {_TIMES} times what was received")


class Decoder(Protocol):
    def decode(self, data: bytes) -> bytes:
        """The next piece, decoded. Raises TooLong, or an error of the encoding's library."""
        ...

    @property
    def is_whole(self) -> bool:
        """False when the data so far ends before its encoding does: more must follow. True when there was none."""
        ...


class _Room:
    """How many bytes a decoder may still give."""

    def __init__(self, most: int) -> None:
        self._most = self._left = most

    @property
    def ask(self) -> int:
        """How many bytes to ask for: one more than there may be, which shows that there are more."""
        return self._left + 1

    @property
    def part(self) -> int:
        """How many bytes to ask for at a time."""
        return min(self.ask, _AT_ONCE)

    def take(self, plain: bytes) -> bytes:
        self._left -= len(plain)
        if self._left < 0:
            raise TooLong(f"it is longer than {self._most:,} bytes")
        return plain

    def take_parts(self, parts: Iterator[bytes], encoded: int) -> bytes:
        """What comes out of a piece of so many bytes, part by part, until it is too much."""
        taken: list[bytes] = []
        size = 0
        for part in parts:
            taken.append(self.take(part))
            size += len(part)
            check_growth(size, encoded)
        return b"".join(taken)


class _Gzip:
    """One member after the other, as RFC 1952 section 2.2 allows (read 2026-11-22).

    Other bytes after a member are padding, which clients ignore.
    """

    def __init__(self, most: int) -> None:
        self._room = _Room(most)
        self._member = zlib.decompressobj(_GZIP)
        self._padding = False
        self._head = b""
        """The first byte after a member, until the second one shows whether it begins another one."""
        self._has_begun = False

    @property
    def is_whole(self) -> bool:
        return self._member.eof or not self._has_begun

    def decode(self, data: bytes) -> bytes:
        plain: list[bytes] = []
        self._has_begun = self._has_begun or bool(data)
        while data and not self._padding:
            if self._member.eof:
                data = self._head + data
                self._head = data if len(data) < len(_GZIP_MAGIC) else b""
                if self._head:
                    break
                self._padding = not data.startswith(_GZIP_MAGIC)
                if self._padding:
                    break
                self._member = zlib.decompressobj(_GZIP)
            plain.append(self._room.take(self._member.decompress(data, self._room.ask)))
            data = self._member.unused_data
        return b"".join(plain)


class _Deflate:
    """With the zlib header that the RFC requires, or without it, as some servers send it."""

    def __init__(self, most: int) -> None:
        self._room = _Room(most)
        self._stream = zlib.decompressobj()
        self._head: bytes | None = b""
        """What has arrived so far, until the two bytes of the zlib header can be checked."""

    @property
    def is_whole(self) -> bool:
        return self._stream.eof or self._head == b""

    def decode(self, data: bytes) -> bytes:
        return self._room.take(self._decode(data))

    def _decode(self, data: bytes) -> bytes:
        most = self._room.ask
        if self._head is None:
            return self._stream.decompress(data, most)
        head = self._head + data
        self._head = head if len(head) < 2 else None
        try:
            return self._stream.decompress(data, most)
        except zlib.error:
            self._stream = zlib.decompressobj(-zlib.MAX_WBITS)
            return self._stream.decompress(head, most)


class _Brotli:
    def __init__(self, most: int) -> None:
        import brotli

        self._room = _Room(most)
        self._stream = brotli.Decompressor()
        self._has_begun = False

    @property
    def is_whole(self) -> bool:
        return not self._has_begun or self._stream.is_finished()

    def decode(self, data: bytes) -> bytes:
        self._has_begun = self._has_begun or bool(data)
        return self._room.take_parts(self._parts(data), len(data))

    def _parts(self, data: bytes) -> Iterator[bytes]:
        try:
            yield self._stream.process(data, output_buffer_limit=self._room.part)
        except TypeError:  # before brotli 1.2; what it has decoded counts afterwards
            yield self._stream.process(data)
            return
        while not self._stream.can_accept_more_data():
            yield self._stream.process(b"", output_buffer_limit=self._room.part)


class _Zstd:
    """One frame after the other: some servers end a frame with each flush."""

    def __init__(self, most: int) -> None:
        from .compression import ZstdDecompressor

        self._room = _Room(most)
        self._make = ZstdDecompressor
        self._frame = ZstdDecompressor()
        self._has_begun = False

    @property
    def is_whole(self) -> bool:
        return self._frame.eof or not self._has_begun

    def decode(self, data: bytes) -> bytes:
        self._has_begun = self._has_begun or bool(data)
        return self._room.take_parts(self._parts(data), len(data))

    def _parts(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._frame.eof:
                self._frame = self._make()
            yield self._frame.decompress(data, self._room.part)
            while not self._frame.eof and not self._frame.needs_input:
                yield self._frame.decompress(b"", self._room.part)
            data = self._frame.unused_data if self._frame.eof else b""


class _Several:
    """Several encodings, undone from the last one applied to the first."""

    def __init__(self, stages: list[Decoder]) -> None:
        self._stages = stages

    @property
    def is_whole(self) -> bool:
        return all(stage.is_whole for stage in self._stages)

    def decode(self, data: bytes) -> bytes:
        for stage in self._stages:
            data = stage.decode(data) if data else data
        return data


DECODERS: dict[str, Callable[[int], Decoder]] = {
    "gzip": _Gzip,
    "x-gzip": _Gzip,
    "deflate": _Deflate,
    "br": _Brotli,
    "zstd": _Zstd,
}


def decoder(encoding: str | None, most: int = MOST_OF_A_BODY) -> Decoder | None:
    """A decoder for a content-encoding, which gives at most `most` bytes.

    None for `identity`, for a missing encoding, for an unknown one, and for one whose library is not installed.
    Several encodings are separated by commas, in the order in which they were applied (RFC 9110 section 8.4, read
    2026-11-22). All must be known.
    """
    names = [name for part in (encoding or "").split(",") if (name := part.strip().lower()) not in ("", "identity")]
    if not names or any(name not in DECODERS for name in names) or len(names) > MOST_ENCODINGS:
        return None
    try:
        stages = [DECODERS[name](most) for name in reversed(names)]
    except ImportError:  # brotli comes with mitmproxy, and not with turntape alone
        return None
    return stages[0] if len(stages) == 1 else _Several(stages)


def cut_within(what: str, encoding: str) -> str:
    """The sentence about data that ends before its encoding does."""
    return f"{what} ends before its {encoding} encoding does; what can be decoded of it is kept"


def decoded(data: bytes, encoding: str | None, most: int = MOST_OF_A_BODY) -> tuple[bytes, str | None, str | None]:
    """A whole body decoded: `(body, encoding that was undone, error)`; unchanged when it cannot be decoded.

    A body that ends before its encoding does is decoded as far as it goes, and has an error too.
    """
    stream = decoder(encoding, most)
    if stream is None or not data:
        return data, None, None
    try:
        plain = b"".join(_in_slices(stream, data))
        name = (encoding or "").strip().lower()
        return plain, name, None if stream.is_whole else cut_within("the body", name)
    except TooLong as exc:
        return data, None, f"the body is not decoded as {encoding}: {exc}; it is stored as received"
    except Exception as exc:  # noqa: BLE001 - each library raises its own errors
        return data, None, f"the body does not decode as {encoding}: {exc}; it is kept as it came"


def _in_slices(stream: Decoder, data: bytes) -> Iterator[bytes]:
    size = 0
    for start in range(0, len(data), SLICE):
        plain = stream.decode(data[start : start + SLICE])
        size += len(plain)
        check_growth(size, len(data))
        yield plain


def packed_as(data: bytes) -> str | None:
    """`gzip` or `zstd` where the data begins like it, else None."""
    return next((name for magic, name in _FIRST_BYTES.items() if data.startswith(magic)), None)


_CAREFUL = 1 << 14
"""So many bytes at the beginning and at the end of a body that may be damaged are decoded one by one."""


def as_far_as_it_decodes(data: bytes, encoding: str | None = None, most: int = 8 << 20) -> bytes:
    """What can be read of a body that may be damaged, at most `most` bytes; empty when nothing can.

    Without `encoding`, by the first bytes: gzip or zstd.
    """
    name = encoding or packed_as(data)
    stream = decoder(name, most)
    if stream is None:
        return b""
    plain: list[bytes] = []
    at = 0
    try:
        while at < len(data):
            size = 1 if at < _CAREFUL or len(data) - at <= _CAREFUL else 64
            plain.append(stream.decode(data[at : at + size]))
            at += size
    except Exception:  # noqa: BLE001 - each library raises its own errors; what came before counts
        pass
    return b"".join(plain)
