"""mitmproxy's HTTP layer for answers that can be held. Each piece keeps its time, and a cut answer is passed on cut."""

# mitmproxy's layers are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from collections.abc import Callable
from typing import override

from mitmproxy.proxy import events
from mitmproxy.proxy.layer import CommandGenerator, Layer
from mitmproxy.proxy.layers.http import HttpLayer, SendHttp
from mitmproxy.proxy.layers.http._events import (
    RequestProtocolError,
    ResponseData,
    ResponseHeaders,
    ResponseProtocolError,
)

from ..capture.recorder_addon import TEE
from ..layers.exchange import Exchange


class HoldingStream(Exchange):
    """One exchange whose answer may be held."""

    @override
    def state_consume_response_body(self, event: events.Event) -> CommandGenerator[None]:
        tee: Callable[[bytes], object] | None = self.flow.metadata.get(TEE)
        if tee is not None and isinstance(event, ResponseData):
            tee(event.data)
        yield from super().state_consume_response_body(event)

    @override
    def handle_protocol_error(self, event: RequestProtocolError | ResponseProtocolError) -> CommandGenerator[None]:
        held = TEE in self.flow.metadata and self.server_state == self.state_consume_response_body
        if held and isinstance(event, ResponseProtocolError) and self.flow.response is not None:
            # An incomplete answer is not held: the client gets what arrived.
            yield SendHttp(ResponseHeaders(self.stream_id, self.flow.response, end_stream=False), self.context.client)
            if self.response_body_buf:
                yield SendHttp(ResponseData(self.stream_id, bytes(self.response_body_buf)), self.context.client)
        yield from super().handle_protocol_error(event)


class HoldingLayer(HttpLayer):
    """Makes holding streams."""

    @override
    def make_stream(self, stream_id: int) -> CommandGenerator[None]:
        self.streams[stream_id] = stream = HoldingStream(self.context.fork(), stream_id)
        yield from self.event_to_child(stream, events.Start())


def holding(layer: Layer | None) -> Layer | None:
    """The same stack of layers, with an HTTP layer that can hold answers."""
    below: object = layer
    while isinstance(below, Layer):
        if type(below) is HttpLayer:
            below.__class__ = HoldingLayer
        below = getattr(below, "child_layer", None)
    return layer
