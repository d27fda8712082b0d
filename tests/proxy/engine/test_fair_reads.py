"""After a read with many chunks, less is read, and others have a turn before; after few, more again."""

import asyncio

from mitmproxy.connection import Server

from turntape.proxy.engine.fair_reads import MOST_PIECES, FairReader
from turntape.proxy.layers.chunks import note_pieces

WHOLE = 65535


def test_reads_follow_the_number_of_chunks_and_let_others_run() -> None:
    sizes: list[int] = []
    turns: list[str] = []

    async def other() -> None:
        for _ in range(20):
            turns.append("other")
            await asyncio.sleep(0)

    async def read() -> None:
        inner = asyncio.StreamReader(limit=1 << 22)
        inner.feed_data(b"x" * (1 << 20))
        server = Server(address=("127.0.0.1", 1))
        reader = FairReader(inner, server)
        beside = asyncio.create_task(other())
        for pieces in (10, MOST_PIECES * 20, MOST_PIECES * 20, MOST_PIECES, 10, *[10] * 6):
            note_pieces(server, pieces)
            sizes.append(len(await reader.read(WHOLE)))
            turns.append("read")
        assert not reader.at_eof()
        await beside

    asyncio.run(read())

    assert sizes[:6] == [WHOLE, WHOLE // 20, 1024, 1024, 2048, 4096]
    assert sizes[-1] == WHOLE
    assert turns[0] == "read" and turns[1:6] == ["other", "read", "other", "read", "other"]
