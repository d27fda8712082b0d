"""What goes over the link between a wrapper and a recorder: frames, each with its kind and its time.

A frame is a head of 13 bytes (length of the payload, kind, time in seconds since the epoch) and the payload. The
wrapper sends `START` first, with a JSON object (`StartFields`), then the pieces of each stream as they were read, which
are not lines. `END` is the last frame; a connection that ends without one belongs to a wrapper that was killed.
In the other direction the recorder may send `SAY` frames: one sentence for the wrapper's stderr.
"""

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

HEAD: Final = struct.Struct(">IBd")
START: Final = 0
CLIENT: Final = 1
"""Bytes of the client, for the server."""
SERVER: Final = 2
"""Bytes of the server's stdout, for the client."""
STDERR: Final = 3
"""Bytes of the server's stderr."""
LOST: Final = 4
"""JSON: `{"of": kind, "bytes": number}`; bytes of that kind were passed on, but not sent to the recorder."""
END: Final = 5
"""JSON: `{"exit": code or null, "signal": name or null, "closed_first": "client", "server" or null}`."""
SAY: Final = 6
"""A sentence of the recorder, UTF-8."""


class Frame(NamedTuple):
    kind: int
    at: float
    """When it was seen, in seconds since the epoch."""
    data: bytes


def encode(kind: int, at: float, data: bytes) -> bytes:
    """One frame as bytes."""
    return HEAD.pack(len(data), kind, at) + data


class Decoder:
    """`feed(data)` gives the frames that are complete; the rest waits for more."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        self._buffer += data
        place = 0
        try:
            while len(self._buffer) - place >= HEAD.size:
                length, kind, at = HEAD.unpack_from(self._buffer, place)
                end = place + HEAD.size + length
                if len(self._buffer) < end:
                    return
                payload = bytes(memoryview(self._buffer)[place + HEAD.size : end])
                place = end
                yield Frame(kind, at, payload)
        finally:
            del self._buffer[:place]
