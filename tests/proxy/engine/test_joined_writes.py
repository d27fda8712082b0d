"""What one event writes goes out in one piece, in order, and nothing is held back."""

import asyncio
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest
from end_to_end.loops import rig
from mitmproxy.connection import Client, Connection, Server
from mitmproxy.test import tflow

from turntape.proxy.engine import joined_writes
from turntape.proxy.engine.joined_writes import JoinedWrites
from turntape.proxy.layers import http1
from turntape.proxy.layers.at_once import note_whole


class Writer:
    """A stream writer that notes what is done to it."""

    def __init__(self) -> None:
        self.done: list[object] = []
        self.closing = False

    def write(self, data: bytes) -> None:
        self.done.append(data)

    def write_eof(self) -> None:
        self.done.append("eof")

    def close(self) -> None:
        self.done.append("close")

    async def drain(self) -> None:
        self.done.append("drain")

    def is_closing(self) -> bool:
        return self.closing

    def get_extra_info(self, name: str) -> str:
        return name


def joined(connection: Connection | None = None) -> tuple[JoinedWrites, Writer]:
    """A writer that is flushed when the loop turns, as by the handler when an event is over."""
    writer = Writer()

    def when_written(one: JoinedWrites) -> None:
        asyncio.get_running_loop().call_soon(one.flush)

    return JoinedWrites(cast(Any, writer), connection or tflow.tclient_conn(), when_written), writer


def test_what_is_written_before_the_caller_waits_is_one_piece() -> None:
    async def write() -> list[object]:
        one, writer = joined()
        for piece in (b"a", b"b", b"c"):
            one.write(piece)
        assert writer.done == []
        await one.drain()
        one.write(b"d")
        await one.drain()
        return writer.done

    assert asyncio.run(write()) == [b"abc", "drain", b"d", "drain"]


def test_a_long_piece_goes_out_alone_after_what_was_written_before() -> None:
    async def write() -> list[object]:
        one, writer = joined()
        for piece in (b"a", b"b", b"c" * (1 << 16), b"d"):
            one.write(piece)
        await one.drain()
        return writer.done

    assert asyncio.run(write()) == [b"ab", b"c" * (1 << 16), b"d", "drain"]


def test_who_does_not_wait_sends_when_the_event_is_over() -> None:
    async def write() -> list[object]:
        one, writer = joined()
        one.write(b"a")
        one.write(b"b")
        await asyncio.sleep(0)
        return writer.done

    assert asyncio.run(write()) == [b"ab"]


def test_what_is_whole_goes_out_at_once_and_what_follows_does_not() -> None:
    async def write() -> list[object]:
        client = tflow.tclient_conn()
        one, writer = joined(client)
        one.write(b"head")
        note_whole(client)
        one.write(b"event")
        assert writer.done == [b"headevent"]
        one.write(b"end")
        assert writer.done == [b"headevent"]
        await asyncio.sleep(0)
        return writer.done

    assert asyncio.run(write()) == [b"headevent", b"end"]


def test_that_a_long_piece_is_whole_does_not_hold_for_the_next_one() -> None:
    async def write() -> list[object]:
        client = tflow.tclient_conn()
        one, writer = joined(client)
        note_whole(client)
        one.write(b"b" * (1 << 16))
        one.write(b"head")
        one.write(b"body")
        await asyncio.sleep(0)
        return writer.done

    assert asyncio.run(write()) == [b"b" * (1 << 16), b"headbody"]


@pytest.mark.parametrize("stream", [True, False])
def test_a_request_and_each_part_of_its_answer_go_out_at_once(
    stream: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted: list[type[Connection]] = []
    monkeypatch.setattr(http1, "note_whole", lambda one: (noted.append(type(one)), note_whole(one)))
    asked = {"model": "gpt-5", "stream": stream, "messages": [{"role": "user", "content": "go"}]}
    with (
        rig(tmp_path / "a.cassette.jsonl", tmp_path / "conf") as up,
        httpx2.Client(trust_env=False, timeout=None) as http,
    ):
        http.post(f"{up.base}/openai/v1/chat/completions", json=asked)

    assert noted[:2] == [Server, Client] and noted.count(Server) == 1
    assert len(noted) > 2 if stream else len(noted) == 2


@pytest.mark.parametrize(("end", "name"), [("write_eof", "eof"), ("close", "close")])
def test_the_end_comes_after_what_was_written(end: str, name: str) -> None:
    async def write() -> list[object]:
        one, writer = joined()
        one.write(b"a")
        getattr(one, end)()
        await asyncio.sleep(0)
        return writer.done

    assert asyncio.run(write()) == [b"a", name]


def test_nothing_is_written_to_a_connection_that_closes() -> None:
    async def write() -> list[object]:
        one, writer = joined()
        one.write(b"a")
        writer.closing = True
        await asyncio.sleep(0)
        assert one.is_closing() and one.get_extra_info("peername") == "peername"
        return writer.done

    assert asyncio.run(write()) == []


def test_a_broken_connection_is_reported_by_the_task_that_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error here would cancel that task, and while it reports the end, the end would be lost."""

    async def drain() -> None:
        one, writer = joined()

        async def broken() -> None:
            raise ConnectionResetError

        monkeypatch.setattr(writer, "drain", broken)
        await one.drain()
        await one.drain()
        monkeypatch.setattr(joined_writes, "_TO_REPORT", 0.0)
        with pytest.raises(ConnectionResetError):
            await one.drain()

    asyncio.run(drain())
