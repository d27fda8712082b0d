"""Recorded tool servers answer the clients of the MCP SDK; no server runs."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import fastmcp
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp.server.mcpserver import Context, MCPServer

from turntape.cassettes import Cassette, Recorder
from turntape.cassettes.transports.mcp import recorded_tools
from turntape.cassettes.transports.mcp_played import played_tools


class Server:
    """Counts how often its tools ran."""

    def __init__(self, name: str = "counter") -> None:
        self.ran = 0
        self.app = MCPServer(name)

        @self.app.tool()
        async def add(a: int, b: int, context: Context) -> int:
            self.ran += 1
            await context.report_progress(1, 2)
            return a + b


async def use(client: Any, expected: object = 3, **arguments: int) -> None:
    seen: list[float] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        seen.append(done)

    assert [tool.name for tool in (await client.list_tools()).tools] == ["add"]
    done = await client.call_tool("add", arguments or {"a": 1, "b": 2}, progress_callback=progress)
    assert (done.structured_content or {}).get("result") == expected
    assert seen == ([] if done.is_error else [1])


async def in_memory(server: MCPServer, mode: str, expected: object = 3, **arguments: int) -> None:
    async with Client(server, mode=mode) as client:
        await use(client, expected, **arguments)


def recorded(tape: Path, *servers: Server, mode: str = "auto") -> None:
    async def run() -> None:
        for server in servers:
            await in_memory(server.app, mode)

    with Recorder(tape) as recorder, recorded_tools(recorder):
        asyncio.run(run())


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    return tmp_path / "run.cassette.jsonl"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_server_in_memory_is_played_and_does_not_run(mode: str, tape: Path) -> None:
    server = Server()
    recorded(tape, server, mode=mode)
    before = (ClientSession.__init__, server.ran)

    with played_tools(Cassette.load(tape)) as player:
        asyncio.run(in_memory(server.app, mode))

    assert (ClientSession.__init__, server.ran) == before
    assert len(player.played) == 1 and player.unplayed == []


def test_a_program_that_is_gone_is_played_over_stdio(tape: Path) -> None:
    recorded(tape, Server(), mode="legacy")

    async def run() -> None:
        parameters = StdioServerParameters(command="no-such-program", args=["x"], cwd="/no/such/folder")
        async with stdio_client(parameters) as (reading, writing), ClientSession(reading, writing) as client:
            assert (await client.initialize()).server_info.name == "counter"
            await use(client)

    with played_tools(Cassette.load(tape)) as player:
        asyncio.run(run())
    assert player.unplayed == [] and player.misses == []


def test_fastmcps_client_is_played_too(tape: Path) -> None:
    tools = fastmcp.FastMCP("fast")
    ran: list[int] = []

    @tools.tool
    def add(a: int, b: int) -> int:
        ran.append(a)
        return a + b

    async def run() -> None:
        async with fastmcp.Client(tools) as client:
            assert (await client.call_tool("add", {"a": 1, "b": 2})).data == 3

    with Recorder(tape) as recorder, recorded_tools(recorder):
        asyncio.run(run())
    with played_tools(Cassette.load(tape)):
        asyncio.run(run())
    assert ran == [1]


def test_a_call_that_was_not_recorded_is_a_miss_with_the_argument(tape: Path) -> None:
    server = Server()
    recorded(tape, server)

    with played_tools(Cassette.load(tape)) as player:
        asyncio.run(in_memory(server.app, "auto", None, a=1, b=5))

    assert server.ran == 1
    (miss,) = player.misses
    assert "/b" in str(miss)


def test_each_session_plays_its_own_recording(tape: Path) -> None:
    one, other = Server("one"), Server("other")
    recorded(tape, one, other, mode="legacy")

    async def names() -> list[str]:
        found: list[str] = []
        for _ in range(2):
            async with Client(one.app, mode="legacy") as client:
                assert client.server_info is not None
                found.append(client.server_info.name)
        return found

    with played_tools(Cassette.load(tape)):
        assert asyncio.run(names()) == ["one", "other"]


def test_without_a_recording_the_client_gets_an_error(tape: Path) -> None:
    with Recorder(tape):
        pass
    with (
        played_tools(Cassette.load(tape)) as player,
        pytest.raises(ExceptionGroup),
    ):
        asyncio.run(in_memory(Server().app, "legacy"))
    assert any("initialize" in sentence for sentence in player.unknown)


def test_the_idle_process_is_not_the_program(tape: Path) -> None:
    assert sys.executable  # the idle process is this Python
    recorded(tape, Server(), mode="legacy")
    from mcp.client import stdio

    start = stdio._create_platform_compatible_process
    with played_tools(Cassette.load(tape)):
        assert stdio._create_platform_compatible_process is not start
    assert stdio._create_platform_compatible_process is start
