"""Code that makes its own client: the default transports of httpx and httpx2 answer from a deck for a while.

Only the classes that go to the network are patched; a transport that a test brings itself (a mock, an ASGI app) is
left alone. What a library imports later is patched as well, since the classes are patched and not their users.
"""

import importlib.util
import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any

from .cassette import LIVE, AsyncCassetteTransport, CassetteTransport

LIBRARIES = ("httpx", "httpx2")

type Passes = Callable[[str, int | None], bool]
"""True for a host and port that are none of ours and are to be reached as always."""


@contextmanager
def default_transports(sync: CassetteTransport, awaited: AsyncCassetteTransport, passes: Passes) -> Generator[None]:
    """Within this, every client of httpx and httpx2 without a transport of its own is answered by these two."""
    with ExitStack() as undo:
        for name in LIBRARIES:
            if name in sys.modules or importlib.util.find_spec(name) is not None:
                _patch(import_module(name), sync, awaited, passes, undo)
        yield


def _patch(
    library: Any, sync: CassetteTransport, awaited: AsyncCassetteTransport, passes: Passes, undo: ExitStack
) -> None:
    send: Any = library.HTTPTransport.handle_request
    send_async: Any = library.AsyncHTTPTransport.handle_async_request

    def handle_request(self: Any, request: Any) -> Any:
        if LIVE in request.extensions or passes(request.url.host, request.url.port):
            return send(self, request)
        return sync.handle(request, lambda again: send(self, again))

    async def handle_async_request(self: Any, request: Any) -> Any:
        if LIVE in request.extensions or passes(request.url.host, request.url.port):
            return await send_async(self, request)
        return await awaited.handle(request, lambda again: send_async(self, again))

    undo.callback(setattr, library.HTTPTransport, "handle_request", send)
    undo.callback(setattr, library.AsyncHTTPTransport, "handle_async_request", send_async)
    library.HTTPTransport.handle_request = handle_request
    library.AsyncHTTPTransport.handle_async_request = handle_async_request


def newest_library() -> Any:
    """httpx2 where it is installed, else httpx."""
    return import_module("httpx2" if importlib.util.find_spec("httpx2") is not None else "httpx")
