"""A connection that ends with a reset, and one that does not because bytes of it are still on the way."""

import asyncio
import socket
import sys

import pytest

from turntape.proxy.layers.resets import reset

SMALL, LARGE = 4 << 10, 4 << 20


def connected() -> tuple[socket.socket, socket.socket]:
    """A socket that holds megabytes to send, and its peer, which takes a few kilobytes without reading."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
        here = socket.socket()
        here.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LARGE)
        here.connect(server.getsockname())
        there, _ = server.accept()
    return here, there


def ended(size: int) -> bytes | type[Exception]:
    """What the peer reads behind `size` bytes that were sent to it: the end, or the error."""

    async def end() -> tuple[int, socket.socket]:
        here, there = connected()
        _, writer = await asyncio.open_connection(sock=here)
        writer.write(b"x" * size)
        assert not writer.transport.get_write_buffer_size()
        reset(writer)
        writer.close()
        await asyncio.sleep(0)
        return size, there

    left, there = asyncio.run(end())
    with there:
        try:
            while left:
                left -= len(there.recv(left))
            return there.recv(1)
        except OSError as exc:
            return type(exc)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say what is on the way")
@pytest.mark.parametrize(("size", "end"), [(0, ConnectionResetError), (20, ConnectionResetError), (100_000, b"")])
def test_a_reset_loses_nothing_that_was_sent(size: int, end: bytes | type[Exception]) -> None:
    assert ended(size) == end
