"""The settings of a test's marker, and the fault of a parametrised test."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from ..errors import TurntapeError
from ..faults.fault import Fault, Faults
from ..matching.grades import Matching
from ..matching.settings import matching_of
from ..replay.pace import Pace
from ..replay.record_modes import Mode, effective_mode
from ..settings import Profile, Rule
from .ini_options import of_ini
from .mark_arguments import checked
from .naming import cassette_path, fault_id

FAULT = "turntape_fault"
"""The parameter that injects faults into a replay: None, a `Fault`, or several."""


@dataclass(frozen=True, slots=True)
class Marker:
    """The arguments of the marker; docs/testing.md explains each."""

    path: str | os.PathLike[str] | None = None
    mode: str | None = None
    profile: Profile | None = None
    rules: Mapping[str, Rule] | None = None
    ignore: tuple[str, ...] = ()
    ignore_text: tuple[str, ...] = ()
    map_values: bool | None = None
    faults: Faults | None = None
    pace: str | float = "instant"
    redact_keep: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    live_tools: tuple[str, ...] = ()
    upstreams: Mapping[str, str] | None = None
    fork: str | os.PathLike[str] | None = None
    fork_at: int | None = None
    edit: tuple[str, ...] = ()
    partial: bool = False
    any_order: bool = False
    repeats: bool = False
    tests: Mapping[str, Mapping[str, Any]] | None = None
    """Settings of single tests that the mark holds for, by their name: `test_a[gpt-5]`."""

    @classmethod
    def of(cls, item: pytest.Item | pytest.Collector) -> "Marker":
        """The combined settings of the markers of a test, its classes and its module; the nearest takes precedence.

        An argument that is None is as if it were left out, also for the markers further out. Raises TurntapeError for
        an unknown setting, and for a value that it cannot have.
        """
        given = of_ini(item.config)
        for marker in reversed(list(item.iter_markers("turntape"))):
            if marker.args:
                raise TurntapeError(
                    f"@pytest.mark.turntape was given {marker.args[0]!r} without a name; write path=… or mode=…"
                )
            given |= checked({**marker.kwargs, **own_settings(marker.kwargs, item.name)}, cls.__slots__)
        given = {name: value for name, value in given.items() if value is not None}
        if ("fork" in given) != ("fork_at" in given) or ("edit" in given and "fork" not in given):
            raise TurntapeError("@pytest.mark.turntape forks with fork=FILE and fork_at=TURN together; write both")
        return cls(**given)

    def matching(self, ini: Callable[[str], Any]) -> Matching:
        """How similar a request must be to its recording. pytest's ini file and the project's settings add to it for
        every test. Raises TurntapeError for an invalid value."""
        return matching_of(
            self.profile or ini("turntape_profile") or None,
            self.rules,
            (*ini("turntape_ignore"), *self.ignore),
            (*ini("turntape_ignore_text"), *self.ignore_text),
            map_values=self.map_values,
            repeats=self.repeats,
        )

    def paced(self) -> Pace:
        """The pace. Raises TurntapeError for an invalid one."""
        try:
            return Pace.of(self.pace)
        except ValueError as exc:
            raise TurntapeError(f"@pytest.mark.turntape: {exc}") from exc


def own_settings(given: Mapping[str, Any], test: str) -> dict[str, Any]:
    """What the arguments of a mark say of this test alone. Raises TurntapeError when they say it in another way."""
    tests: object = given.get("tests") or {}
    own: object = cast("Mapping[str, object]", tests).get(test, {}) if isinstance(tests, Mapping) else None
    if not isinstance(own, Mapping):
        raise TurntapeError(
            f"@pytest.mark.turntape was given tests={tests!r}; write the settings of single tests by name: "
            'tests={"test_a[x]": {"profile": "strict"}}'
        )
    return dict(cast("Mapping[str, Any]", own))


@dataclass(frozen=True, slots=True)
class Faulty:
    """The faults of a test that is parametrised with `turntape_fault`."""

    faults: tuple[Fault, ...]
    id: str

    @classmethod
    def of(cls, item: pytest.Item) -> "Faulty | None":
        """The faults of this test; None if it has no such parameter."""
        params: Mapping[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
        if FAULT not in params:
            return None
        given = params[FAULT]
        faults = () if given is None else (given,) if isinstance(given, Fault) else tuple(cast("Iterable[Any]", given))
        for fault in faults:
            if not isinstance(fault, Fault):
                raise TurntapeError(f"{FAULT} was given {fault!r}; write None, Fault(turn, kind), or several of them")
        return cls(faults, fault_id(given))


def mode_for(settings: Marker, config: pytest.Config, given: str | None) -> Mode:
    """The record mode: `given` on the command line, then the environment, the marker and the ini file.

    Raises TurntapeError for an unknown one.
    """
    return effective_mode(settings.mode or cast(str, config.getini("turntape_mode")) or None, os.environ, given)


def cassette_of(item: pytest.Item, settings: Marker) -> Path:
    """The cassette of a test. Tests that differ only in their fault share one."""
    faulty = Faulty.of(item)
    return cassette_path(item, settings.path, without=faulty.id if faulty else None)
