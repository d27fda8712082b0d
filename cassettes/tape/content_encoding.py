"""Undoes content-encodings for the record, chunk by chunk; the traffic itself is not changed."""

# brotli has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false

import zlib
from collections.abc import Callable
from typing import Protocol


class Decoder(Protocol):
    def decode(self, data: bytes) -> bytes: ...


class _Zlib:
    def __init__(self, bits: int) -> None:
        self._stream = zlib.decompressobj(bits)

    def decode(self, data: bytes) -> bytes:
        return self._stream.decompress(data)


class _Deflate:
    """With the zlib header that the RFC requires, or without it, as some servers send it."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj()
        self._head: bytes | None = b""
        """What has arrived so far, until the two bytes of the zlib header can be checked."""

    def decode(self, data: bytes) -> bytes:
        if self._head is None:
            return self._stream.decompress(data)
        head = self._head + data
        self._head = head if len(head) < 2 else None
        try:
            return self._stream.decompress(data)
        except zlib.error:
            self._stream = zlib.decompressobj(-zlib.MAX_WBITS)
            return self._stream.decompress(head)


class _Brotli:
    def __init__(self) -> None:
        import brotli

        self._stream = brotli.Decompressor()

    def decode(self, data: bytes) -> bytes:
        return self._stream.process(data)


class _Zstd:
    """One frame after the other: some servers end a frame with each flush."""

    def __init__(self) -> None:
        from .compression import ZstdDecompressor

        self._make = ZstdDecompressor
        self._frame = ZstdDecompressor()

    def decode(self, data: bytes) -> bytes:
        plain = b""
        while data:
            if self._frame.eof:
                self._frame = self._make()
            plain += self._frame.decompress(data)
            data = self._frame.unused_data if self._frame.eof else b""
        return plain


DECODERS: dict[str, Callable[[], Decoder]] = {
    "gzip": lambda: _Zlib(zlib.MAX_WBITS | 16),
    "x-gzip": lambda: _Zlib(zlib.MAX_WBITS | 16),
    "deflate": _Deflate,
    "br": _Brotli,
    "zstd": _Zstd,
}


def decoder(encoding: str | None) -> Decoder | None:
    """A decoder for a content-encoding; None for `identity`, for a missing one, and for an unknown one."""
    make = DECODERS.get((encoding or "").strip().lower())
    return make() if make else None


def decoded(data: bytes, encoding: str | None) -> tuple[bytes, str | None, str | None]:
    """A whole body decoded: `(body, encoding that was undone, error)`; unchanged when it cannot be decoded."""
    stream = decoder(encoding)
    if stream is None or not data:
        return data, None, None
    try:
        return stream.decode(data), (encoding or "").strip().lower(), None
    except Exception as exc:  # noqa: BLE001 - each library raises its own errors
        return data, None, f"the body does not decode as {encoding}: {exc}; it is kept as it came"
