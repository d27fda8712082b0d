"""What a client has sent is read at once, unless it is a flood of tiny pieces."""

import asyncio
from types import SimpleNamespace
from typing import Any

from mitmproxy.connection import Client

from turntape.proxy.engine.fair_reads import MOST_PIECES
from turntape.proxy.engine.long_reads import LongReads
from turntape.proxy.layers.chunks import note_pieces


def test_all_that_is_there_is_read_whatever_size_is_requested() -> None:
    async def read() -> list[bytes]:
        inner = asyncio.StreamReader()
        client, reader = Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2)), SimpleNamespace(reader=inner)
        server: Any = SimpleNamespace(connections={client.id: SimpleNamespace(transports={client: reader})})
        LongReads(server).client_connected(client)
        inner.feed_data(b"x" * 200_000)
        first = await reader.reader.read(65535)
        note_pieces(client, MOST_PIECES * 100)
        inner.feed_data(b"y" * 200_000)
        return [first, await reader.reader.read(65535)]

    first, flood = asyncio.run(read())

    assert first == b"x" * 200_000
    assert len(flood) < 10_000
