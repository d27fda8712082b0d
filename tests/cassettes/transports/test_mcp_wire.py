"""What passes between a client and a server is copied, and a fault of ours does not reach them."""

import asyncio
import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from turntape.cassettes.tape.model import RoundTrip, ToolServer
from turntape.cassettes.transports.mcp_wire import Dispatching, Reading, Wire, Writing, encoded

HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
NAMED = {"jsonrpc": "2.0", "id": 1, "result": {"serverInfo": {"name": "files"}}}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


class Kept:
    """A sink that keeps everything; `broken` makes each use raise."""

    def __init__(self, broken: bool = False) -> None:
        self.trips: list[RoundTrip] = []
        self.servers: list[ToolServer] = []
        self.broken = broken

    def write(self, round_trip: RoundTrip) -> int:
        if self.broken:
            raise RuntimeError("broken")
        self.trips.append(round_trip)
        return 0

    def tool_server(self, server: ToolServer) -> None:
        self.servers.append(server)

    def tool_server_stderr(self, session: str, at: int, data: bytes) -> None:
        raise AssertionError

    def tool_server_end(self, server: ToolServer) -> None:
        self.servers.append(server)

    @property
    def said(self) -> list[Any]:
        """The messages, each with its answer."""
        return [
            [json.loads(trip.request.body), trip.response and json.loads(trip.response.body)] for trip in self.trips
        ]


@pytest.mark.parametrize(
    "result", [NAMED["result"], {"_meta": {"io.modelcontextprotocol/serverInfo": {"name": "files"}}}]
)
def test_messages_wait_until_the_server_has_said_its_name(result: Any) -> None:
    kept = Kept()
    wire = Wire(kept, "night")
    wire.said("client", HELLO)
    assert (kept.servers, wire.is_open) == ([], True)

    wire.said("server", {**NAMED, "result": result})
    assert not wire.is_open
    wire.end()
    wire.end()

    assert [(one.server, one.transport, one.run, one.closed_first) for one in kept.servers] == [
        ("files", "process", "night", None), ("files", "process", "night", "client")
    ]  # fmt: skip
    assert kept.said == [[HELLO, {**NAMED, "result": result}]]


def test_a_server_without_a_name_is_written_with_the_first_request_after_the_handshake() -> None:
    kept = Kept()
    wire = Wire(kept, None)
    for message in (HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"}):
        wire.said("client", message)
    wire.said("server", {"jsonrpc": "2.0", "id": 1, "result": {"serverInfo": "odd"}})
    assert kept.servers == []

    wire.said("client", LIST)
    wire.server_left()
    wire.end()

    assert [one.server for one in kept.servers] == ["server", "server"]
    assert kept.servers[1].closed_first == "server"
    assert len(kept.trips) == 3


def test_what_waits_is_written_when_the_client_leaves_unless_it_is_dropped() -> None:
    kept, dropped = Kept(), Kept()
    one, other = Wire(kept, None), Wire(dropped, None)
    for wire in (one, other):
        wire.said("client", HELLO)
    assert other.is_beginning(HELLO) and not other.is_beginning(LIST)

    other.drop()
    for wire in (one, other):
        wire.end()
        wire.said("client", LIST)

    assert [len(sink.trips) for sink in (kept, dropped)] == [1, 0]
    assert dropped.servers == []


def test_nothing_is_written_of_a_session_that_said_nothing() -> None:
    kept = Kept()
    Wire(kept, None).end()
    assert (kept.trips, kept.servers) == ([], [])


def test_a_fault_is_logged_once_and_ends_the_recording(caplog: pytest.LogCaptureFixture) -> None:
    wire = Wire(Kept(broken=True), None)
    for message in (HELLO, NAMED, LIST):
        wire.said("client" if "method" in message else "server", message)
    wire.end()
    assert [record.message for record in caplog.records] == ["fault while recording a tool server"]


def test_what_json_cannot_hold_is_text() -> None:
    assert encoded({"a": 1}) == b'{"a":1}'
    assert json.loads(
        encoded(
            {
                "a": 2**70,
                "b": {
                    1,
                },
            }
        )
    ) == {"a": 2**70, "b": "{1}"}


class Stream:
    """A stream of the SDK with these items."""

    def __init__(self, *items: Any) -> None:
        self.items = list(items)
        self.last_context = "a context"
        self.entered = 0

    async def __aenter__(self) -> Any:
        self.entered += 1
        return self

    async def __aexit__(self, *problem: Any) -> None:
        self.entered -= 1

    async def receive(self) -> Any:
        return self.items.pop(0)

    async def __anext__(self) -> Any:
        if not self.items:
            raise StopAsyncIteration
        return self.items.pop(0)

    async def send(self, item: Any) -> None:
        self.items.append(item)


def item(message: Mapping[str, Any], root: bool = False) -> Any:
    """A message of the SDK: version 1 wraps it in a model with a root."""

    def dump(**options: bool) -> str:
        assert options == {"by_alias": True, "exclude_none" if root else "exclude_unset": True}
        return json.dumps(message)

    model = SimpleNamespace(model_dump_json=dump, **({"root": message} if root else {}))
    return SimpleNamespace(message=model)


def test_streams_pass_everything_on_and_copy_messages() -> None:
    kept = Kept()
    wire = Wire(kept, None)
    passed = [item(NAMED, root=True), ValueError("a line that is not JSON"), SimpleNamespace(message=None)]
    inner, out = Stream(item(HELLO), *passed), Stream()

    async def use() -> None:
        reading, writing = Reading(inner, wire), Writing(out, wire)
        async with reading as same, writing:
            assert same is reading and (inner.entered, out.entered) == (1, 1)
            assert reading.last_context == "a context"
            await writing.send(await reading.receive())
            assert [one async for one in reading] == passed

    wire.said("client", HELLO)
    asyncio.run(use())
    wire.end()
    assert (inner.entered, len(out.items)) == (0, 1)
    assert kept.servers[-1].closed_first == "server"


def test_an_item_that_cannot_be_copied_passes(caplog: pytest.LogCaptureFixture) -> None:
    def broken(**options: bool) -> str:
        raise ValueError("broken")

    odd = SimpleNamespace(message=SimpleNamespace(model_dump_json=broken))
    out = Stream()
    asyncio.run(Writing(out, Wire(Kept(), None)).send(odd))
    assert out.items == [odd] and len(caplog.records) == 1


class Failure(Exception):
    def __init__(self, code: Any, data: object = None) -> None:
        self.error = SimpleNamespace(code=code, message="no", data=data)


class Dispatcher:
    """A dispatcher that answers with `outcome`."""

    extra = "passed on"

    def __init__(self, outcome: Any = None) -> None:
        self.outcome = outcome if outcome is not None else {"ok": True}
        self.notified: list[str] = []
        self.options: Any = None

    async def send_raw_request(self, method: str, params: Any, opts: Any = None) -> Any:
        self.options = opts
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        if opts and "on_progress" in opts:
            await opts["on_progress"](1, 2, None)
        return self.outcome

    async def notify(self, method: str, params: Any, opts: Any = None) -> None:
        self.notified.append(method)

    async def run(self, on_request: Any, on_notify: Any, on_notify_intercept: Any = None, *, task_status: Any) -> None:
        assert task_status == "ready"
        assert on_notify_intercept("notifications/a", None) is False
        await on_notify(None, "notifications/a", None)
        await on_request(None, "roots/list", {})


def asked(outcome: Any, opts: Any = None) -> tuple[list[Any], Dispatcher]:
    kept = Kept()
    wire = Wire(kept, None)
    inner = Dispatcher(outcome)
    outer = Dispatching(inner, wire)
    assert outer.extra == "passed on"

    async def use() -> None:
        try:
            assert await outer.send_raw_request("tools/call", {"name": "t"}, opts) is inner.outcome
        except Exception as exc:
            assert exc is inner.outcome

    asyncio.run(use())
    wire.end()
    return kept.said, inner


CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t"}}


def test_a_dispatched_request_has_an_id_and_its_answer() -> None:
    said, inner = asked({"content": []})
    assert said == [[CALL, {"jsonrpc": "2.0", "id": 1, "result": {"content": []}}]]
    assert inner.options is None
    assert asked({}, {"request_id": "x"})[0][0][0]["id"] == "x"


@pytest.mark.parametrize(("data", "more"), [(None, {}), ([1], {"data": [1]})])
def test_an_error_of_the_server_is_its_answer(data: object, more: Mapping[str, Any]) -> None:
    said, _ = asked(Failure(-32602, data))
    assert said == [[CALL, {"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no", **more}}]]


@pytest.mark.parametrize("problem", [Failure(-32000), Failure(-32001), Failure(None), ValueError("ours")])
def test_an_error_that_no_server_sent_is_not_an_answer(problem: Exception) -> None:
    assert asked(problem)[0] == [[CALL, None]]


def test_progress_is_a_message_with_the_token_of_the_request() -> None:
    seen: list[Any] = []

    async def progress(*passed: Any) -> None:
        seen.append(passed)

    said, _ = asked({}, {"on_progress": progress})
    token = {"progressToken": 1}
    assert seen == [(1, 2, None)]
    assert said[0][0]["params"] == {**token, "progress": 1, "total": 2}
    assert said[1][0]["params"] == {"name": "t", "_meta": token}


def test_what_the_server_asks_and_says_is_copied() -> None:
    kept = Kept()
    wire = Wire(kept, None)
    inner = Dispatcher()
    outer = Dispatching(inner, wire)
    heard: list[str] = []

    async def on_request(context: Any, method: str, params: Any) -> Any:
        return {"roots": []}

    async def on_notify(context: Any, method: str, params: Any) -> None:
        heard.append(method)

    async def use() -> None:
        await outer.notify("notifications/b", None)
        await outer.run(on_request, on_notify, None, task_status="ready")

    asyncio.run(use())
    wire.end()
    assert (heard, inner.notified) == (["notifications/a"], ["notifications/b"])
    assert kept.said == [
        [{"jsonrpc": "2.0", "method": "notifications/b"}, None],
        [{"jsonrpc": "2.0", "method": "notifications/a"}, None],
        [{"jsonrpc": "2.0", "id": 1, "method": "roots/list", "params": {}},
         {"jsonrpc": "2.0", "id": 1, "result": {"roots": []}}],
    ]  # fmt: skip
    assert [trip.tool_wire.sender for trip in kept.trips if trip.tool_wire] == ["client", "server", "server"]
