"""For code that makes its own client: patches the default transports of httpx and httpx2 to answer from a session.

Only the classes that use the network are patched. A transport that a test provides (a mock, an ASGI app) is not
changed. Libraries that are imported later are affected too, because the classes themselves are patched.
"""

import importlib.util
import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any, Literal

from .cassette import LIVE, AsyncCassetteTransport, CassetteTransport

LIBRARIES = ("httpx", "httpx2")

type Way = Literal["session", "network", "offline"]
"""What happens to a request: the session answers it, it is sent as usual, or it is refused as if offline."""
type Choice = Callable[[str, int | None, str], Way]
"""By host, port and path."""


def _ignore(body: bytes) -> None:
    """The default for `seen`."""


@contextmanager
def default_transports(
    sync: CassetteTransport,
    awaited: AsyncCassetteTransport,
    choice: Choice,
    seen: Callable[[bytes], object] = _ignore,
) -> Generator[None]:
    """Within this context, these two answer every client of httpx and httpx2 that has no explicit transport.

    `seen` gets the body of each request that they answer, before they do.
    """
    with ExitStack() as undo:
        for name in LIBRARIES:
            if name in sys.modules or importlib.util.find_spec(name) is not None:
                _patch(import_module(name), sync, awaited, choice, seen, undo)
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


def newest_library() -> Any:
    """httpx2 if it is installed, otherwise httpx."""
    return import_module("httpx2" if importlib.util.find_spec("httpx2") is not None else "httpx")
