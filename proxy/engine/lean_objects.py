"""mitmproxy's objects without the work that serves only its developers and addons: a fifth of the time of a request.

It compares the type of each field of a message with its annotation whenever one is made, which `python -O` leaves out,
and looks up the fields of a hook each time one is called. It finds a header field with four functions for each field.
A copy of a context makes a connection that is thrown away, and each layer asks for each event and each command whether
it is debugged. Each frame of HTTP/2 is made a text for a log.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportPrivateUsage=false

from dataclasses import fields
from functools import cache

from hyperframe.frame import Frame
from mitmproxy import hooks, http
from mitmproxy.proxy import events
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layer import CommandGenerator, Layer, Paused


def install() -> None:
    """Leave that work out, in all of this process. A second call has no effect."""
    http.MessageData.__post_init__ = _unchecked
    hooks.Hook.args = _args
    http.Headers.get_all = _get_all
    http.Headers.get = _get
    Context.fork = _fork
    Layer.handle_event = _handle_event
    Frame.__repr__ = object.__repr__
    http.Headers.__contains__ = _contains  # pyright: ignore[reportAttributeAccessIssue]


def _unchecked(self: http.MessageData) -> None:
    pass


def _args(self: hooks.Hook) -> list[object]:
    return [getattr(self, name) for name in _names(type(self))]


def _get_all(self: http.Headers, name: str | bytes) -> list[str]:
    wanted = (name if isinstance(name, bytes) else name.encode("utf-8", "surrogateescape")).lower()
    size = len(wanted)
    return [
        value.decode("utf-8", "surrogateescape")
        for key, value in self.fields
        if len(key) == size and key.lower() == wanted
    ]


def _get(self: http.Headers, key: str | bytes, default: object = None) -> object:
    values = _get_all(self, key)
    return ", ".join(values) if values else default


def _contains(self: http.Headers, key: str | bytes) -> bool:
    return bool(_get_all(self, key))


def _fork(self: Context) -> Context:
    copy = object.__new__(Context)
    copy.client, copy.server, copy.options = self.client, self.server, self.options
    copy.layers = self.layers.copy()
    return copy


_handle_event_paused = Layer.handle_event


def _handle_event(self: Layer, event: events.Event) -> CommandGenerator[None]:
    if self._paused:
        yield from _handle_event_paused(self, event)
        return
    handling = self._handle_event(event)
    for command in handling:
        if command.blocking is True:
            command.blocking = self  # for the layers around this one it does not block
            self._paused = Paused(command, handling)
            yield command
            return
        yield command


@cache
def _names(kind: type[hooks.Hook]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))  # pyright: ignore[reportArgumentType]
