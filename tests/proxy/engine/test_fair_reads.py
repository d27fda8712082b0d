"""What a peer sends is handed over at once; after many pieces less is, and others have a turn before."""

import asyncio
from collections.abc import Callable
from typing import Any, cast, override

import pytest
from mitmproxy.connection import Connection, ConnectionState, Server

from turntape.proxy.capture.pieces import note_pieces
from turntape.proxy.engine.fair_reads import MOST_PIECES, FairReader
from turntape.proxy.engine.turns import LONG, Turns
from turntape.proxy.layers.pauses import pause, resume
from turntape.proxy.layers.resets import was_reset

WHOLE = 65535


class Transport:
    """A transport that notes what is done to it."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def pause_reading(self) -> None:
        self.done.append("pause")

    def resume_reading(self) -> None:
        self.done.append("resume")

    def is_closing(self) -> bool:
        return False


class Busy(Turns):
    """The turns of a loop that may have much to do, all the time."""

    is_always_long = False

    @property
    @override
    def is_long(self) -> bool:
        return self.is_always_long or super().is_long


class Reading:
    """A task that reads a connection, as mitmproxy's."""

    def __init__(self, continues: Callable[[bytes], bool] = lambda data: True) -> None:
        self.inner = asyncio.StreamReader(limit=1 << 22)
        self.server = Server(address=("127.0.0.1", 1))
        self.server.state = ConnectionState.OPEN
        self.transport = Transport()
        self.handed: list[bytes] = []
        self.read: list[bytes] = []
        self.drained = asyncio.Event()
        self._continues = continues
        self.turns = Busy()
        self.reader = FairReader(
            self.inner, cast(Any, self.transport), self.server, WHOLE, self._received, self._drain, self.turns
        )

    def _received(self, data: bytes) -> bool:
        self.handed.append(data)
        return self._continues(data)

    async def _drain(self) -> None:
        self.transport.done.append("drain")
        await self.drained.wait()

    async def run(self) -> None:
        while data := await self.reader.read(WHOLE):
            self.read.append(data)


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_reads_follow_the_number_of_chunks_and_let_others_run() -> None:
    sizes: list[int] = []
    turns: list[str] = []

    async def other() -> None:
        for _ in range(40):
            turns.append("other")
            await asyncio.sleep(0)

    async def read() -> None:
        reading = Reading()
        reading.inner.feed_data(b"x" * (1 << 20))
        beside = asyncio.create_task(other())
        for pieces in (10, MOST_PIECES * 20, MOST_PIECES * 20, MOST_PIECES, 10, *[10] * 6):
            note_pieces(reading.server, pieces)
            sizes.append(len(await reading.reader.read(WHOLE)))
            turns.append("read")
        assert not reading.reader.at_eof()
        await beside

    asyncio.run(read())

    assert sizes[:6] == [WHOLE, WHOLE // 20, 1024, 1024, 2048, 4096]
    assert sizes[-1] == WHOLE
    before, *between = " ".join(turns).split("read")
    assert before == "" and all("other" in others for others in between[:5])


def test_what_comes_while_the_task_waits_is_handed_over_in_the_same_turn() -> None:
    async def read() -> Reading:
        reading = Reading()
        reading.inner.feed_data(b"before ")  # nobody waits yet
        task = asyncio.create_task(reading.run())
        await settled()
        reading.inner.feed_data(b"one ")
        reading.inner.feed_data(b"two ")
        assert reading.handed == [b"one ", b"two "]
        reading.inner.feed_eof()
        await task
        return reading

    reading = asyncio.run(read())

    assert reading.read == [b"before "] and reading.transport.done == []


@pytest.mark.parametrize("why", ["long", "paused", "closed"])
def test_what_may_not_be_handed_over_comes_to_the_task_in_order(why: str) -> None:
    async def read() -> Reading:
        reading = Reading()
        task = asyncio.create_task(reading.run())
        await settled()
        reading.inner.feed_data(b"a")
        if why == "paused":
            pause(reading.server)
        elif why == "closed":
            reading.server.state = ConnectionState.CLOSED
        reading.inner.feed_data(b"b" * (WHOLE + 1 if why == "long" else 1))
        reading.inner.feed_data(b"c")  # behind it, although it is short
        if why == "paused":
            await settled()
            reading.inner.feed_data(b"d")
            await settled()
            assert b"".join(reading.read) == b"bc"
            resume(reading.server)
        await settled()
        reading.inner.feed_eof()
        await task
        return reading

    reading = asyncio.run(read())

    assert reading.handed == [b"a"]
    assert b"".join(reading.read) == {"long": b"b" * (WHOLE + 1), "paused": b"b", "closed": b"b"}[why] + b"c" + (
        b"d" if why == "paused" else b""
    )


def test_after_many_pieces_the_task_reads_less_and_after_few_all_is_handed_over_again() -> None:
    async def read() -> Reading:
        reading: Reading

        def continues(data: bytes) -> bool:
            note_pieces(reading.server, MOST_PIECES * 4 if data == b"flood" else 1)
            return True

        reading = Reading(continues)
        task = asyncio.create_task(reading.run())
        await settled()
        for data in (b"flood", *(b"%d" % number for number in range(9))):
            reading.inner.feed_data(data)
            await settled()
        reading.inner.feed_eof()
        await task
        return reading

    reading = asyncio.run(read())

    assert reading.handed[0] == b"flood" and len(reading.handed) > 1 and len(reading.read) > 1
    assert b"".join(reading.read + reading.handed[1:]) == b"012345678"


def test_of_a_flood_that_comes_at_once_the_first_part_shows_what_it_is() -> None:
    """The rest is read in small parts, in order, and others have their turns between."""
    sent = b"".join(b"%05d" % number for number in range(13_000))

    async def read() -> Reading:
        reading: Reading

        def continues(data: bytes) -> bool:
            note_pieces(reading.server, len(data) // 5)
            return True

        reading = Reading(continues)
        task = asyncio.create_task(reading.run())
        await settled()
        reading.inner.feed_data(sent)
        assert len(reading.handed) == 1
        await settled()
        reading.inner.feed_eof()
        await task
        return reading

    reading = asyncio.run(read())

    assert len(reading.handed[0]) == 16 << 10
    assert b"".join(reading.handed + reading.read) == sent
    assert len(reading.read[0]) == (16 << 10) * MOST_PIECES // ((16 << 10) // 5)


def test_a_long_piece_is_handed_over_in_the_same_turn() -> None:
    async def read() -> list[bytes]:
        reading = Reading()
        task = asyncio.create_task(reading.run())
        await settled()
        reading.inner.feed_data(b"x" * WHOLE)
        task.cancel()
        return reading.handed

    assert b"".join(asyncio.run(read())) == b"x" * WHOLE


def test_in_a_long_turn_only_the_beginning_is_handed_over_and_the_rest_in_growing_parts() -> None:
    sent = b"".join(b"%05d" % number for number in range(8_000))

    async def read() -> Reading:
        reading = Reading()
        task = asyncio.create_task(reading.run())
        await settled()
        reading.turns.is_always_long = True
        reading.inner.feed_data(sent)
        reading.inner.feed_eof()
        await task
        return reading

    reading = asyncio.run(read())

    assert b"".join(reading.handed + reading.read) == sent
    assert [len(part) for part in reading.handed + reading.read[:3]] == [1024, 4096, 8192, 16384]


@pytest.mark.parametrize("pieces", [1, MOST_PIECES // 2], ids=["long pieces", "tiny pieces"])
def test_in_a_long_turn_fewer_pieces_are_many(pieces: int) -> None:
    async def read() -> Reading:
        reading: Reading

        def continues(data: bytes) -> bool:
            note_pieces(reading.server, pieces)
            return True

        reading = Reading(continues)
        task = asyncio.create_task(reading.run())
        await settled()
        reading.turns.used(2 * LONG)
        reading.inner.feed_data(b"x" * 500)
        reading.inner.feed_data(b"y")
        task.cancel()
        return reading

    assert len(asyncio.run(read()).handed) == (2 if pieces == 1 else 1)


def test_while_a_peer_does_not_take_what_it_is_sent_nothing_more_is_read() -> None:
    async def read() -> list[str]:
        reading = Reading(lambda data: data != b"much")
        task = asyncio.create_task(reading.run())
        await settled()
        reading.inner.feed_data(b"little")
        reading.inner.feed_data(b"much")
        await settled()
        before = list(reading.transport.done)
        assert before == ["pause", "drain"]
        reading.drained.set()
        await settled()
        reading.inner.feed_data(b"more")
        assert reading.handed == [b"little", b"much", b"more"]
        task.cancel()
        return reading.transport.done

    assert asyncio.run(read()) == ["pause", "drain", "resume"]


def test_a_reset_is_noted() -> None:
    async def read() -> Connection:
        reading = Reading()
        task = asyncio.create_task(reading.run())
        await settled()
        reading.inner.set_exception(ConnectionResetError())
        with pytest.raises(ConnectionResetError):
            await task
        return reading.server

    assert was_reset(asyncio.run(read()))
