"""For code that makes its own client: patches what httpx, httpx2, aiohttp and `http.client` use to reach the network.

Only the classes that use the network are patched. A transport that a test provides (a mock, an ASGI app) is not
changed. Libraries that are imported later are affected too, because the classes themselves are patched.
"""

import importlib.util
import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any

from ..replay.pace import Pace
from .aiohttp_client import patch_aiohttp
from .cassette import LIVE, AsyncCassetteTransport, CassetteTransport
from .http_client import patch_http_client
from .wires import Choice, Way, Wires

__all__ = ["Choice", "Way", "default_transports", "is_mocked", "newest_library"]

LIBRARIES = ("httpx", "httpx2")


def _ignore(body: bytes) -> None:
    """The default for `seen`."""


@contextmanager
def default_transports(
    sync: CassetteTransport,
    awaited: AsyncCassetteTransport,
    choice: Choice,
    seen: Callable[[bytes], object] = _ignore,
    *,
    others: Choice | None = None,
    pace: str | float | Pace = "instant",
) -> Generator[None]:
    """Within this context, these two answer every client of httpx and httpx2 that has no explicit transport.

    With `others`, their session also answers clients of aiohttp and of `http.client`, where that allows it.

    `seen` gets the body of each request that they answer, before they do.
    """
    with ExitStack() as undo:
        for name in LIBRARIES:
            if name in sys.modules or importlib.util.find_spec(name) is not None:
                _patch(import_module(name), sync, awaited, choice, seen, undo)
        if others is not None:
            wires = Wires(sync.session, Pace.of(pace), others, seen)
            patch_aiohttp(wires, undo)
            patch_http_client(wires, undo)
        yield


def _patch(
    library: Any,
    sync: CassetteTransport,
    awaited: AsyncCassetteTransport,
    choice: Choice,
    seen: Callable[[bytes], object],
    undo: ExitStack,
) -> None:
    send: Any = library.HTTPTransport.handle_request
    send_async: Any = library.AsyncHTTPTransport.handle_async_request

    def way(request: Any) -> Way:
        url = request.url
        chosen: Way = "network" if LIVE in request.extensions else choice(url.host, url.port, url.path)
        if chosen == "offline":
            raise library.ConnectError(f"{url.host} is blocked in a test that replays", request=request)
        return chosen

    def handle_request(self: Any, request: Any) -> Any:
        if way(request) == "network":
            return send(self, request)
        seen(request.read())
        return sync.handle(request, lambda again: send(self, again))

    async def handle_async_request(self: Any, request: Any) -> Any:
        if way(request) == "network":
            return await send_async(self, request)
        seen(await request.aread())
        return await awaited.handle(request, lambda again: send_async(self, again))

    undo.callback(setattr, library.HTTPTransport, "handle_request", send)
    undo.callback(setattr, library.AsyncHTTPTransport, "handle_async_request", send_async)
    library.HTTPTransport.handle_request = handle_request
    library.AsyncHTTPTransport.handle_async_request = handle_async_request


def is_mocked() -> bool:
    """True while a library of mocks (respx) answers in place of the connections below httpx."""
    core: Any = sys.modules.get("httpcore")
    pools = () if core is None else (core.ConnectionPool.handle_request, core.AsyncConnectionPool.handle_async_request)
    return any(not one.__module__.startswith("httpcore.") for one in pools)


def newest_library() -> Any:
    """httpx2 if it is installed, otherwise httpx."""
    return import_module("httpx2" if importlib.util.find_spec("httpx2") is not None else "httpx")
