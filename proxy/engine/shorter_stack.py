"""Finds the layer that all events of a connection are for, once the ones around it only pass them on.

mitmproxy takes each event of a client that sent CONNECT through the layers of the CONNECT request, and through the TLS
of an upstream connection that is never made.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportPrivateUsage=false

from mitmproxy.connection import ConnectionState
from mitmproxy.proxy.layer import Layer, NextLayer
from mitmproxy.proxy.layers.http import HttpLayer
from mitmproxy.proxy.layers.http._http1 import Http1Server
from mitmproxy.proxy.layers.modes import HttpProxy
from mitmproxy.proxy.layers.tls import ClientTLSLayer, ServerTLSLayer
from mitmproxy.proxy.tunnel import TunnelState


def without_outer(layer: Layer) -> Layer:
    """The same layer, or one within it for which all further events are."""
    while not layer._paused and (inner := _only_child(layer)) is not None:
        layer = inner
    return layer


def _only_child(layer: Layer) -> Layer | None:
    match layer:
        case NextLayer():
            return layer.layer
        case HttpProxy():
            return _bound_to(layer)
        case HttpLayer():
            return _tunnelled(layer)
        case ServerTLSLayer() if not layer.tls and layer.conn.state is ConnectionState.CLOSED:
            child = without_outer(layer.child_layer)
            return child if isinstance(child, ClientTLSLayer) and _opens_its_own(child) else None
        case _:
            return None


def _bound_to(layer: Layer) -> Layer | None:
    """The layer whose method handles the events."""
    handler = getattr(layer._handle_event, "__self__", None)
    return handler if isinstance(handler, Layer) and handler is not layer else None


def _tunnelled(layer: HttpLayer) -> Layer | None:
    """The layer within a CONNECT over HTTP/1.1, which takes all of its client's connection."""
    if len(layer.streams) != 1 or len(layer.connections) != 1:
        return None
    (stream,), (client,) = layer.streams.values(), layer.connections.values()
    if not isinstance(client, Http1Server):
        return None
    is_tunnel = client.state == client.passthrough and stream._handle_event == stream.passthrough
    rests = not stream._paused and not client._paused
    return stream.child_layer if is_tunnel and rests else None


def _opens_its_own(layer: ClientTLSLayer) -> bool:
    """True when HTTP is spoken within: each of its requests gets a separate connection, with a separate TLS layer."""
    return layer.tunnel_state is TunnelState.OPEN and isinstance(without_outer(layer.child_layer), HttpLayer)
