"""The recorder's end of the link, with sockets."""

import asyncio
import os
import stat
from pathlib import Path

import pytest

from turntape.cassettes import Cassette, Recorder
from turntape.proxy.tool_wire import frames, link_server
from turntape.proxy.tool_wire.frames import encode
from turntape.proxy.tool_wire.identity import end_fields, start_fields
from turntape.proxy.tool_wire.link_server import LinkServer

pytestmark = pytest.mark.anyio
CALL = b'{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"add"}}\n'
END = encode(frames.END, 3.0, end_fields(0, None, "client"))


async def wrapper(server: LinkServer, name: str, *data: bytes) -> asyncio.StreamWriter:
    """A connected wrapper that has sent `data`."""
    address = server.address
    assert address
    if address.path:
        _, writer = await asyncio.open_unix_connection(address.path)
    else:
        _, writer = await asyncio.open_connection("127.0.0.1", address.port)
    writer.write(encode(frames.START, 1.0, start_fields(["x"], name, None, 1, address.token)))
    writer.write(encode(frames.CLIENT, 2.0, b"".join(data)))
    await writer.drain()
    return writer


async def until_calls(server: LinkServer, number: int) -> None:
    while server.calls < number:  # noqa: ASYNC110 - the server has no event for tests
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("unix", [True, False])
async def test_two_wrappers_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unix: bool) -> None:
    monkeypatch.setattr(link_server, "HAS_UNIX_SOCKETS", unix and os.name == "posix")
    path = tmp_path / "x.cassette.jsonl"
    with Recorder(path) as recorder:
        server = LinkServer(recorder, run="r")
        address = await server.start()
        assert str(address).startswith("unix:" if unix else "tcp:127.0.0.1:")
        writers = [await wrapper(server, name, CALL) for name in ("a", "b")]
        await until_calls(server, 2)
        for writer in writers:
            writer.write(END)
            writer.close()
        await server.close()

    cassette = Cassette.load(path)
    assert (server.calls, server.problems) == (2, [])
    assert {one.server: (one.exit, one.run) for one in cassette.tool_servers.values()} == {"a": (0, "r"), "b": (0, "r")}


async def test_a_wrapper_that_was_killed_leaves_its_call_cut(tmp_path: Path) -> None:
    path = tmp_path / "x.cassette.jsonl"
    with Recorder(path) as recorder:
        server = LinkServer(recorder)
        await server.start()
        writer = await wrapper(server, "a", CALL)
        await until_calls(server, 1)
        writer.transport.abort()
        await server.close()

    (call,) = Cassette.load(path)
    assert call.failure and call.failure.kind == "cut"


async def test_a_wrapper_that_does_not_end_is_cut_at_the_end_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "x.cassette.jsonl"
    with Recorder(path) as recorder:
        server = LinkServer(recorder)
        await server.start()
        writer = await wrapper(server, "a", CALL)
        await until_calls(server, 1)
        await server.close(patience=0.01)
        writer.close()

    (call,) = Cassette.load(path)
    assert call.failure and call.failure.kind == "cut"
    assert server.calls == 1


async def test_a_wrapper_that_has_come_and_gone_before_we_looked_is_recorded(tmp_path: Path) -> None:
    path = tmp_path / "x.cassette.jsonl"
    with Recorder(path) as recorder:
        server = LinkServer(recorder)
        address = await server.start()
        with address.connect() as quick:  # the loop does not run meanwhile
            start = encode(frames.START, 1.0, start_fields(["x"], "a", None, 1, address.token))
            quick.sendall(start + encode(frames.CLIENT, 2.0, CALL) + END)
        await server.close()

    assert server.calls == 1
    assert [one.exit for one in Cassette.load(path).tool_servers.values()] == [0]


async def test_a_long_wait_is_announced_with_the_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_server, "QUIET", 0.01)
    said: list[list[str]] = []
    with Recorder(tmp_path / "x.cassette.jsonl") as recorder:
        server = LinkServer(recorder)
        await server.start()
        writers = [await wrapper(server, name, CALL) for name in ("b", "a")]
        await until_calls(server, 2)
        await server.close(patience=0.02, waiting=said.append)
        for writer in writers:
            writer.close()

    assert said == [["a", "b"]]


async def test_hurry_ends_the_wait_for_wrappers(tmp_path: Path) -> None:
    with Recorder(tmp_path / "x.cassette.jsonl") as recorder:
        server = LinkServer(recorder)
        await server.start()
        writer = await wrapper(server, "a", CALL)
        await until_calls(server, 1)
        await asyncio.to_thread(server.hurry)
        await asyncio.wait_for(server.close(patience=3600), 60)
        writer.close()


async def test_only_the_owner_can_reach_the_socket_and_it_is_removed(tmp_path: Path) -> None:
    with Recorder(tmp_path / "x.cassette.jsonl") as recorder:
        server = LinkServer(recorder)
        address = await server.start()
        folder = Path(address.path).parent
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        await server.close()

    assert not folder.exists()


async def test_a_long_folder_for_temporary_files_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = tmp_path / ("x" * 100)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    with Recorder(tmp_path / "x.cassette.jsonl") as recorder:
        server = LinkServer(recorder)
        address = await server.start()
        await server.close()

    assert len(address.path) < 100
    assert list(long.iterdir()) == []
