"""mitmproxy's objects without the work that serves only those who write addons: a sixth of the time of a request.

It compares the type of each field of a message with its annotation whenever one is made, which `python -O` leaves out,
and looks up the fields of a hook each time one is called.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

from dataclasses import fields
from functools import cache

from mitmproxy import hooks, http


def install() -> None:
    """Leave that work out, in all of this process. A second call has no effect."""
    http.MessageData.__post_init__ = _unchecked
    hooks.Hook.args = _args


def _unchecked(self: http.MessageData) -> None:
    pass


def _args(self: hooks.Hook) -> list[object]:
    return [getattr(self, name) for name in _names(type(self))]


@cache
def _names(kind: type[hooks.Hook]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))  # pyright: ignore[reportArgumentType]
