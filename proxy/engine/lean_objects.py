"""mitmproxy's objects without the work that serves only its developers and addons: a fifth of the time of a request.

It compares the type of each field of a message with its annotation whenever one is made, which `python -O` leaves out,
and looks up the fields of a hook each time one is called. It finds a header field with four functions for each field.
A copy of a context makes a connection that is thrown away, and each layer asks for each event and each command whether
it is debugged. Each frame of HTTP/2 is made a text for a log. The same name of a host is checked for each request, an
option that cannot change is copied twice whenever it is read, and each flow gets random bytes from the system.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportPrivateUsage=false

import copy
from dataclasses import fields
from functools import cache, lru_cache
from itertools import count

from hyperframe.frame import Frame
from mitmproxy import connection, flow, hooks, http, optmanager
from mitmproxy.net.http import url
from mitmproxy.proxy import commands, events
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
    url.parse_authority = _parse_authority
    optmanager._Option.current = _current
    connection.Connection.__eq__ = _is_same
    hooks.Hook.__new__ = commands.StartHook.__new__ = _new_hook  # pyright: ignore[reportAttributeAccessIssue]
    flow.uuid = _Numbered  # pyright: ignore[reportPrivateImportUsage]
    http.Headers.__contains__ = _contains  # pyright: ignore[reportAttributeAccessIssue]


_parse_authority = lru_cache(64)(url.parse_authority)


def _current(self: optmanager._Option) -> object:
    value = self._default if self.value is optmanager.unset else self.value
    return value if isinstance(value, str | int | None) else copy.deepcopy(value)


def _is_same(self: connection.Connection, other: object) -> bool:
    return self is other or (
        (type(other) is type(self) or isinstance(other, connection.Connection)) and self.id == other.id
    )


def _new_hook(cls: type[hooks.Hook], *args: object, **kwargs: object) -> hooks.Hook:
    return object.__new__(cls)


class _Numbered:
    """Ids of flows, in the place of the module `uuid`. Nobody sees them outside this process."""

    _next = count()

    @classmethod
    def uuid4(cls) -> int:
        return next(cls._next)


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
    fork = object.__new__(Context)
    fork.client, fork.server, fork.options = self.client, self.server, self.options
    fork.layers = self.layers.copy()
    return fork


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
