"""Real clients of the MCP SDK and of fastmcp: what they say in process is on the tape."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import fastmcp
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.memory import create_client_server_memory_streams

from turntape.cassettes import Cassette, Recorder, RoundTrip
from turntape.cassettes.transports.mcp import recorded_tools
from turntape.inspector.tools.tool_messages import ToolMessage, tool_messages

type Use = Callable[[], Awaitable[None]]


def server() -> MCPServer:
    tools = MCPServer("counter")

    @tools.tool()
    def add(a: int, b: int) -> int:
        return a + b

    @tools.tool()
    async def steps(context: Context) -> str:
        await context.report_progress(1, 2)
        return "done"

    @tools.tool()
    async def ask(context: Context) -> str:
        return str(len((await context.session.list_roots()).roots))

    return tools


def fast() -> fastmcp.FastMCP:
    tools = fastmcp.FastMCP("counter")

    @tools.tool
    def add(a: int, b: int) -> int:
        return a + b

    @tools.tool
    async def steps(context: fastmcp.Context) -> str:
        await context.report_progress(1, 2)
        return "done"

    return tools


async def seen(progress: float, total: float | None, message: str | None) -> None:
    assert (progress, total) == (1, 2)


async def use(client: Any) -> None:
    assert "add" in {tool.name for tool in (await client.list_tools()).tools}
    assert (await client.call_tool("add", {"a": 1, "b": 2})).structured_content == {"result": 3}
    assert (await client.call_tool("steps", {}, progress_callback=seen)).content[0].text == "done"


async def over_streams() -> None:
    async with Client(server(), mode="legacy") as client:
        await use(client)


async def without_streams() -> None:
    async with Client(server()) as client:
        await use(client)


async def with_fastmcp() -> None:
    async with fastmcp.Client(fast()) as client:
        assert {tool.name for tool in await client.list_tools()} == {"add", "steps"}
        assert (await client.call_tool("add", {"a": 1, "b": 2})).data == 3
        assert (await client.call_tool("steps", {}, progress_handler=seen)).data == "done"


SERVER = """
from mcp.server.mcpserver import Context, MCPServer
tools = MCPServer("counter")
@tools.tool()
def add(a: int, b: int) -> int:
    return a + b
@tools.tool()
async def steps(context: Context) -> str:
    await context.report_progress(1, 2)
    return "done"
tools.run()
"""


async def over_stdio() -> None:
    parameters = StdioServerParameters(command=sys.executable, args=["-c", SERVER])
    async with stdio_client(parameters) as (reading, writing), ClientSession(reading, writing) as client:
        await client.initialize()
        await use(client)


def recorded(tape: Path, use: Use, run: str | None = None) -> tuple[list[RoundTrip], list[ToolMessage]]:
    with Recorder(tape) as recorder, recorded_tools(recorder, run=run):
        asyncio.run(use())  # type: ignore[arg-type]
    trips = list(Cassette.load(tape))
    return trips, list(tool_messages(trips))


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    return tmp_path / "run.cassette.jsonl"


@pytest.mark.parametrize("connected", [over_streams, without_streams, with_fastmcp, over_stdio])
def test_whatever_a_client_is_connected_with_is_recorded(connected: Use, tape: Path) -> None:
    trips, messages = recorded(tape, connected, "night")

    assert {(trip.route, trip.run, trip.failure, trip.request.url) for trip in trips} == {
        ("process", "night", None, "process://counter")
    }
    (named,) = Cassette.load(tape).tool_servers.values()
    assert (named.server, named.transport, named.closed_first) == ("counter", "process", "client")
    assert named.started_at is not None and named.ended_at is not None
    assert {(one.session, one.server) for one in messages} == {(named.session, "counter")}
    assert [one.sequence for one in messages] == list(range(len(messages)))
    calls = [one for one in messages if one.method == "tools/call"]
    assert [one.params["arguments"] for one in calls] == [{"a": 1, "b": 2}, {}]
    done = {one.answers: one.result for one in messages if one.is_answer}
    assert [(done[one.sequence] or {})["structuredContent"]["result"] for one in calls] == [3, "done"]  # type: ignore[index]
    (progress,) = [one for one in messages if one.method == "notifications/progress"]
    assert progress.params["progressToken"] == calls[1].params["_meta"]["progressToken"]  # type: ignore[index]
    assert (progress.sender, progress.params["progress"]) == ("server", 1)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_an_error_of_the_server_is_an_answer(mode: str, tape: Path) -> None:
    async def ask() -> None:
        async with Client(server(), mode=mode) as client:
            with pytest.raises(Exception, match="(?i)unknown|found"):
                await client.read_resource("nothing://here")

    _, messages = recorded(tape, ask)
    asked = next(one for one in messages if one.method == "resources/read")
    (error,) = [one.error for one in messages if one.answers == asked.sequence]
    assert error is not None and isinstance(error["code"], int) and "here" in str(error["message"])


@pytest.mark.filterwarnings("ignore:The roots capability is deprecated")
def test_what_a_server_asks_is_recorded_with_the_clients_answer(tape: Path) -> None:
    async def roots(context: Any) -> Any:
        return import_module("mcp_types").ListRootsResult(roots=[])

    async def ask() -> None:
        async with Client(server(), mode="legacy", list_roots_callback=roots) as client:
            asked: Any = await client.call_tool("ask", {})
            assert asked.content[0].text == "0"

    _, messages = recorded(tape, ask)
    (asked,) = [one for one in messages if one.method == "roots/list"]
    (answer,) = [one for one in messages if one.sender == "client" and one.is_answer]
    assert (asked.sender, answer.answers, answer.result) == ("server", asked.sequence, {"roots": []})


def test_a_call_that_has_no_answer_when_the_client_leaves_is_kept(tape: Path) -> None:
    async def leave() -> None:
        async with create_client_server_memory_streams() as (mine, theirs), ClientSession(*mine) as client:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await client.initialize()
            await theirs[0].aclose()

    trips, messages = recorded(tape, leave)
    assert [one.method for one in messages][:1] == ["initialize"]
    assert trips[-1].failure is not None or trips[0].failure is not None
    assert Cassette.load(tape).tool_servers


def test_a_server_that_closes_its_side_has_closed_first(tape: Path) -> None:
    async def end() -> None:
        async with create_client_server_memory_streams() as (mine, theirs), ClientSession(*mine) as client:
            asked = asyncio.create_task(client.initialize())
            await theirs[0].receive()
            await theirs[1].aclose()
            with pytest.raises(Exception, match="closed"):
                await asked

    trips, _ = recorded(tape, end)
    assert trips[0].failure is not None and trips[0].failure.kind == "cut"
    assert [one.closed_first for one in Cassette.load(tape).tool_servers.values()] == ["server"]


def test_after_the_context_nothing_is_recorded_and_nothing_is_patched(tape: Path) -> None:
    module: ModuleType = import_module("mcp.client.session")
    before = (module.ClientSession.__init__, module.ClientSession.__aexit__)

    async def leave_early() -> None:
        with Recorder(tape) as recorder:
            inside = recorded_tools(recorder)
            inside.__enter__()
            async with Client(server()) as client:
                await client.call_tool("add", {"a": 1, "b": 2})
                inside.__exit__(None, None, None)
                await client.call_tool("add", {"a": 3, "b": 4})

    asyncio.run(leave_early())

    assert (module.ClientSession.__init__, module.ClientSession.__aexit__) == before
    messages = list(tool_messages(Cassette.load(tape)))
    assert [one.params["arguments"] for one in messages if one.method == "tools/call"] == [{"a": 1, "b": 2}]


def test_a_session_that_goes_over_http_is_left_to_http(tape: Path) -> None:
    async def ask() -> None:
        with Recorder(tape) as recorder, recorded_tools(recorder) as sessions:
            async with create_client_server_memory_streams() as (mine, theirs), ClientSession(*mine) as client:
                asked = asyncio.create_task(client.initialize())
                first: Any = await theirs[0].receive()
                message = first.message.model_dump_json(by_alias=True, exclude_unset=True)
                sessions.goes_over_http(b"{}")
                sessions.goes_over_http(message.encode())
                asked.cancel()
            async with Client(server()) as other:
                sessions.goes_over_http(message.encode())
                await other.list_tools()

    asyncio.run(ask())
    assert {one.method for one in tool_messages(Cassette.load(tape))} == {"server/discover", "tools/list", None}


LATE = """
import asyncio, sys
from turntape.cassettes import Cassette, Recorder
from turntape.cassettes.transports.mcp import recorded_tools

async def ask():
    from mcp.client.client import Client
    from mcp.server.mcpserver import MCPServer
    async with Client(MCPServer("late")) as client:
        await client.list_tools()

with Recorder(sys.argv[1]) as recorder, recorded_tools(recorder):
    assert "mcp" not in sys.modules
    asyncio.run(ask())
print([one.server for one in Cassette.load(sys.argv[1]).tool_servers.values()], len(sys.meta_path))
"""


def test_the_sdk_may_be_imported_later(tape: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LATE, str(tape)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("['late']")
