"""For code that makes its own client: patches what httpx, httpx2, aiohttp and `http.client` use to reach the network.

Only the classes that use the network are patched. A transport that a test provides (a mock, an ASGI app) is not
changed. Libraries that are imported later are affected too, because the classes themselves are patched.
"""

import importlib.util
import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from functools import wraps
from importlib import import_module
from typing import Any

from ..replay.pace import Pace
from .aiohttp_client import patch_aiohttp
from .cassette import LIVE, AsyncCassetteTransport, CassetteTransport
from .http_client import patch_http_client
from .late_imports import when_imported
from .wires import Choice, Way, Wires

__all__ = ["Choice", "Way", "default_transports", "newest_library"]

LIBRARIES = ("httpx", "httpx2")
_ASKS_MOCKS = "turntape.asks_mocks"
"""Among the extensions of a request that only mocks may answer: it must not reach the network."""

_STOPS = "stops_for_turntape"
"""An attribute of the method that does so: it may be there already, put back by a mock that ended late."""


class _PassedOnError(Exception):
    """No mock answers a request."""


def _ignore(body: bytes) -> None:
    """The default for `seen`."""


def _never(_host: str, _path: str) -> bool:
    """The default for `recorded`."""
    return False


@contextmanager
def default_transports(
    sync: CassetteTransport,
    awaited: AsyncCassetteTransport,
    choice: Choice,
    seen: Callable[[bytes], object] = _ignore,
    *,
    others: Choice | None = None,
    pace: str | float | Pace = "instant",
    recorded: Callable[[str, str], bool] = _never,
) -> Generator[None]:
    """Within this context, these two answer every client of httpx and httpx2 that has no explicit transport.

    A mock of respx is asked before them. It may refuse a request that it does not know, unless the cassette has the
    host and path of this request (`recorded`).

    With `others`, their session also answers clients of aiohttp and of `http.client`, where that allows it.

    `seen` gets the body of each request that they answer, before they do.
    """
    with ExitStack() as undo:
        for name in LIBRARIES:
            if name in sys.modules or importlib.util.find_spec(name) is not None:
                _patch(import_module(name), sync, awaited, choice, seen, recorded, undo)
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
    recorded: Callable[[str, str], bool],
    undo: ExitStack,
) -> None:
    below = library.__name__.replace("httpx", "httpcore")
    stops: list[bool] = []
    undo.enter_context(when_imported(below, lambda core: stops.append(_stop_before_the_network(core, undo))))
    send: Any = library.HTTPTransport.handle_request
    send_async: Any = library.AsyncHTTPTransport.handle_async_request

    def way(request: Any) -> Way:
        url = request.url
        chosen: Way = "network" if LIVE in request.extensions else choice(url.host, url.port, url.path)
        if chosen == "offline":
            raise library.ConnectError(f"{url.host} is blocked in a test that replays", request=request)
        return chosen

    def is_recorded(request: Any) -> bool:
        return recorded(request.url.host, request.url.path)

    def asks_mocks(request: Any) -> bool:
        if LIVE in request.extensions or not _is_mocked(below):
            return False
        return any(stops) or not is_recorded(request)

    def handle_request(self: Any, request: Any) -> Any:
        if asks_mocks(request):
            request.read()
            with _by_mocks_only(request, needs_one=not is_recorded(request)):
                return send(self, request)
        if way(request) == "network":
            return send(self, request)
        seen(request.read())
        return sync.handle(request, lambda again: send(self, again))

    async def handle_async_request(self: Any, request: Any) -> Any:
        if asks_mocks(request):
            await request.aread()
            with _by_mocks_only(request, needs_one=not is_recorded(request)):
                return await send_async(self, request)
        if way(request) == "network":
            return await send_async(self, request)
        seen(await request.aread())
        return await awaited.handle(request, lambda again: send_async(self, again))

    undo.callback(setattr, library.HTTPTransport, "handle_request", send)
    undo.callback(setattr, library.AsyncHTTPTransport, "handle_async_request", send_async)
    library.HTTPTransport.handle_request = handle_request
    library.AsyncHTTPTransport.handle_async_request = handle_async_request


@contextmanager
def _by_mocks_only(request: Any, *, needs_one: bool) -> Generator[None]:
    """Within this context, a mock answers the request, or what sends it ends the context. With `needs_one`, mocks may
    refuse a request that none of them knows."""
    request.extensions[_ASKS_MOCKS] = True
    try:
        with suppress(_PassedOnError, *(() if needs_one else (AssertionError,))):
            yield
    finally:
        request.extensions.pop(_ASKS_MOCKS, None)


def _stop_before_the_network(core: Any, undo: ExitStack) -> bool:
    """Let no request through that only mocks may answer. False where mocks are there already, which is too late."""
    send: Any = core.ConnectionPool.handle_request
    send_async: Any = core.AsyncConnectionPool.handle_async_request
    if hasattr(send, _STOPS):
        return True
    if _is_mocked(core.__name__):
        return False

    def stop(request: Any) -> None:
        if _ASKS_MOCKS in request.extensions:
            raise _PassedOnError

    @wraps(send)
    def handle_request(self: Any, request: Any) -> Any:
        stop(request)
        return send(self, request)

    @wraps(send_async)
    async def handle_async_request(self: Any, request: Any) -> Any:
        stop(request)
        return await send_async(self, request)

    setattr(handle_request, _STOPS, True)
    for pool, ours, theirs in (
        (core.ConnectionPool, handle_request, send),
        (core.AsyncConnectionPool, handle_async_request, send_async),
    ):
        setattr(pool, ours.__name__, ours)
        undo.callback(_put_back, pool, ours, theirs)
    return True


def _put_back(pool: Any, ours: Any, theirs: Any) -> None:
    """Undo the change, unless a mock is still there: it puts ours back at its end, and that lets requests pass then."""
    if getattr(pool, ours.__name__) is ours:
        setattr(pool, ours.__name__, theirs)


def _is_mocked(below: str) -> bool:
    """True while a library of mocks (respx) answers in place of the connections below httpx."""
    core: Any = sys.modules.get(below)
    pools = () if core is None else (core.ConnectionPool.handle_request, core.AsyncConnectionPool.handle_async_request)
    return any(not one.__module__.startswith("httpcore") for one in pools)


def newest_library() -> Any:
    """httpx2 if it is installed, otherwise httpx."""
    return import_module("httpx2" if importlib.util.find_spec("httpx2") is not None else "httpx")
