"""What a client has sent is read at once."""

import asyncio

from turntape.proxy.engine.long_reads import LongReader


def test_all_that_is_there_is_read_whatever_size_is_requested() -> None:
    async def read() -> list[bytes]:
        reader = asyncio.StreamReader()
        long = LongReader(reader)
        reader.feed_data(b"x" * 200_000)
        first = await long.read(65535)
        reader.feed_data(b"rest")
        reader.feed_eof()
        return [first, await long.read(65535), await long.read(65535)]

    assert asyncio.run(read()) == [b"x" * 200_000, b"rest", b""]


def test_the_rest_of_the_reader_is_as_it_was() -> None:
    async def at_end() -> bool:
        reader = asyncio.StreamReader()
        reader.feed_eof()
        return LongReader(reader).at_eof()

    assert asyncio.run(at_end())
