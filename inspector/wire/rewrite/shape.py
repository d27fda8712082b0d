"""What it takes to make the stream of a protocol anew, and the framings themselves."""

import struct
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import orjson

from ..exchange import Exchange
from ..json_value import Object
from ..protocols.shared.answers import objects


@dataclass(frozen=True, slots=True)
class Remake:
    protocols: tuple[str, ...]
    framings: tuple[str, ...]
    whole: Callable[[Exchange], Object]
    """What a stream adds up to, as the API's own answer in one body."""
    frames: Callable[[Object, Exchange], Iterable[bytes]]
    """Such a body as a stream; the exchange is the one that it was made from."""


def events(exchange: Exchange) -> list[tuple[str, Object]]:
    """Name and body of each event of the stream."""
    return objects(exchange.events, [])


def sse(data: object, name: str = "", end: bytes = b"\n") -> bytes:
    """A server-sent event."""
    payload = data.encode() if isinstance(data, str) else orjson.dumps(data)
    return (b"event: " + name.encode() + end if name else b"") + b"data: " + payload + end + end


def has_done(exchange: Exchange) -> bool:
    """Whether the stream ended in `[DONE]`."""
    return any(event.data.strip() == b"[DONE]" for event in exchange.events)


def aws_message(payload: object, name: str) -> bytes:
    """An event of an AWS event stream, with both checksums.

    https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html (read 2026-11-21)
    """
    headers = b"".join(
        struct.pack("B", len(key)) + key + b"\x07" + struct.pack(">H", len(value)) + value
        for key, value in (
            (b":event-type", name.encode()),
            (b":content-type", b"application/json"),
            (b":message-type", b"event"),
        )
    )
    data = orjson.dumps(payload)
    prelude = struct.pack(">II", 16 + len(headers) + len(data), len(headers))
    content = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + data
    return content + struct.pack(">I", zlib.crc32(content))
