"""AWS binary event streams (`application/vnd.amazon.eventstream`), both CRCs checked.

A frame: total length, headers length (4 bytes each), CRC-32 of these 8; headers; payload; CRC-32 of all before it.
https://smithy.io/2.0/aws/amazon-eventstream.html, read 2026-11-20.
"""

import struct
from binascii import crc32
from collections.abc import Iterator
from typing import override

from .buffer import BufferedDecoder
from .event import Event

_PRELUDE = struct.Struct(">III")
_LENGTH = struct.Struct(">H")
_OVERHEAD = 16
# Header value types with a fixed size: true, false, byte, short, int, long, timestamp, uuid.
_FIXED_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
_BYTES, _STRING = 6, 7


def is_prelude(data: bytes | bytearray) -> bool:
    """True when `data` begins with the prelude of a frame, by its CRC."""
    return len(data) >= _PRELUDE.size and crc32(data[:8]) == _PRELUDE.unpack_from(data)[2]


def with_new_crcs(body: bytes) -> Iterator[bytes]:
    """The frames of a body that was changed in place, each with a new CRC of its message."""
    at = 0
    while len(body) - at >= _OVERHEAD:
        total, _, _ = _PRELUDE.unpack_from(body, at)
        if total < _OVERHEAD or at + total > len(body):
            break
        content = body[at : at + total - 4]
        yield content + crc32(content).to_bytes(4)
        at += total
    yield body[at:]


class AwsEventStreamDecoder(BufferedDecoder):
    """Each frame is an event.

    A frame whose own CRC is wrong is an event with a `problem`; after a wrong prelude nothing can be found again,
    so the rest comes as one event from `close`.
    """

    def __init__(self, limit: int = 64 << 20) -> None:
        super().__init__(limit)
        self._lost: str | None = None
        """Why the rest cannot be split; None while it can."""

    @override
    def _split(self, events: list[Event]) -> int:
        buffer = self._buffer
        begin = 0
        while self._lost is None and len(buffer) - begin >= _PRELUDE.size:
            total, headers, checksum = _PRELUDE.unpack_from(buffer, begin)
            if crc32(buffer[begin : begin + 8]) != checksum:
                self._lost = "The CRC of a frame's prelude is wrong; what follows cannot be split into frames."
            elif total < _OVERHEAD + headers or total > self._limit:
                self._lost = f"A frame says it is {total} bytes long, which cannot be."
            elif len(buffer) - begin < total:
                break
            else:
                frame = bytes(buffer[begin : begin + total])
                events.append(self._frame(frame, headers, self._base + begin))
                begin += total
        return begin

    @override
    def _held(self) -> int:
        return 0 if self._lost is None else len(self._buffer)

    @override
    def close(self) -> list[Event]:
        """The bytes that make no whole frame, as one event with a `problem`."""
        return self._rest("The stream ended inside this frame.")

    @override
    def _rest(self, problem: str) -> list[Event]:
        if not self._buffer:
            return []
        start, data = self._base, bytes(self._buffer)
        self._drop_all()
        return [Event(data, start, self._base, self._at, problem=self._lost or problem)]

    def _frame(self, frame: bytes, headers_size: int, start: int) -> Event:
        problem = None
        if crc32(frame[:-4]) != int.from_bytes(frame[-4:]):
            problem = "The CRC of this frame is wrong."
        headers, fault = _headers(frame[_PRELUDE.size : _PRELUDE.size + headers_size])
        name = headers.get(":event-type") or ""
        kind = "data"
        if headers.get(":message-type") in ("exception", "error"):
            kind = "exception"
            name = headers.get(":exception-type") or headers.get(":error-code") or name
        payload = frame[_PRELUDE.size + headers_size : -4]
        end = start + len(frame)
        return Event(payload, start, end, self._at, name=name, kind=kind, problem=problem or fault)


def _headers(data: bytes) -> tuple[dict[str, str], str | None]:
    """The string headers of a frame by name, and what was wrong with them."""
    found: dict[str, str] = {}
    at = 0
    try:
        while at < len(data):
            size = data[at]
            name = data[at + 1 : at + 1 + size].decode("utf-8", "replace")
            at += 1 + size
            kind = data[at]
            at += 1
            if kind in _FIXED_SIZES:
                at += _FIXED_SIZES[kind]
            elif kind in (_BYTES, _STRING):
                (length,) = _LENGTH.unpack_from(data, at)
                at += _LENGTH.size
                if kind == _STRING:
                    found[name] = data[at : at + length].decode("utf-8", "replace")
                at += length
            else:
                return found, f"A header of this frame has the unknown type {kind}."
    except (IndexError, struct.error):
        return found, "The headers of this frame are cut."
    return found, None
