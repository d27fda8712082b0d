"""Which API an endpoint belongs to. The first that fits counts, and answers are kept: a replay asks once a request."""

from functools import cache, lru_cache

from .entry_points import registered
from .interface import Api

UNKNOWN = Api()
"""An API of which nothing is known: no field is ignored, and faults that edit its answers are refused."""


def api_at(path: str) -> Api:
    """The API of an endpoint, as `request_key.path_key` spells it; a query does not count."""
    return _at(path.partition("?")[0])


@lru_cache(1024)
def _at(path: str) -> Api:
    return next((api for api in _apis() if api.path is not None and api.path.fullmatch(path)), UNKNOWN)


@cache
def stream_ends() -> tuple[bytes, ...]:
    """The bytes that end a stream of any API."""
    return tuple(dict.fromkeys(end for api in _apis() for end in api.stream_ends))


@cache
def turn_paths() -> tuple[str, ...]:
    """How the paths of the generation endpoints of all APIs end."""
    return tuple(dict.fromkeys(path for api in _apis() for path in api.turn_paths))


@cache
def recorded_paths() -> tuple[str, ...]:
    """How the paths end that are recorded on any host."""
    return tuple(dict.fromkeys((*turn_paths(), *(path for api in _apis() for path in api.other_paths))))


@cache
def _apis() -> tuple[Api, ...]:
    return tuple(one.api for one in registered())


def forget() -> None:
    """Read the entry points again on the next use: for tests, and after a package was installed."""
    for cached in (registered, _apis, _at, stream_ends, turn_paths, recorded_paths):
        cached.cache_clear()
