"""HTTP/1 trailers: mitmproxy does not support them and leaves the connection hanging, so they are passed on here."""

# mitmproxy's layers are generators without useful types.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportPrivateUsage=false, reportUnknownLambdaType=false

from collections.abc import Callable, Generator
from typing import Any

import h11
from mitmproxy import http
from mitmproxy.proxy import commands
from mitmproxy.proxy.layers.http import _http1 as http1
from mitmproxy.proxy.layers.http._base import ReceiveHttp
from mitmproxy.proxy.layers.http._events import RequestEndOfMessage, RequestTrailers, ResponseTrailers

type Layer = Any
type Commands = Generator[Any, Any, None]

_END = b"0\r\n\r\n"


class _Reader:
    """A body reader that keeps the trailers for later."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._trailers: list[tuple[bytes, bytes]] = []

    def __call__(self, buffer: Any) -> Any:
        return self._kept(self._inner(buffer))

    def read_eof(self) -> Any:
        return self._kept(self._inner.read_eof())

    def _kept(self, event: Any) -> Any:
        if isinstance(event, h11.EndOfMessage) and event.headers:
            self._trailers = [(bytes(name), bytes(value)) for name, value in event.headers.raw_items()]
            return h11.EndOfMessage()
        return event

    def take(self) -> list[tuple[bytes, bytes]]:
        taken, self._trailers = self._trailers, []
        return taken


def _reading(original: Callable[[Layer, Any], Commands]) -> Callable[[Layer, Any], Commands]:
    def read_body(self: Layer, event: Any) -> Commands:
        for command in original(self, event):
            if isinstance(command, ReceiveHttp) and isinstance(command.event, self.ReceiveEndOfMessage):
                fields = self.body_reader.take()
                if fields:
                    kind = RequestTrailers if isinstance(command.event, RequestEndOfMessage) else ResponseTrailers
                    yield ReceiveHttp(kind(command.event.stream_id, http.Headers(fields)))
            yield command

    return read_body


def _sending(original: Callable[[Layer, Any], Commands]) -> Callable[[Layer, Any], Commands]:
    def send(self: Layer, event: Any) -> Commands:
        if isinstance(event, RequestTrailers | ResponseTrailers):
            self.turntape_trailers = event.trailers
            return
        for command in original(self, event):
            if isinstance(command, commands.SendData) and command.data == _END:
                fields = getattr(self, "turntape_trailers", None)
                if fields:
                    lines = b"".join(b"%s: %s\r\n" % (name, value) for name, value in fields.fields)
                    command.data = b"0\r\n" + lines + b"\r\n"
                    self.turntape_trailers = None
            yield command

    return send


def pass_trailers_on() -> None:
    """Change mitmproxy's HTTP/1 layers so that they pass trailers on. The second call in a process has no effect."""
    if hasattr(http1, "turntape_trailers"):
        return
    make = http1.make_body_reader
    places: tuple[tuple[Any, str, Any], ...] = (
        (http1, "make_body_reader", lambda expected_size: _Reader(make(expected_size))),
        (http1.Http1Connection, "read_body", _reading(http1.Http1Connection.read_body)),
        (http1.Http1Client, "send", _sending(http1.Http1Client.send)),
        (http1.Http1Server, "send", _sending(http1.Http1Server.send)),
        (http1, "turntape_trailers", True),
    )
    for owner, name, value in places:
        setattr(owner, name, value)
