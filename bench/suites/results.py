"""What came of the same tests in two runs, read from the reports that pytest writes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

type State = Literal["passed", "failed", "skipped"]

_REASON = re.compile(r"(?:turntape|no recorded round trip|the run is not the recorded one)[^\n]*")
_LONGEST = 240


@dataclass(frozen=True, slots=True)
class Result:
    """One test."""

    state: State
    reason: str = ""
    """The first line that says why it failed."""


def read(report: Path) -> dict[str, Result]:
    """The tests of a JUnit report by name. A test that fails at its end has failed.

    Raises RuntimeError when pytest wrote no report, as when it cannot import the `conftest.py`.
    """
    if not report.exists():
        raise RuntimeError(f"pytest ran no test and wrote no {str(report)!r}; the log beside it says why")
    found: dict[str, Result] = {}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        bad = [part for part in case if part.tag in ("failure", "error")]
        if bad:
            said = "\n".join(f"{part.get('message') or ''}\n{part.text or ''}" for part in bad)
            match = _REASON.search(said)
            found[name] = Result("failed", (match[0] if match else said.strip().partition("\n")[0])[:_LONGEST])
        elif found.get(name, Result("passed")).state != "failed":
            is_skipped = any(part.tag == "skipped" for part in case)
            found[name] = Result("skipped" if is_skipped else "passed")
    return found


@dataclass(frozen=True, slots=True)
class Comparison:
    """The tests that pass with vcrpy, and those of them that do not pass afterwards."""

    passed_before: int
    lost: Mapping[str, str]
    """The reason of each."""
    gained: int
    """Tests that vcrpy fails and that pass afterwards."""

    @property
    def share(self) -> float:
        """How many of the tests that passed before pass afterwards, from 0 to 1."""
        return 1 - len(self.lost) / self.passed_before if self.passed_before else 0.0


def compare(before: Mapping[str, Result], after: Mapping[str, Result]) -> Comparison:
    """The two runs of one suite. A test that is missing afterwards is lost."""
    missing = Result("failed", "it was not run")
    passed = [name for name, result in before.items() if result.state == "passed"]
    lost = {name: after.get(name, missing).reason for name in passed if after.get(name, missing).state != "passed"}
    gained = [
        name
        for name, result in before.items()
        if result.state == "failed" and after.get(name, missing).state == "passed"
    ]
    return Comparison(len(passed), lost, len(gained))
