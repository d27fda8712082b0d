"""mitmproxy's objects without the work that serves only those who write addons: a fifth of the time of a request.

It compares the type of each field of a message with its annotation whenever one is made, which `python -O` leaves out,
and looks up the fields of a hook each time one is called. It finds a header field with four functions for each field.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

from dataclasses import fields
from functools import cache

from hyperframe.frame import Frame
from mitmproxy import hooks, http


def install() -> None:
    """Leave that work out, in all of this process. A second call has no effect."""
    http.MessageData.__post_init__ = _unchecked
    hooks.Hook.args = _args
    http.Headers.get_all = _get_all
    http.Headers.get = _get
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


@cache
def _names(kind: type[hooks.Hook]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))  # pyright: ignore[reportArgumentType]
