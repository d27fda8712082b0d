"""What pytest's ini file gives to every marked test."""

from collections.abc import Iterable
from typing import Any, cast

import pytest

from ..errors import TurntapeError
from ..matching.profiles import PROFILES
from ..replay.pace import Pace
from ..replay.record_modes import MODES
from .nearest import hint

_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def of_ini(config: pytest.Config) -> dict[str, Any]:
    """The arguments of the mark that the ini file gives to every test; `Marker.matching` and `ActiveTest` read the
    others.

    Raises TurntapeError for a line that is not `name = value`.
    """
    given: dict[str, Any] = {}
    for name in ("rules", "upstreams"):
        lines = cast("list[str]", config.getini(f"turntape_{name}"))
        if lines:
            given[name] = dict(_pair(name, line) for line in lines)
    if pace := config.getini("turntape_pace"):
        given["pace"] = pace
    if said := cast(str, config.getini("turntape_map_values")):
        given["map_values"] = said.strip().lower() in _TRUE
    for name in ("partial", "any_order", "repeats"):
        if config.getini(f"turntape_{name}"):
            given[name] = True
    return given


def _pair(name: str, line: str) -> tuple[str, str]:
    key, equals, value = (part.strip() for part in line.partition("="))
    if not key or not equals or not value:
        raise TurntapeError(f"turntape_{name} has the line {line!r}; write name = value")
    return key, value


def check(config: pytest.Config, written: Iterable[str], known: Iterable[str]) -> None:
    """Raise TurntapeError for an option of the ini file that is none of the known ones, or has a value that it cannot
    have. `written` are the options in the file."""
    for name in written:
        if name not in known:
            raise TurntapeError(f"the ini file has {name!r}, which is not an option; {hint(name, known)}")
        try:
            value: object = config.getini(name)
        except (ValueError, TypeError, pytest.UsageError) as exc:  # not of the type that pytest expects
            raise TurntapeError(f"the ini file has {name} with a wrong value: {exc}") from exc
        said = f"the ini file has {name} = {value}"
        for option, allowed in (("turntape_mode", MODES), ("turntape_profile", PROFILES)):
            if name == option and value and value not in allowed:
                raise TurntapeError(f"{said}; {hint(value, allowed)}")
        if name == "turntape_map_values" and value and str(value).strip().lower() not in _TRUE + _FALSE:
            raise TurntapeError(f"{said}; write true or false")
        if name == "turntape_pace" and value:
            try:
                Pace.of(str(value))
            except ValueError as exc:
                raise TurntapeError(f"the ini file: {exc}") from exc
