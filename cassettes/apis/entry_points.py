"""The protocols that are installed, read from the entry-point group `turntape.protocols` on first use.

An entry point names an object with an `api` (a `Registration`, or a whole protocol of the inspector), a tuple of such
objects, or a function without parameters that returns one of these. One that cannot be loaded costs one warning and
nothing else.
"""

import logging
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

from ..errors import TurntapeError
from .installed import OwnPoint, entry_points
from .interface import Api

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    type Point = EntryPoint | OwnPoint

GROUP = "turntape.protocols"

log = logging.getLogger(__name__)


@runtime_checkable
class HasApi(Protocol):
    """A protocol, or its registration."""

    @property
    def api(self) -> Api: ...


_FIRST, _OTHERS, _LAST = 0, 1, 2
_OWN_PLACES = {"settings": _FIRST, "built-in": _LAST}
"""What a user declares comes before what is installed, and our own table comes last: the first that fits counts."""


@cache
def registered() -> tuple[HasApi, ...]:
    """All protocols in the order in which they are asked; never raises."""
    return tuple(one for point in sorted(entry_points(group=GROUP), key=_order) for one in _loaded(point))


def _order(point: "Point") -> tuple[int, str, str]:
    package = _package(point)
    place = _OWN_PLACES.get(point.name, _OTHERS) if package == "turntape" else _OTHERS
    return place, package, point.name


def _package(point: "Point") -> str:
    return point.dist.name if point.dist is not None else ""


def _loaded(point: "Point") -> tuple[HasApi, ...]:
    try:
        return tuple(_items(point.load()))
    except Exception as exc:  # noqa: BLE001 - somebody else's code; recording and replay go on without it
        problem = str(exc) if isinstance(exc, TurntapeError) else f"{type(exc).__name__}: {exc}"
        log.warning("turntape: the protocol %r of %r is not used: %s", point.name, _package(point), problem)
        return ()


def _items(loaded: object) -> Iterator[HasApi]:
    if callable(loaded) and not isinstance(loaded, HasApi):
        loaded = loaded()
    for one in cast(tuple[object, ...], loaded) if isinstance(loaded, tuple | list) else (loaded,):
        if not isinstance(getattr(one, "api", None), Api):
            raise TypeError(f"{one!r} has no `api` of the type turntape.cassettes.apis.interface.Api")
        yield cast(HasApi, one)
