"""mitmproxy's hooks, called from a cache.

mitmproxy asks every addon for every event, each time with a context manager and two generators. That is over 40 % of
the time of a request. Here the functions that implement an event are looked up once.
"""

# mitmproxy's headers and connection tables are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import inspect
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from mitmproxy import addonmanager, exceptions, hooks
from mitmproxy.master import Master

log = logging.getLogger(__name__)


class CachedAddons(addonmanager.AddonManager):
    """An `AddonManager` that looks up hooks once for each event name, until an addon is added or removed."""

    def __init__(self, master: Master) -> None:
        super().__init__(master)
        self._functions: dict[str, list[Callable[..., object]]] = {}

    def register(self, addon: object) -> object:
        self._functions = {}
        registered = super().register(addon)
        self._functions = {}
        return registered

    def remove(self, addon: object) -> None:
        self._functions = {}
        super().remove(addon)

    def _resolve(self, name: str) -> list[Callable[..., object]]:
        found: list[Callable[..., object]] = []
        for top in self.chain:
            for addon in addonmanager.traverse([top]):
                function = getattr(addon, name, None)
                if callable(function):
                    found.append(function)
        self._functions[name] = found
        return found

    def call(self, event: hooks.Hook) -> Coroutine[Any, Any, None] | None:
        """Call the functions for an event, up to one that has to be awaited.

        Returns that one and those after it, to be awaited; None when all have been called.
        """
        functions = self._functions.get(event.name)
        if functions is None:
            functions = self._resolve(event.name)
        if not functions:
            return None
        args = event.args()
        for position, function in enumerate(functions, start=1):
            try:
                result = function(*args)
            except exceptions.AddonHalt:
                return None
            except Exception:  # a fault in an addon must not end the connection
                log.exception("fault in %s", event.name)
                continue
            if result is not None and inspect.isawaitable(result):
                return self._rest(event.name, result, functions[position:], args)
        return None

    async def _rest(
        self,
        name: str,
        result: object,
        functions: Sequence[Callable[..., object]],
        args: Sequence[object],
    ) -> None:
        """Await what a function has returned, then call the functions after it."""
        following = iter(functions)
        while True:
            try:
                if inspect.isawaitable(result):
                    await result
                function = next(following, None)
                if function is None:
                    return
                result = function(*args)
            except exceptions.AddonHalt:
                return
            except Exception:
                log.exception("fault in %s", name)
                result = None

    async def trigger_event(self, event: hooks.Hook) -> None:
        rest = self.call(event)
        if rest is not None:
            await rest

    async def handle_lifecycle(self, event: hooks.Hook) -> None:
        await self.trigger_event(event)
