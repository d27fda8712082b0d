"""What is collected is written in order, before anything else, and never more than a bound of it."""

import asyncio

import pytest

from turntape.cassettes.server.joined_writes import JoinedWrites


class Flow:
    drained = 0

    async def drain(self) -> None:
        self.drained += 1


class Transport:
    def __init__(self) -> None:
        self.written: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def close(self) -> None:
        self.written.append(b"closed")

    def get_extra_info(self, name: str) -> str:
        return name


class Answer:
    """What uvicorn has for one answer."""

    def __init__(self, chunked: bool | None = True) -> None:
        self.transport: Transport | JoinedWrites = Transport()
        self.chunked_encoding = chunked
        self.disconnected = False
        self.flow = Flow()

    async def send(self, message: object) -> None:
        """Not used."""


def made(answer: Answer) -> tuple[JoinedWrites, Transport]:
    transport = answer.transport
    joined = JoinedWrites.of(answer.send)
    assert joined is not None and isinstance(transport, Transport) and answer.transport is joined
    return joined, transport


def test_head_chunks_and_end_are_one_write_and_then_the_transport_is_back() -> None:
    answer = Answer()
    joined, transport = made(answer)
    joined.write(b"head ")
    asyncio.run(joined.chunks(b"ab" + b"c" * 11, [2, 0, 11]))
    joined.write(b"0\r\n\r\n")
    assert transport.written == []
    joined.end()

    assert transport.written == [b"head 2\r\nab\r\nb\r\nccccccccccc\r\n0\r\n\r\n"]
    assert answer.transport is transport
    assert joined.get_extra_info("peername") == "peername"


def test_a_long_answer_is_written_in_parts_and_waits_for_a_slow_client() -> None:
    answer = Answer()
    joined, transport = made(answer)
    asyncio.run(joined.chunks(b"x" * 160_000, [40_000] * 4))

    assert [len(data) for data in transport.written] == [2 * 40_008] * 2
    assert answer.flow.drained == 2


def test_a_close_comes_after_what_was_collected() -> None:
    joined, transport = made(Answer())
    joined.write(b"last")
    joined.close()

    assert transport.written == [b"last", b"closed"]


def test_nothing_is_written_for_a_client_that_has_left() -> None:
    answer = Answer()
    joined, transport = made(answer)
    answer.disconnected = True
    asyncio.run(joined.chunks(b"a", [1]))
    joined.end()

    assert transport.written == []


@pytest.mark.parametrize("chunked", [None, False])
def test_a_body_with_a_length_has_no_chunks(chunked: bool | None) -> None:
    assert not made(Answer(chunked))[0].takes_chunks


def test_another_server_is_left_alone() -> None:
    async def send(message: object) -> None:
        """Nothing."""

    assert JoinedWrites.of(send) is None
