"""mitmproxy's hooks, called from a cache.

mitmproxy asks every addon for every event, each time with a context manager and two generators. That is over 40 % of
the time of a request. Here the functions that implement an event are looked up once.
"""

# mitmproxy's headers and connection tables are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import inspect
import logging
from collections.abc import Callable

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

    async def trigger_event(self, event: hooks.Hook) -> None:
        functions = self._functions.get(event.name)
        if functions is None:
            functions = self._resolve(event.name)
        if not functions:
            return
        args = event.args()
        for function in functions:
            try:
                result = function(*args)
                if inspect.isawaitable(result):
                    await result
            except exceptions.AddonHalt:
                return
            except Exception:  # a fault in an addon must not end the connection
                log.exception("fault in %s", event.name)

    async def handle_lifecycle(self, event: hooks.Hook) -> None:
        await self.trigger_event(event)
