"""What the arguments of `@pytest.mark.turntape` may be. A wrong one is an error in one sentence."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from ..errors import TurntapeError
from ..faults.fault import Fault
from ..matching.profiles import PROFILES
from ..replay.record_modes import MODES
from .nearest import hint

_MARK = "@pytest.mark.turntape"
_ALL_SERVERS = 'for every tool server write live_tools="*"'


def checked(given: Mapping[str, Any], known: Iterable[str]) -> dict[str, Any]:
    """The arguments of a mark, as its settings hold them: lists of texts are tuples.

    Raises TurntapeError for an unknown name and for a value that the argument cannot have.
    """
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            raise TurntapeError(f"{_MARK} has no setting {name!r}; {hint(name, known)}")
        found[name] = value if value is None or name not in _CHECKS else _CHECKS[name](name, value)
    return found


def _wrong(name: str, value: object, instead: str) -> TurntapeError:
    return TurntapeError(f"{_MARK} was given {name}={value!r}; {instead}")


def _one_of(names: Iterable[str]) -> Callable[[str, Any], Any]:
    def check(name: str, value: Any) -> Any:
        if value not in names:
            raise _wrong(name, value, hint(value, names))
        return value

    return check


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _wrong(name, value, "write True or False")
    return value


def _texts(name: str, value: Any) -> tuple[str, ...]:
    """One text, or several; an iterator is read once."""
    if isinstance(value, str):
        return (value,)
    more = f", or {_ALL_SERVERS}" if name == "live_tools" else ""
    if not isinstance(value, Iterable) or isinstance(value, Mapping | bytes):
        raise _wrong(name, cast("object", value), f"write a text, or a list of texts{more}")
    found = tuple(cast("Iterable[object]", value))
    for one in found:
        if not isinstance(one, str):
            raise _wrong(name, list(found), f"{one!r} in it is not a text{more}")
    return cast("tuple[str, ...]", found)


def _hosts(name: str, value: Any) -> tuple[str, ...]:
    found = _texts(name, value)
    for one in found:
        if "://" in one and (host := urlsplit(one).netloc):
            raise _wrong(name, value, f"it takes hosts, not URLs: write {host.rpartition('@')[2]!r}")
    return found


def _pairs(name: str, value: Any, example: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _wrong(name, value, f"write {example}")
    found = dict(cast("Mapping[object, Any]", value))
    for key in found:
        if not isinstance(key, str):
            raise _wrong(name, found, f"{key!r} in it is not a text; write {example}")
    return cast("dict[str, Any]", found)


def _rules(name: str, value: Any) -> dict[str, Any]:
    return _pairs(name, value, 'a rule for each field: rules={"system": "warn"}')


def _upstreams(name: str, value: Any) -> dict[str, str]:
    example = 'the URL of each API: upstreams={"openai": "https://…"}'
    for url in _pairs(name, value, example).values():
        if not isinstance(url, str) or urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise _wrong(name, value, f"{url!r} is not a URL; write {example}")
    return dict(value)


def _file(name: str, value: Any) -> Any:
    if not isinstance(value, str | os.PathLike) or not str(cast("object", value)):
        raise _wrong(name, cast("object", value), "write the name of a file, relative to the test file")
    return cast("object", value)


def _faults(name: str, value: Any) -> Any:
    instead = 'write Fault(1, "429"), a list of such, or the name of a file with faults'
    if isinstance(value, str) and not value.endswith(".toml") and not Path(value).exists():
        raise _wrong(name, value, instead)
    if isinstance(value, str | os.PathLike | Fault):
        return cast("object", value)
    found = list(cast("Iterable[object]", value)) if isinstance(value, Iterable) else [cast("object", value)]
    if not isinstance(value, Iterable) or not all(isinstance(one, Fault) for one in found):
        raise _wrong(name, cast("object", value), instead)
    return found


def _turn(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise _wrong(name, value, "write the number of a turn, from 1")
    return value


_CHECKS: Mapping[str, Callable[[str, Any], Any]] = {
    "path": _file,
    "mode": _one_of(MODES),
    "profile": _one_of(PROFILES),
    "rules": _rules,
    "ignore": _texts,
    "ignore_text": _texts,
    "map_values": _flag,
    "faults": _faults,
    "redact_keep": _texts,
    "allow": _hosts,
    "live_tools": _texts,
    "upstreams": _upstreams,
    "fork": _file,
    "fork_at": _turn,
    "edit": _texts,
    "partial": _flag,
    "any_order": _flag,
    "repeats": _flag,
}
"""By the name of the argument. `pace` and `tests` are checked where they are read."""
