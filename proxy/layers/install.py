"""Puts our HTTP and WebSocket layers in the place of mitmproxy's.

mitmproxy makes its layers by the names of its modules, so these names are what is replaced. Nothing else of it is
changed: each of our layers is a subclass, and `install` refuses to run when a name is not what it was made for.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportPrivateUsage=false

from collections.abc import Callable
from inspect import signature
from types import ModuleType
from typing import Any

from mitmproxy.net.http.http1 import read
from mitmproxy.proxy import layers
from mitmproxy.proxy.layers import http, tcp, websocket
from mitmproxy.proxy.layers.http import _http1

from . import http1, http2
from .error_answer import error_response
from .exchange import Exchange
from .request_line import read_request_line
from .tunnel import Tunnel
from .websocket import Session

type Replaced = tuple[ModuleType, str, Callable[..., object]]
"""Module of mitmproxy, name in it, and our class or function for it."""

REPLACED: tuple[Replaced, ...] = (
    (http, "HttpStream", Exchange),
    (http, "Http1Server", http1.ClientSide),
    (http, "Http1Client", http1.UpstreamSide),
    (http, "Http2Server", http2.ClientSide),
    (http, "Http2Client", http2.UpstreamSide),
    (websocket, "WebsocketLayer", Session),
    (tcp, "TCPLayer", Tunnel),
    (layers, "TCPLayer", Tunnel),
    (_http1, "make_error_response", error_response),
    (read, "_read_request_line", read_request_line),
)


def install(*more: Replaced) -> None:
    """Let mitmproxy make our layers, and what else is named. A second call has no effect.

    Raises RuntimeError when this mitmproxy has something else under these names, so that the change cannot go unseen.
    """
    for module, name, ours in (*REPLACED, *more):
        theirs = getattr(module, name, None)
        if theirs is ours:
            continue
        if not _fits(theirs, ours):
            raise RuntimeError(
                f"turntape does not fit the installed mitmproxy: {module.__name__}.{name} is {theirs!r}; "
                "install the version that turntape's requirements name"
            )
        setattr(module, name, ours)


def _fits(theirs: Any, ours: Callable[..., object]) -> bool:
    """Whether ours is made for theirs: a subclass of it, or a function that is called in the same way."""
    if isinstance(ours, type):
        return theirs in ours.__bases__
    return callable(theirs) and signature(theirs) == signature(ours)
