"""Tests of agents with tool servers, under the mark: what goes between them is in the test's cassette, once."""

import asyncio
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import fastmcp
import mcp.client.client
import mcp.server.mcpserver
import pytest
import uvicorn
from plugin_project import taken_away, write
from waiting import eventually

from turntape.cassettes import Cassette
from turntape.inspector.tools.tool_messages import tool_messages
from turntape.proxy.scripted import ScriptedServer

pytest_plugins = ("pytester",)

KEPT = (fastmcp, mcp.client.client, mcp.server.mcpserver)
"""As in `plugin_project`."""

IN_PROCESS = """
import pytest
from mcp.client.client import Client
from mcp.server.mcpserver import MCPServer

tools = MCPServer("counter")

@tools.tool()
def add(a: int, b: int) -> int:
    return a + b

@pytest.mark.turntape
def test_add():
    async def use():
        async with Client(tools) as client:
            return (await client.call_tool("add", {"a": 1, "b": 2})).structured_content
    assert ask("add") and asyncio.run(use()) == {"result": 3}
"""

OVER_HTTP = """
import pytest
from mcp.client.client import Client

@pytest.mark.turntape
def test_add():
    async def use():
        async with Client(os.environ["TOOLS"]) as client:
            return (await client.call_tool("add", {"a": 1, "b": 2})).structured_content
    assert ask("add") and asyncio.run(use()) == {"result": 3}
"""


def tape(project: pytest.Pytester) -> Cassette:
    (path,) = project.path.rglob("*.cassette.jsonl")
    return Cassette.load(path)


@pytest.mark.parametrize("mode", ["once", "new", "all"])
def test_a_tool_server_in_process_is_recorded_beside_the_llm(
    mode: str, project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, IN_PROCESS)
    for _ in range(2):
        project.runpytest(f"--turntape-mode={mode}").assert_outcomes(passed=1)

    recorded = tape(project)
    assert [one.server for one in recorded.tool_servers.values()] == ["counter"]
    assert [trip.route for trip in recorded].count(None) == 1
    calls = [one.params["arguments"] for one in tool_messages(recorded) if one.method == "tools/call"]
    assert calls == [{"a": 1, "b": 2}]

    taken_away(server, monkeypatch)
    before = len(recorded)
    project.runpytest("--turntape-check").assert_outcomes(passed=1)
    assert len(tape(project)) == before


@contextmanager
def serving() -> Generator[str]:
    tools = fastmcp.FastMCP("counter")

    @tools.tool
    def add(a: int, b: int) -> int:
        return a + b

    settings = uvicorn.Config(tools.http_app(), log_level="error", port=0, timeout_graceful_shutdown=1, ws="none")
    running: Any = uvicorn.Server(settings)
    thread = threading.Thread(target=lambda: asyncio.run(running.serve()), daemon=True)
    thread.start()
    eventually(lambda: running.started)
    try:
        yield f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}/mcp"
    finally:
        running.should_exit = True
        thread.join(timeout=30)


def test_a_tool_server_over_http_is_recorded_as_it_goes_over_http_and_not_twice(
    project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, OVER_HTTP)
    with serving() as url:
        monkeypatch.setenv("TOOLS", url)
        project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)

    recorded = tape(project)
    assert recorded.tool_servers == {}
    asked = [one.method for one in tool_messages(recorded) if one.sender == "client"]
    assert sorted(filter(None, asked)) == ["server/discover", "tools/call", "tools/list"]

    taken_away(server, monkeypatch)
    project.runpytest().assert_outcomes(passed=1)
