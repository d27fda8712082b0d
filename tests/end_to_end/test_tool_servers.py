"""Real MCP servers with a real client, alone and behind the wrapper: the client gets the same, and the tape has it.

The servers of npm are looked for on PATH and in TURNTAPE_TEST_NODE_MODULES, a `node_modules` folder.
"""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from turntape.cassettes import Cassette
from turntape.cassettes.tape.lock import being_written
from turntape.inspector.tools.tool_messages import tool_messages

pytest.importorskip("mcp")
pytestmark = [pytest.mark.anyio, pytest.mark.skipif(os.name != "posix", reason="the POSIX side of the wrapper")]
ADDER = """
from mcp.server.fastmcp import FastMCP
server = FastMCP("adder")
@server.tool()
def add(a: int, b: int) -> int:
    return a + b
server.run()
"""


def program(name: str) -> list[str]:
    """An npm package's program; skips the test where it is not installed."""
    folder = os.environ.get("TURNTAPE_TEST_NODE_MODULES", "")
    found = shutil.which(name) or shutil.which(name, path=str(Path(folder) / ".bin") if folder else "")
    if found is None:
        pytest.skip(f"{name} is not installed")
    return [found]


def adder() -> list[str]:
    try:
        import mcp.server.fastmcp  # noqa: F401
    except ImportError:
        try:
            import fastmcp  # noqa: F401
        except ImportError:
            pytest.skip("no FastMCP is installed")
        return [sys.executable, "-c", ADDER.replace("mcp.server.fastmcp", "fastmcp").replace("tool()", "tool")]
    return [sys.executable, "-c", ADDER]


async def talk(command: list[str], calls: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    """What the client gets: the tools, then each result."""
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    parameters = StdioServerParameters(command=command[0], args=command[1:])
    async with stdio_client(parameters) as (reader, writer), ClientSession(reader, writer) as session:
        await session.initialize()
        got: list[Any] = [sorted(tool.name for tool in (await session.list_tools()).tools)]
        for name, arguments in calls:
            got.append((await session.call_tool(name, arguments)).model_dump(mode="json"))
    return got


@pytest.mark.parametrize("name", ["adder", "everything", "filesystem"])
async def test_the_client_gets_the_same_and_the_tape_has_it(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello\n" * 20_000)
    command, calls = {
        "adder": lambda: (adder(), [("add", {"a": 1, "b": 2})]),
        "everything": lambda: (program("mcp-server-everything"), [("echo", {"message": "h\u00e9\u2028llo"})]),
        "filesystem": lambda: (
            [*program("mcp-server-filesystem"), str(tmp_path)],
            [("read_text_file", {"path": str(tmp_path / "a.txt")}), ("read_text_file", {"path": "/not/allowed"})],
        ),
    }[name]()
    tape = tmp_path / "t.cassette.jsonl"
    wrapper = [sys.executable, "-m", "turntape.proxy.cli", "mcp", "--name", name, "-o", str(tape), "--"]

    alone = await talk(command, calls)
    wrapped = await talk([*wrapper, *command], calls)

    assert wrapped == alone
    while being_written(tape):
        pass
    cassette = Cassette.load(tape)
    called = [trip for trip in cassette if json.loads(trip.request.body).get("method") == "tools/call"]
    assert [json.loads(trip.request.body)["params"]["arguments"] for trip in called] == [one for _, one in calls]
    assert all(trip.response and trip.failure is None for trip in called)
    assert [server.server for server in cassette.tool_servers.values()] == [name]
    assert {message.sender for message in tool_messages(cassette)} == {"client", "server"}
