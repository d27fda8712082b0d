"""The parts of mitmproxy that turntape replaces: event dispatch and the choice of layers."""

# mitmproxy's headers and connection tables are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from collections.abc import Callable
from typing import override

from mitmproxy import options
from mitmproxy.addons import next_layer
from mitmproxy.connection import Client
from mitmproxy.master import Master
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layer import Layer, NextLayer
from mitmproxy.proxy.layers.http._upstream_proxy import HttpUpstreamProxy

from ..capture.routing import Router
from ..layers.tunnel import Tunnel, TunnelStart
from .cached_addons import CachedAddons
from .turns import Turns


class LeanMaster(Master):
    """A master whose hooks are called from a cache, and whose connections share the turns of its loop.

    `on_fault` is called when the layers of a client's connection have failed.
    """

    def __init__(
        self, opts: options.Options, on_fault: Callable[[Client, Exception], object] = lambda _client, _fault: None
    ) -> None:
        super().__init__(opts)
        self.on_fault = on_fault
        self.addons = CachedAddons(self)
        self.turns = Turns()


_HTTP2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
"""How a client begins that speaks HTTP/2 without TLS, because it knows that the server does (RFC 9113, 3.4)."""
_TLS, _LEAST_OF_TLS = b"\x16", 3
"""How a TLS handshake begins, and how much of it mitmproxy needs to know it: it takes a shorter beginning for HTTP."""


class RoutedLayers(next_layer.NextLayer):
    """mitmproxy's choice of protocol layers. The router decides what is tunnelled, and through which proxy."""

    def __init__(self, router: Router, can_hold: bool) -> None:
        super().__init__()
        self._router = router
        self._can_hold = can_hold

    @override
    def next_layer(self, nextlayer: NextLayer) -> None:
        if isinstance(nextlayer, TunnelStart):
            nextlayer.may_call = self._router.may_call(nextlayer.context)
        super().next_layer(nextlayer)

    @override
    def _ignore_connection(self, context: Context, data_client: bytes, data_server: bytes) -> bool | None:
        if data_client[:1] == _TLS and len(data_client) < _LEAST_OF_TLS:
            raise next_layer.NeedsMoreData
        if _HTTP2.startswith(data_client[: len(_HTTP2)]) and data_client and not context.client.tls:
            if len(data_client) < len(_HTTP2):
                raise next_layer.NeedsMoreData
            context.client.alpn = b"h2"
        is_tunnelled = self._router.is_tunnelled(context, data_client, data_server)
        if is_tunnelled is None:
            raise next_layer.NeedsMoreData
        return is_tunnelled

    @override
    def _next_layer(self, context: Context, data_client: bytes, data_server: bytes) -> Layer | None:
        layer = super()._next_layer(context, data_client, data_server)
        address = context.server.address
        if isinstance(layer, Tunnel) and address and (via := self._router.via(*address[:2])):
            context.server.via = via.spec
            stack = HttpUpstreamProxy.make(context, send_connect=True)
            stack /= layer
            return stack[0]
        if self._can_hold:
            from ..breakpoints.stream import holding

            return holding(layer)
        return layer
