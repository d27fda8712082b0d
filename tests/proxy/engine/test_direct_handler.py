"""Events are handled in order and in the turn of the loop in which they come; only an addon that waits takes longer."""

# mitmproxy's layers are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import asyncio
import selectors
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest
from end_to_end.loops import rig
from mitmproxy import options
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.proxy import commands, events, layer, mode_specs
from mitmproxy.proxy.layers.http._hooks import HttpRequestHook, HttpResponseHook
from mitmproxy.test import taddons, tflow

from turntape.proxy.engine.cached_addons import CachedAddons
from turntape.proxy.engine.direct_handler import DirectHandler
from turntape.proxy.engine.master import LeanMaster

REQUESTS = 20


class Writer:
    """The writer of a client's connection."""

    def get_extra_info(self, name: str, default: object = None) -> object:
        return {"peername": ("127.0.0.1", 1), "sockname": ("127.0.0.1", 2)}.get(name, default)

    def is_closing(self) -> bool:
        return False

    def write(self, data: bytes) -> None:
        seen.append(f"sent {data.decode()}")


seen: list[str] = []


@pytest.fixture(autouse=True)
def _clear() -> None:
    seen.clear()


class Scripted(layer.Layer):
    """Two hooks with bytes before, between and behind them."""

    stream = False

    def _handle_event(self, event: events.Event) -> Generator[commands.Command, Any, None]:
        if isinstance(event, events.DataReceived):
            name = event.data.decode()
            seen.append(f"{name} begins")
            flow = tflow.tflow(resp=True)
            assert flow.response is not None
            flow.response.stream = self.stream
            yield HttpRequestHook(flow)
            yield commands.SendData(self.context.client, event.data)
            yield HttpResponseHook(flow)
            seen.append(f"{name} ends")
            if name == "broken":
                raise ValueError
            if name == "odd":
                yield commands.Command()


class Addon:
    def request(self, flow: object) -> None:
        seen.append("request")

    def response(self, flow: object) -> None:
        seen.append("response")


class Patient:
    async def request(self, flow: object) -> None:
        await asyncio.sleep(0)
        seen.append("request at last")


def handled(
    *data: bytes,
    addons: tuple[object, ...] = (Addon(),),
    between: Callable[[], object] = lambda: None,
    stops: bool = False,
    on_fault: Callable[[object, Exception], object] = lambda _client, _fault: None,
) -> None:
    async def run() -> None:
        master = LeanMaster(options.Options(), on_fault)
        with taddons.context(Proxyserver()) as context:
            cast(CachedAddons, master.addons).add(*addons)
            handler = DirectHandler(master, Writer(), Writer(), context.options, mode_specs.ProxyMode.parse("regular"))
            handler.layer = Scripted(handler.layer.context)
            if stops:
                handler.stop()
            for one in data:
                handler.take(events.DataReceived(handler.client, one))
            between()
            for _ in range(10):
                await asyncio.sleep(0)

    asyncio.run(run())


ONE = ["one begins", "request", "sent one", "response", "one ends"]


def test_what_comes_while_the_proxy_stops_is_not_passed_on() -> None:
    """The record of what ran says that it was not complete."""
    handled(b"one", stops=True)

    assert seen == []


def test_hooks_that_do_not_wait_are_over_when_the_event_is() -> None:
    handled(b"one", b"two", between=lambda: seen.append("turn"))

    assert seen == [*ONE, *(word.replace("one", "two") for word in ONE), "turn"]


def test_what_comes_while_an_addon_waits_is_handled_when_it_is_done() -> None:
    handled(b"one", b"two", addons=(Patient(), Addon()), between=lambda: seen.append("turn"))

    late = ["request at last", "request"]
    assert seen == [
        "one begins", "turn", *late, "sent one", "response", "one ends",
        "two begins", *late, "sent two", "response", "two ends",
    ]  # fmt: skip


@pytest.mark.parametrize("fault", ["broken", "odd"])
def test_a_fault_of_a_layer_is_logged_and_reported_once_and_nothing_more_is_handled(
    fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    faults: list[type] = []
    handled(fault.encode(), b"one", b"two", on_fault=lambda _client, exc: faults.append(type(exc)))

    assert not any(word.startswith(("one", "two")) for word in seen)
    assert faults == [ValueError if fault == "broken" else RuntimeError]
    assert [record.getMessage() for record in caplog.records] == [
        "fault while passing on the traffic of a connection, which is closed"
    ]


def test_a_flow_that_an_addon_holds_waits() -> None:
    class Holding(Addon):
        def request(self, flow: object) -> None:
            held = cast(Any, flow)
            held.intercept()
            asyncio.get_running_loop().call_soon(lambda: (seen.append("resumed"), held.resume()))

    handled(b"one", addons=(Holding(),))

    assert seen == ["one begins", "resumed", "sent one", "response", "one ends"]


def test_an_answer_that_is_passed_on_is_sent_before_the_addons_see_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Scripted, "stream", True)

    handled(b"one", b"two")

    first = ["one begins", "request", "sent one", "one ends", "response"]
    assert seen == [*first, *(word.replace("one", "two") for word in first)]


def test_an_addon_that_waits_at_the_end_of_an_answer_is_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    class Late(Addon):
        async def response(self, flow: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            await asyncio.sleep(0)
            seen.append("response at last")

    monkeypatch.setattr(Scripted, "stream", True)

    handled(b"one", addons=(Late(),), between=lambda: seen.append("turn"))

    assert seen == ["one begins", "request", "sent one", "one ends", "turn", "response at last"]


def test_a_request_and_its_answer_take_few_turns_of_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[int] = []
    select = selectors.DefaultSelector.select

    def counted(self: selectors.DefaultSelector, timeout: float | None = None) -> Any:
        if threading.current_thread().name == "turntape proxy":
            turns.append(1)
        return select(self, timeout)

    monkeypatch.setattr(selectors.DefaultSelector, "select", counted)
    asked = {"model": "gpt-5", "messages": [{"role": "user", "content": "go"}]}
    with (
        rig(tmp_path / "a.cassette.jsonl", tmp_path / "conf") as up,
        httpx2.Client(trust_env=False, timeout=None) as http,
    ):
        http.post(f"{up.base}/openai/v1/chat/completions", json=asked)
        turns.clear()
        for _ in range(REQUESTS):
            http.post(f"{up.base}/openai/v1/chat/completions", json=asked)

    # mitmproxy takes nine. An answer that comes in two pieces takes one more.
    assert len(turns) < 6 * REQUESTS
