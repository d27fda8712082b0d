"""Tests of agents with tool servers, under the mark: what goes between them is in the test's cassette, once."""

import asyncio
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import fastmcp
import genai_prices.data
import mcp.client.client
import mcp.client.stdio
import mcp.server.mcpserver
import pytest
import uvicorn
from plugin_project import taken_away, write
from waiting import eventually

from turntape.cassettes import Cassette, Recorder
from turntape.inspector.tools.tool_messages import tool_messages
from turntape.proxy.scripted import ScriptedServer

pytest_plugins = ("pytester",)

KEPT = (fastmcp, genai_prices.data, mcp.client.client, mcp.client.stdio, mcp.server.mcpserver)
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

IN_A_FIXTURE = """
import threading
import pytest
from mcp.client.client import Client
from mcp.server.mcpserver import MCPServer

tools = MCPServer("counter")

@tools.tool()
def add(a: int, b: int) -> int:
    assert "AWAY" not in os.environ
    return a + b

class Held:
    def __init__(self):
        self.loop, self.ready = asyncio.new_event_loop(), threading.Event()
        self.thread = threading.Thread(target=lambda: self.loop.run_until_complete(self.hold()))
        self.thread.start()
        self.ready.wait(30)

    async def hold(self):
        self.left = asyncio.Event()
        async with Client(tools) as self.client:
            await self.client.list_tools()
            self.ready.set()
            await self.left.wait()

    def add(self, a, b):
        said = asyncio.run_coroutine_threadsafe(self.client.call_tool("add", {"a": a, "b": b}), self.loop)
        return said.result(30).structured_content["result"]

@pytest.fixture(scope="session")
def held():
    held = Held()
    yield held
    held.loop.call_soon_threadsafe(held.left.set)
    held.thread.join(30)
    held.loop.close()

@pytest.mark.turntape
@pytest.mark.parametrize("a", [1, 2])
def test_add(held, a):
    assert ask(f"add {a}") and [held.add(a, 2), held.add(a, 3)] == [a + 2, a + 3]
"""

OVER_HTTP = """
import pytest
from mcp.client.client import Client

@pytest.mark.turntape
def test_add():
    async def use():
        async with Client(os.environ["TOOLS"]) as client:
            b = int(os.environ.get("B", "2"))
            return (await client.call_tool("add", {"a": 1, "b": b})).structured_content
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


def test_restamp_writes_the_changed_prompt_and_keeps_what_the_tool_server_said(
    project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, IN_PROCESS)
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    taken_away(server, monkeypatch)
    before = tape(project)

    write(project, IN_PROCESS.replace('ask("add")', 'ask("plus")'))
    failed = project.runpytest()
    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines(["*--turntape-mode=restamp*"])
    project.runpytest("--turntape-mode=restamp").assert_outcomes(passed=1)
    project.runpytest("--turntape-check").assert_outcomes(passed=1)
    after = tape(project)
    assert after.tool_servers == before.tool_servers and len(after) == len(before)
    changed = [one.index for one, other in zip(before, after, strict=True) if one.request.body != other.request.body]
    assert [b"plus" in after[place].request.body for place in changed] == [True]
    assert [trip.response for trip in after] == [trip.response for trip in before]

    write(project, IN_PROCESS.replace('ask("add")', 'ask("sum")').replace('"b": 2', '"b": 5'))
    project.runpytest("--turntape-mode=restamp").assert_outcomes(failed=1)
    assert [trip.request for trip in tape(project)] == [trip.request for trip in after]


def test_a_session_that_a_fixture_opens_is_recorded_and_played_in_each_test(
    project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, IN_A_FIXTURE)
    project.runpytest("--turntape-mode=once", "-k", "1").assert_outcomes(passed=1, deselected=1)
    failed = project.runpytest("--turntape-mode=once", "-k", "2")  # the fixture is played, so no server runs
    failed.assert_outcomes(failed=1, deselected=1)
    failed.stdout.fnmatch_lines(["*server counter was opened by a fixture*cannot be recorded*--turntape-mode=all*"])
    project.runpytest("--turntape-mode=all").assert_outcomes(passed=2)

    said = {
        path.name.partition(".cassette")[0]: [
            one.method for one in tool_messages(Cassette.load(path)) if one.is_request
        ]
        for path in project.path.rglob("*.cassette.jsonl")
    }
    assert said.pop("held.setup")[-1] == "tools/list"
    assert list(said.values()) == [["tools/call", "tools/call"]] * 2

    taken_away(server, monkeypatch)
    monkeypatch.setenv("AWAY", "1")
    project.runpytest("--turntape-check", "-n", "2").assert_outcomes(passed=2)

    write(project, IN_A_FIXTURE.replace("held.add(a, 3)]", "held.add(a, 4) - 1]"))
    changed = project.runpytest("--turntape-check", "-k", "1")
    changed.assert_outcomes(failed=1, deselected=1)
    changed.stdout.fnmatch_lines(["*the tool add of the server counter*where /b was 3 and is 4*"])


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


SERVER = """
import pathlib, sys
from mcp.server.mcpserver import MCPServer

tools = MCPServer("counter")

@tools.tool()
def add(a: int, b: int) -> int:
    with open("ran.txt", "a") as file:
        file.write("x")
    return a + b
"""

PROGRAM = """
import json, sys

NUMBER = {"type": "integer"}
TOOL = {
    "name": "add",
    "inputSchema": {"type": "object", "properties": {"a": NUMBER, "b": NUMBER}, "required": ["a", "b"]},
    "outputSchema": {"type": "object", "properties": {"result": NUMBER}, "required": ["result"]},
}

def answer(method, params):
    if method == "initialize":
        info = {"name": "counter", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [TOOL]}
    with open("ran.txt", "a") as file:
        file.write("x")
    result = params["arguments"]["a"] + params["arguments"]["b"]
    return {"content": [{"type": "text", "text": str(result)}], "structuredContent": {"result": result}}

for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        answered = {"jsonrpc": "2.0", "id": asked["id"], "result": answer(asked["method"], asked.get("params"))}
        print(json.dumps(answered), flush=True)
"""
"""The same tool over stdio, without the time that an SDK takes to start."""

USES = """
import fastmcp, mcp
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from tools_code import tools

fast = fastmcp.FastMCP("counter")
fast.tool(tools._tool_manager.get_tool("add").fn)

async def in_memory(b):
    async with Client(tools) as client:
        return (await client.call_tool("add", {"a": 1, "b": b})).structured_content

async def with_fastmcp(b):
    async with fastmcp.Client(fast) as client:
        done = await client.call_tool("add", {"a": 1, "b": b}, raise_on_error=False)
        return done.structured_content

async def over_stdio(b):
    server = mcp.StdioServerParameters(command=sys.executable, args=[os.environ["SERVER"]])
    async with stdio_client(server) as (reading, writing), mcp.ClientSession(reading, writing) as client:
        await client.initialize()
        return (await client.call_tool("add", {"a": 1, "b": b})).structured_content

def use(connected=None):
    connected = connected or globals()[os.environ.get("CONNECTED", "in_memory")]
    return [asyncio.run(connected(int(b))) for b in os.environ.get("B", "2").split()]
"""

WAYS = ["in_memory", "with_fastmcp", "over_stdio"]


@pytest.fixture
def tools(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project whose tool server says in ran.txt that it ran."""
    project.makepyfile(tools_code=SERVER, uses_code=f"from agent_code import *\n{USES}")
    monkeypatch.setenv("SERVER", str(project.makepyfile(program_code=PROGRAM)))
    return project


def ran(project: pytest.Pytester) -> int:
    path = project.path / "ran.txt"
    return len(path.read_text()) if path.exists() else 0


def project_file(project: pytest.Pytester, body: str, mark: str = "") -> None:
    write(
        project, f"from uses_code import use\n@pytest.mark.turntape({mark})\ndef test_it(turntape_run):\n    {body}\n"
    )


@pytest.mark.parametrize("connected", WAYS)
def test_a_replayed_test_gets_the_recorded_answers_and_no_server_runs(
    connected: str, tools: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONNECTED", connected)
    project_file(
        tools, "assert ask() and use() == [{'result': 3}] and [r.name for r in turntape_run.tool_runs] == ['add']"
    )
    tools.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    assert ran(tools) == 1

    taken_away(server, monkeypatch)
    monkeypatch.setenv("SERVER", "/no/such/program.py")
    for mode in ("none", "once"):
        tools.runpytest(f"--turntape-mode={mode}", "--turntape-check").assert_outcomes(passed=1)
    assert ran(tools) == 1


def test_recording_all_again_runs_the_server(tools: pytest.Pytester) -> None:
    project_file(tools, "use()")
    for count in (1, 2):
        tools.runpytest("--turntape-mode=all").assert_outcomes(passed=1)
        assert ran(tools) == count


@pytest.mark.parametrize("connected", WAYS)
def test_a_changed_argument_fails_the_test_that_ignored_the_error(
    connected: str, tools: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONNECTED", connected)
    project_file(tools, "use()")
    tools.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    monkeypatch.setenv("B", "5")

    result = tools.runpytest("--turntape-check")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*a request to a tool server was not recorded",
            "changed: no recorded call answers the tool add of the server counter: the nearest is #*, "
            "where /b was 2 and is 5; record again if the change is intended",
            "not called after that: the tool add of the server counter (#*)",
            "*stale: its test sends requests that it does not contain*",
        ]
    )
    assert ran(tools) == 1


def test_a_call_that_is_repeated_and_one_that_is_left_out_are_reported(
    tools: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    project_file(tools, "use()")
    monkeypatch.setenv("B", "2 3")
    tools.runpytest("--turntape-mode=once").assert_outcomes(passed=1)

    monkeypatch.setenv("B", "2")
    result = tools.runpytest("--turntape-check")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*a recorded tool call was not made",
            "not called: the tool add of the server counter (#*)",
            "*@pytest.mark.turntape(partial=True)*",
            "*stale: its test does not use every recorded turn*",
        ]
    )
    monkeypatch.setenv("B", "2 3 3")
    result = tools.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["extra: *the tool add of the server counter: it was recorded once*is called again"])

    monkeypatch.setenv("B", "2")
    project_file(tools, "use()", "partial=True")
    tools.runpytest().assert_outcomes(passed=1)
    assert ran(tools) == 2


def test_a_cassette_without_tool_servers_is_named_with_what_to_do(
    tools: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    project_file(tools, "ask()")
    tools.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    project_file(tools, "ask(); use()")

    result = tools.runpytest()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "the test uses a tool server (MCP), and the cassette '*test_it.cassette.jsonl' has none; record it with "
            '--turntape-mode=new, or let the server run with @pytest.mark.turntape(live_tools="[*]")'
        ]
    )
    assert ran(tools) == 0
    tools.runpytest("--turntape-mode=new").assert_outcomes(passed=1)
    tools.runpytest().assert_outcomes(passed=1)
    assert ran(tools) == 1


def test_without_a_cassette_the_tool_server_has_no_answer(tools: pytest.Pytester) -> None:
    project_file(tools, "use()")

    result = tools.runpytest()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "the cassette *does not exist, so the tool server (MCP) of the test has no answer; "
            "record one with the mode 'once', or let the server run with @pytest.mark.turntape(live_tools=\"[*]\")"
        ]
    )
    assert ran(tools) == 0


@pytest.mark.parametrize("connected", WAYS)
def test_the_servers_of_an_imported_cassette_run(
    connected: str, tools: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONNECTED", connected)
    project_file(tools, "assert ask()")
    tools.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    path = next(tools.path.rglob("*.cassette.jsonl"))
    trips = [replace(trip, route="import") for trip in Cassette.load(path)]
    path.unlink()
    with Recorder(path) as recorder:
        for trip in trips:
            recorder.write(trip)
    project_file(tools, "assert ask() and use() == [{'result': 3}]")
    taken_away(server, monkeypatch)

    for count in (1, 2):
        tools.runpytest().assert_outcomes(passed=1)
        assert ran(tools) == count


@pytest.mark.parametrize(
    ("named", "connected"), [*(("marker", way) for way in WAYS), ("ini", "in_memory"), ("all", "over_stdio")]
)
def test_a_named_server_runs_in_a_replay(
    named: str, connected: str, tools: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONNECTED", connected)
    marks = {"marker": "live_tools='counter'", "ini": "", "all": "live_tools=['*']"}
    project_file(tools, "assert ask() and use() == [{'result': 3}]", marks[named])
    if named == "ini":
        tools.makeini("[pytest]\nturntape_live_tools = other\n    counter\n")
    tools.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    tools.runpytest("--turntape-check").assert_outcomes(passed=1)
    assert ran(tools) == 2


def test_a_miss_over_http_names_the_tool_and_its_server(
    project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, OVER_HTTP)
    with serving() as url:
        monkeypatch.setenv("TOOLS", url)
        project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    monkeypatch.setenv("B", "5")

    result = project.runpytest()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*the call of the tool add of the server 127.0.0.1:*/mcp has changed (#2)",
            "*#2, /params/arguments/b",
            "*- 2",
            "*[+] 5",
        ]
    )
    result.stdout.no_fnmatch_line("*restamp*")
    project.runpytest("--turntape-mode=restamp").assert_outcomes(failed=1)
