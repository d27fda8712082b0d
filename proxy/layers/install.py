"""Puts our HTTP and WebSocket layers in the place of mitmproxy's.

mitmproxy makes its layers by the names of its modules, so these names are what is replaced. Nothing else of it is
changed: each of our layers is a subclass, and `installed` refuses to run when a name is not what it was made for.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from types import ModuleType

from mitmproxy.proxy.layers import http, websocket

from . import http1, http2
from .exchange import Exchange
from .websocket import Session

REPLACED: tuple[tuple[ModuleType, str, type], ...] = (
    (http, "HttpStream", Exchange),
    (http, "Http1Server", http1.ClientSide),
    (http, "Http1Client", http1.UpstreamSide),
    (http, "Http2Server", http2.ClientSide),
    (http, "Http2Client", http2.UpstreamSide),
    (websocket, "WebsocketLayer", Session),
)
"""Module of mitmproxy, name in it, and our class for it."""


def install() -> None:
    """Let mitmproxy make our layers. A second call has no effect.

    Raises RuntimeError when this mitmproxy has other classes under these names, so that the change cannot go unseen.
    """
    for module, name, ours in REPLACED:
        theirs = getattr(module, name, None)
        if theirs is ours:
            continue
        if theirs is None or theirs not in ours.__bases__:
            raise RuntimeError(
                f"turntape does not fit the installed mitmproxy: {module.__name__}.{name} is {theirs!r}; "
                "install the version that turntape's requirements name"
            )
        setattr(module, name, ours)
