"""Real MCP clients and servers over HTTP, on both routes: what they say is on the tape, joined into sessions."""

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Literal

import httpx2
import pytest
import uvicorn
from fastmcp import Context, FastMCP
from mcp import ClientSession
from mcp.client.client import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from waiting import eventually

from turntape.cassettes import Cassette, Recorder, RoundTrip
from turntape.cassettes.server.cassette_folder import CassetteFolder
from turntape.cassettes.server.folder_server import folder_app, tools_of
from turntape.inspector.tools.tool_messages import ToolMessage, tool_messages
from turntape.inspector.wire.parse import read
from turntape.proxy.engine.engine import Engine, running

type Use = Callable[[Any], Awaitable[None]]

CALL = b"forever"
TOKEN = "Bearer a-token-that-nobody-may-read"


def server() -> FastMCP:
    tools = FastMCP("counter")

    @tools.tool
    def add(a: int, b: int) -> int:
        return a + b

    @tools.tool
    async def steps(context: Context) -> str:
        await context.report_progress(1, 2)
        return "done"

    @tools.tool
    async def forever(context: Context) -> str:
        await context.report_progress(7, 8)
        await asyncio.sleep(3600)
        return "never"

    return tools


@contextmanager
def serving(app: Any) -> Generator[int]:
    """An ASGI app on a free port."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        settings = uvicorn.Config(app, log_level="error", lifespan="on", timeout_graceful_shutdown=1, ws="none")
        running_server = uvicorn.Server(settings)
        thread = threading.Thread(target=lambda: asyncio.run(running_server.serve([listening])), daemon=True)
        thread.start()
        eventually(lambda: running_server.started)
        try:
            yield listening.getsockname()[1]
        finally:
            running_server.should_exit = True
            thread.join(timeout=30)


@pytest.fixture(scope="module")
def streamable() -> Generator[int]:
    with serving(server().http_app(transport="streamable-http")) as port:
        yield port


@pytest.fixture(scope="module")
def old_sse() -> Generator[int]:
    with serving(server().http_app(transport="sse")) as port:
        yield port


class Route:
    """How a client reaches the server: through our address, or through us as its proxy."""

    def __init__(self, kind: Literal["base_url", "forward"], engine: Engine, port: int) -> None:
        self.kind = kind
        self.port = port
        self._engine = engine

    def url(self, path: str) -> str:
        if self.kind == "base_url":
            return f"http://127.0.0.1:{self._engine.port}/s/night/tools{path}"
        return f"http://127.0.0.1:{self.port}{path}"

    def client(self, **options: Any) -> httpx2.AsyncClient:
        proxy = f"http://night:x@127.0.0.1:{self._engine.port}" if self.kind == "forward" else None
        return httpx2.AsyncClient(proxy=proxy, trust_env=False, timeout=30, headers={"Authorization": TOKEN})

    def sse_client(self, headers: Any = None, timeout: Any = None, auth: Any = None) -> httpx2.AsyncClient:
        return self.client()


@contextmanager
def recorded(kind: Literal["base_url", "forward"], port: int, tape: Path, confdir: Path) -> Generator[Route]:
    with (
        Recorder(tape) as recorder,
        running(Engine(recorder, upstreams={"tools": f"http://127.0.0.1:{port}"}, confdir=confdir)) as engine,
    ):
        yield Route(kind, engine, port)


@asynccontextmanager
async def session(streams: Any) -> AsyncIterator[ClientSession]:
    async with streams as (reading, writing), ClientSession(reading, writing) as client:
        await client.initialize()
        yield client


async def use(client: Any) -> None:
    """List the tools and run two of them."""
    listed = await client.list_tools()
    assert [tool.name for tool in listed.tools] == ["add", "steps", "forever"]

    async def seen(progress: float, total: float | None, message: str | None) -> None:
        assert (progress, total) == (1, 2)

    added = await client.call_tool("add", {"a": 1, "b": 2})
    assert added.structured_content == {"result": 3}
    assert (await client.call_tool("steps", {}, progress_callback=seen)).content[0].text == "done"


def tools_run(messages: list[ToolMessage]) -> list[tuple[str, object]]:
    """Each call with its answer's structured content."""
    asked = {(one.session, one.sequence): one for one in messages if one.method == "tools/call"}
    found: list[tuple[str, object]] = []
    for one in messages:
        if one.result is not None and (call := asked.get((one.session, one.answers or 0))):
            found.append((str(call.params["name"]), one.result.get("structuredContent")))
    return found


def check(tape: Path, kind: str) -> tuple[list[RoundTrip], list[ToolMessage]]:
    """What every recording must hold."""
    trips = list(Cassette.load(tape))
    messages = list(tool_messages(trips))
    assert {(read(trip).protocol, trip.route, trip.run, trip.faults) for trip in trips} == {("mcp", kind, "night", ())}
    # A client may leave while its last word (a DELETE, a 202 without content) is under way.
    assert not [trip for trip in trips if trip.failure and trip.response and trip.response.status == 200]
    assert {one.server for one in messages} == {"counter"}
    assert tools_run(messages) == [("add", {"result": 3}), ("steps", {"result": "done"})]
    assert [one.params["progress"] for one in messages if one.method == "notifications/progress"] == [1]
    assert TOKEN[8:].encode() not in tape.read_bytes()
    return trips, messages


@pytest.mark.parametrize("kind", ["base_url", "forward"])
def test_the_version_of_2025_with_a_session(
    kind: Literal["base_url", "forward"], streamable: int, tape: Path, confdir: Path
) -> None:
    async def run(route: Route) -> None:
        async with (
            route.client() as http,
            session(streamable_http_client(route.url("/mcp"), http_client=http)) as client,
        ):
            await use(client)

    with recorded(kind, streamable, tape, confdir) as route:
        asyncio.run(run(route))

    trips, messages = check(tape, kind)
    assert {trip.request.method for trip in trips} == {"POST", "GET", "DELETE"}
    (one_session,) = {one.session for one in messages}
    assert one_session.startswith("REDACTED-")
    assert [one.method for one in messages if one.sender == "client"][:3] == [
        "initialize", "notifications/initialized", "tools/list"
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["base_url", "forward"])
def test_the_version_of_2026_without_a_session(
    kind: Literal["base_url", "forward"], streamable: int, tape: Path, confdir: Path
) -> None:
    async def run(route: Route) -> None:
        async with (
            route.client() as http,
            Client(streamable_http_client(route.url("/mcp"), http_client=http)) as client,
        ):
            await use(client)

    with recorded(kind, streamable, tape, confdir) as route:
        asyncio.run(run(route))

    trips, messages = check(tape, kind)
    assert {trip.request.method for trip in trips} == {"POST"}
    assert {one.session for one in messages} == {f"night:http://127.0.0.1:{streamable}/mcp"}
    assert [one.method for one in messages if one.sender == "client"] == [
        "server/discover", "tools/list", "tools/call", "tools/call"
    ]  # fmt: skip
    names = {name.lower(): value for name, value in trips[-1].request.headers}
    assert (names["mcp-method"], names["mcp-name"]) == ("tools/call", "steps")


@pytest.mark.parametrize("kind", ["base_url", "forward"])
def test_the_transport_of_2024_with_two_urls(
    kind: Literal["base_url", "forward"], old_sse: int, tape: Path, confdir: Path
) -> None:
    async def run(route: Route) -> None:
        async with session(sse_client(route.url("/sse"), httpx_client_factory=route.sse_client)) as client:
            await use(client)

    with recorded(kind, old_sse, tape, confdir) as route:
        asyncio.run(run(route))
        eventually(lambda: any(trip.request.method == "GET" for trip in Cassette.load(tape)))

    trips, messages = check(tape, kind)
    (stream,) = [trip for trip in trips if trip.request.method == "GET"]
    assert (stream.failure, stream.closed_first) == (None, "client")
    posts = {trip.request.url.partition("?")[0] for trip in trips if trip is not stream}
    assert posts == {f"http://127.0.0.1:{old_sse}/messages/"}
    assert len({one.session for one in messages}) == 1


def test_the_transport_of_2024_is_played_without_the_server(old_sse: int, tape: Path, confdir: Path) -> None:
    async def run(url: str, factory: Any) -> None:
        async with session(sse_client(url, httpx_client_factory=factory)) as client:
            await use(client)

    with recorded("forward", old_sse, tape, confdir) as route:
        asyncio.run(run(route.url("/sse"), route.sse_client))
        eventually(lambda: any(trip.request.method == "GET" for trip in Cassette.load(tape)))

    folder = CassetteFolder([tape])
    tools, over_http = tools_of(folder, None, ())
    assert tools is not None
    with serving(folder_app(folder, tools=over_http)) as port:
        asyncio.run(run(f"http://127.0.0.1:{port}/sse", lambda **_: httpx2.AsyncClient(trust_env=False)))
    assert not tools.misses
    assert folder.players[""].report().unplayed == ()


def test_a_call_that_its_client_abandons_is_recorded_with_what_had_arrived(
    streamable: int, tape: Path, confdir: Path
) -> None:
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "forever", "_meta": {"progressToken": 5}},
    }
    info = {"name": "test", "version": "1"}
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize",
             "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}}  # fmt: skip
    accept = {"Accept": "application/json, text/event-stream"}

    async def run(route: Route) -> None:
        async with route.client() as http:
            begun = await http.post(route.url("/mcp"), json=hello, headers=accept)
            mine = {**accept, "Mcp-Session-Id": begun.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
            ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            await http.post(route.url("/mcp"), json=ready, headers=mine)
            async with http.stream("POST", route.url("/mcp"), json=call, headers=mine) as answer:
                async for line in answer.aiter_lines():
                    if "progress" in line:  # passed on although the answer continues for an hour
                        break

    with recorded("forward", streamable, tape, confdir) as route:
        asyncio.run(run(route))
        eventually(lambda: any(CALL in trip.request.body for trip in Cassette.load(tape)))

    (last,) = [trip for trip in Cassette.load(tape) if CALL in trip.request.body]
    assert last.failure is not None and last.failure.kind == "client_gone"
    (asked, said) = list(tool_messages([last]))
    assert (asked.data, said.method) == (call, "notifications/progress")


def test_other_traffic_to_a_local_server_is_not_recorded(tape: Path, confdir: Path) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        kind = b"text/event-stream" if scope["method"] == "GET" else b"application/json"
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]})
        await send({"type": "http.response.body", "body": b"data: 1\n\n", "more_body": True})
        while scope["method"] == "GET" and (await receive())["type"] != "http.disconnect":
            pass
        await send({"type": "http.response.body", "body": b""})

    async def run(route: Route) -> None:
        async with route.client() as http:
            other = {"jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber"}
            assert (await http.post(route.url("/rpc"), json=other)).status_code == 200
            for headers in ({"Accept": "text/event-stream"}, {}):
                async with http.stream("GET", route.url("/events"), headers=headers) as answer:
                    async for line in answer.aiter_lines():  # it is not held back although it never ends
                        assert line == "data: 1"
                        break

    with serving(app) as port, recorded("forward", port, tape, confdir) as route:
        asyncio.run(run(route))

    assert list(Cassette.load(tape)) == []
    assert len([json.loads(line) for line in tape.read_text().splitlines()]) == 1
