"""`pytest --turntape-ship STORE`: ships the cassettes of a test run, with the name of the test and its verdict."""

from pathlib import Path
from typing import Any, cast

import pytest

_KEY = "turntape_ship"
_VERDICTS = {"passed": "pass", "failed": "fail"}

type Used = list[tuple[str, str, str]]
"""Path, test and verdict."""


class SuiteShipping:
    """Notes what each test used, and ships all of it at the end. A worker of pytest-xdist only notes."""

    def __init__(self, config: pytest.Config, to: str) -> None:
        self._config = config
        self._to = to
        self._used: Used = []
        self._said: list[str] = []

    def pytest_turntape_finished(self, nodeid: str, path: Path, outcome: str | None) -> None:
        """Note a test whose code has passed or failed."""
        verdict = _VERDICTS.get(outcome or "")
        if verdict is not None:
            self._used.append((str(path), nodeid, verdict))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """A worker has ended: add what it noted."""
        self._used += [(path, test, verdict) for path, test, verdict in getattr(node, "workeroutput", {}).get(_KEY, ())]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Ship, or hand over to the session that started this worker."""
        worker = cast("dict[str, Any] | None", getattr(self._config, "workeroutput", None))
        if worker is not None:
            worker[_KEY] = self._used
        elif self._used:
            self._said = self._ship()

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say what was shipped, and what was not."""
        if self._said:
            terminalreporter.section("turntape: shipped")
            for line in self._said:
                terminalreporter.write_line(line)

    def _ship(self) -> list[str]:
        from turntape.cassettes.counted import several
        from turntape.cassettes.errors import TurntapeError

        from ..fleet.shipping.ship import ShipOptions, default_spool, ship

        labels = labels_of(self._used)
        paths = [path for path in labels if path.exists()]
        try:
            shipped = ship(paths, self._to, ShipOptions(spool=default_spool()), labels_of=labels)
        except TurntapeError as exc:
            return [f"nothing: {exc}", "the cassettes wait in the spool for the next `turntape ship`"]
        sent, there = shipped.count("new", "grown"), shipped.count("unchanged", "older")
        first = f"{several(sent, 'cassette')} to {self._to}; {there} there already"
        return [first, *(file.problem for file in shipped.files if file.problem is not None)]


def labels_of(used: Used) -> dict[Path, dict[str, str]]:
    """The labels of each cassette: its first test, and `fail` when one of its tests failed."""
    found: dict[Path, dict[str, str]] = {}
    for name, test, verdict in used:
        labels = found.setdefault(Path(name), {"task": test, "verdict": verdict})
        if verdict == "fail":
            labels["verdict"] = verdict
    return found
