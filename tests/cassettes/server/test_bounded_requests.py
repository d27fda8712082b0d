"""A head, trailers or a chunk line without an end are cut off; bodies of any length and long heads are not."""

import asyncio
from collections.abc import Iterable, Iterator

import pytest
import uvicorn
from uvicorn.server import ServerState

from turntape.cassettes.server.asgi import Message, Receive, Send
from turntape.cassettes.server.bounded_requests import MOST, BoundedRequests

PIECE = 1 << 16
MANY = 2 * MOST // PIECE


class Wire(asyncio.Transport):
    """What is written, and whether it is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += data

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


async def count(scope: Message, receive: Receive, send: Send) -> None:
    """Answers with the length of the body."""
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message.get("body", b"")), bool(message.get("more_body"))
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"%d" % size})


async def sent(pieces: Iterable[bytes]) -> Wire:
    """The wire after these pieces came, or as many as it took."""
    protocol = BoundedRequests(uvicorn.Config(count, lifespan="off"), ServerState(), {})
    wire = Wire()
    protocol.connection_made(wire)
    for piece in pieces:
        if wire.closed:
            break
        protocol.data_received(piece)
        await asyncio.sleep(0)
    for _ in range(20):
        await asyncio.sleep(0)
    return wire


def endless(head: bytes, piece: bytes) -> Iterator[bytes]:
    yield head
    for _ in range(MANY):
        yield piece


ENDLESS = {
    "a field": (b"GET / HTTP/1.1\r\nx: ", b"a" * PIECE),
    "fields": (b"GET / HTTP/1.1\r\n", b"x: a\r\n" * (PIECE // 6)),
    "a target": (b"GET /", b"a" * PIECE),
    "trailers": (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n", b"x: a\r\n" * (PIECE // 6)),
    "a chunk line": (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1;", b"a" * PIECE),
}


@pytest.mark.parametrize(("head", "piece"), ENDLESS.values(), ids=ENDLESS.keys())
def test_what_does_not_end_is_cut_off(head: bytes, piece: bytes) -> None:
    wire = asyncio.run(sent(endless(head, piece)))

    assert wire.closed
    assert wire.written.startswith(b"HTTP/1.1 431 ") is (b"chunked" not in head)


def test_a_long_head_and_a_longer_body_pass() -> None:
    field = b"x: " + b"a" * (MOST // 2) + b"\r\n"
    head = b"POST / HTTP/1.1\r\n" + field + b"content-length: %d\r\n\r\n" % (MANY * PIECE)

    wire = asyncio.run(sent([*endless(head, b"b" * PIECE), *endless(head, b"b" * PIECE)]))

    assert not wire.closed
    assert wire.written.count(b"HTTP/1.1 200 ") == wire.written.count(b"%d" % (MANY * PIECE)) == 2


def test_many_requests_of_one_connection_pass() -> None:
    request = b"GET / HTTP/1.1\r\nx: " + b"a" * PIECE + b"\r\n\r\n"

    wire = asyncio.run(sent([request] * MANY))

    assert not wire.closed
    assert wire.written.count(b"HTTP/1.1 200 ") == MANY
