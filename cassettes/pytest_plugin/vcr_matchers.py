"""What the matchers of a suite ignore in a request: each is asked about recorded requests with one value changed.

A suite may compare bodies with its own function. `turntape import --pytest` cannot read what it does, but it can
try it: a value that may be missing, and may be another one, in every recorded request, is one that the suite ignores.
"""

import copy
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

type Matcher = Callable[[Any, Any], object]

_MOST_REQUESTS = 8
"""At most this many requests of a recording are tried."""
_DEEPEST = 6
_OTHER = "turntape tries what is ignored"


def ignored_by(matchers: Sequence[Matcher], requests: Sequence[Any]) -> list[str] | None:
    """Pointers of the values that all these matchers ignore in requests of vcrpy, `*` for any place in a list; the
    empty pointer where they ignore the whole body. None when no request shows it: without JSON, or refused as it is."""
    tried: dict[str, bool] = {}
    for request in requests[:_MOST_REQUESTS]:
        body = _json(request.body)
        if body is None or not _accept(matchers, request, body):
            continue
        for pattern, others in _variants(body):
            parent = pattern.rpartition("/")[0]
            if pattern and any(tried.get(above) for above in (parent, *_above(parent))):
                continue
            tried[pattern] = tried.get(pattern, True) and all(_accept(matchers, request, one) for one in others)
    found = [pattern for pattern, is_ignored in tried.items() if is_ignored]
    return [one for one in found if not any(above in found for above in _above(one))] if tried else None


def _above(pattern: str) -> Iterator[str]:
    while pattern:
        pattern = pattern.rpartition("/")[0]
        yield pattern


def _json(body: Any) -> dict[str, Any] | None:
    try:
        found: Any = json.loads(body)
    except (TypeError, ValueError):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) and found else None


def _accept(matchers: Sequence[Matcher], request: Any, body: dict[str, Any]) -> bool:
    """True when the matchers take a request with this body for the recorded one. As in vcrpy, None means yes."""
    other = copy.copy(request)
    other.body = json.dumps(body).encode()
    try:
        return all(matcher(other, request) in (None, True) for matcher in matchers)
    except Exception:  # noqa: BLE001 - a function of the user, which may refuse by any error
        return False


def _variants(body: dict[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """For each value in a body, from the outside in: its pattern, and the body without it and with another one."""
    yield "", [{_OTHER: _OTHER}]
    level: list[tuple[str, tuple[str | int, ...], Any]] = [("", (), body)]
    for _ in range(_DEEPEST):
        below: list[tuple[str, tuple[str | int, ...], Any]] = []
        for pattern, way, value in level:
            below += [(f"{pattern}/{name}", (*way, key), one) for name, key, one in _parts(value)]
        for pattern, way, value in below:
            if isinstance(way[-1], str):
                yield pattern, [_changed(body, way), _changed(body, way, _another(value))]
        level = below


def _parts(value: Any) -> list[tuple[str, str | int, Any]]:
    """What is in a value: how a pattern names it, its key or place, and itself."""
    if isinstance(value, dict):
        return [(_escaped(key), key, one) for key, one in cast("dict[str, Any]", value).items()]
    return [("*", place, one) for place, one in enumerate(cast("list[Any]", value))] if isinstance(value, list) else []


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _changed(body: dict[str, Any], way: tuple[str | int, ...], *value: Any) -> dict[str, Any]:
    made = copy.deepcopy(body)
    holder: Any = made
    for key in way[:-1]:
        holder = holder[key]
    if value:
        holder[way[-1]] = value[0]
    else:
        del holder[way[-1]]
    return made


def _another(value: Any) -> Any:
    """Another value of the same kind."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 12345
        case list():
            return [_OTHER]
        case dict():
            return {_OTHER: _OTHER}
        case _:
            return _OTHER
