"""Which API an endpoint belongs to. The first that fits counts, and answers are kept: a replay asks once a request."""

import re
from functools import cache, lru_cache

from .entry_points import registered
from .interface import Api, HeaderFields, SessionTurns, Shape

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


def is_turn_path(path: str) -> bool:
    """True for the path of a generation endpoint of any API; `path` has no query and no slash at the end."""
    return _ends(turn_paths()).search(path) is not None


def is_recorded_path(path: str) -> bool:
    """True for a path that is recorded on any host; `path` has no query."""
    return _ends(recorded_paths()).search(path) is not None


@cache
def _ends(paths: tuple[str, ...]) -> re.Pattern[str]:
    """An expression for all paths with one of these ends; `*` is one segment, `**` one or several."""
    ends = (re.escape(path).replace(r"\*\*", ".+").replace(r"\*", "[^/]+") for path in paths)
    return re.compile(f"(?:{'|'.join(ends)})$") if paths else re.compile(r"(?!)")


def is_recorded_shape(method: str, headers: HeaderFields, body: bytes) -> bool:
    """True for a request that is recorded on any host because of what it holds."""
    return any(shape.request(method, headers, body) for shape in _shapes())


def is_endless(method: str, headers: HeaderFields, body: bytes) -> bool:
    """True for a request whose answer is a stream that only the client ends."""
    return any(shape.endless(method, headers, body) for shape in _shapes())


def ends_an_answer(event: bytes) -> bool:
    """True for an event that ends a stream of an API that is recognised by shape."""
    return any(shape.answer(event) for shape in _shapes())


def opening(beginning: bytes) -> str | None:
    """The URL that a stream names for the client's messages; empty for another stream, None while that is open."""
    found = [shape.opening(beginning) for shape in _shapes()]
    return next((url for url in found if url), None if None in found else "")


@cache
def _shapes() -> tuple[Shape, ...]:
    return tuple(api.shape for api in _apis() if api.shape is not None)


def asks_for_a_turn(message: bytes) -> bool:
    """True for a WebSocket message with which a client asks for an answer."""
    return any(turns.asked_by(message) for turns in _session_turns())


def answers_a_turn(message: bytes) -> bool:
    """True for one WebSocket message of each answer of a server."""
    return any(turns.answered_by(message) for turns in _session_turns())


@cache
def _session_turns() -> tuple[SessionTurns, ...]:
    found = [api.session_turns for api in _apis() if api.session_turns is not None]
    return tuple(turns for place, turns in enumerate(found) if turns not in found[:place])


@cache
def _apis() -> tuple[Api, ...]:
    return tuple(one.api for one in registered())


def forget() -> None:
    """Read the entry points again on the next use: for tests, and after a package was installed."""
    for cached in (registered, _apis, _at, stream_ends, turn_paths, recorded_paths, _shapes, _session_turns):
        cached.cache_clear()
