"""Each addon that has a hook is called, in order, as in mitmproxy; a fault in one does not affect the others."""

import asyncio
import logging
from collections.abc import Callable

import pytest
from mitmproxy import exceptions, options
from mitmproxy.master import Master
from mitmproxy.proxy.layers.http._hooks import HttpRequestHook
from mitmproxy.test import tflow

from turntape.proxy.engine.cached_addons import CachedAddons


class Addon:
    def __init__(self, name: str, seen: list[str], act: Callable[[], object] = lambda: None) -> None:
        self.name = name
        self._seen = seen
        self._act = act

    def request(self, flow: object) -> None:
        self._seen.append(self.name)
        self._act()


class Waiting(Addon):
    async def request(self, flow: object) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        self._seen.append(self.name)


class Other:
    def response(self, flow: object) -> None:
        raise AssertionError("nobody asked for this")


def triggered(*changes: Callable[[CachedAddons], object]) -> None:
    """Each change, and after each of them a request."""

    async def run() -> None:
        master = Master(options.Options())
        addons = CachedAddons(master)
        for change in changes:
            change(addons)
            await addons.trigger_event(HttpRequestHook(tflow.tflow()))

    asyncio.run(run())


def test_every_addon_with_the_hook_is_called_in_order_and_awaited() -> None:
    seen: list[str] = []
    triggered(lambda a: a.add(Addon("a", seen), Other(), Waiting("b", seen), Addon("c", seen)))

    assert seen == ["a", "b", "c"]


def test_addons_within_addons_are_called() -> None:
    seen: list[str] = []
    outer = Addon("outer", seen)
    outer.addons = [Addon("inner", seen)]  # type: ignore[attr-defined]

    triggered(lambda a: a.add(outer))

    assert sorted(seen) == ["inner", "outer"]


def test_an_addon_that_was_added_is_called_and_one_that_was_removed_is_not() -> None:
    seen: list[str] = []
    first, second = Addon("first", seen), Addon("second", seen)

    triggered(lambda a: a.add(first), lambda a: a.add(second), lambda a: a.remove(first))

    assert seen == ["first", "first", "second", "second"]


def test_a_fault_is_logged_and_the_others_are_called(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[str] = []

    def fail() -> None:
        raise ValueError("ours")

    with caplog.at_level(logging.ERROR):
        triggered(lambda a: a.add(Addon("bad", seen, fail), Addon("good", seen)))

    assert seen == ["bad", "good"]
    assert "fault in request" in caplog.text


def test_an_addon_may_halt_the_event() -> None:
    seen: list[str] = []

    def halt() -> None:
        raise exceptions.AddonHalt

    triggered(lambda a: a.add(Addon("halting", seen, halt), Addon("after", seen)))

    assert seen == ["halting"]
