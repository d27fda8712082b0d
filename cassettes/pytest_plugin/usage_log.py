"""Which cassettes a session used, and how; `--turntape-check` and the summary read it. Survives xdist as JSON."""

import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import pytest

from ..counted import several
from ..errors import CassetteError, TurntapeError
from ..frozen import frozen
from ..redaction.lint import secrets_in
from ..redaction.redactor import Redactor
from ..regex import regex
from ..replay.new_cassette import is_unfinished
from ..replay.session import Session
from ..tape.reader import Cassette
from .active_test import ActiveTest
from .advice import from_here
from .collected_tests import folders_left
from .commands import again, targets_of
from .failures import Cause, ignored_requests, left_of_import
from .marker import Marker, cassette_of
from .naming import PHASES, file_of, folder_beside, folder_of, is_cassette

type State = Literal["played", "partly", "missed", "unplayed"]

_PLACE = regex(r"/\d+(?=/|$)")
"""A place in a list: one change may be at another place in each test."""
_NUMBER = regex(r"([0-9]{1,9})")
_END = regex(r"(?:: .*| is new| is gone)$")
_ELSEWHERE = 3
"""At most this many places of one change in the requests of other APIs are named."""
_NAMED = 5
"""At most this many tests are named."""
_RECORDED = 20
"""Of more tests than these only the sum of what they recorded is shown."""


def _kind(cause: Cause) -> tuple[str, ...]:
    """Equal for tests that fail for one reason. Values that are new in each run differ from test to test."""
    return *(dict.fromkeys(cause.parts) if cause.ignored else cause.changes), *cause.ignored


def _in_file_order(report: pytest.TestReport | pytest.CollectReport) -> tuple[str, int, list[str | int]]:
    """The order of tests in their files. They may have run in any other, under pytest-xdist and pytest-randomly."""
    file, line, _ = report.location or (report.nodeid, None, "")
    name = _NUMBER.split(report.nodeid)
    return file, line or 0, [int(part) if place % 2 else part for place, part in enumerate(name)]


def _places(cause: Cause) -> dict[str, str]:
    """The places that a cause names, by the place in any item of a list."""
    named = (_END.sub("", line) for line in cause.words if line.startswith("/"))
    return {_PLACE.sub("/*", place): place for place in named}


@frozen
class Use:
    """What one test, or a fixture for it, did with a cassette."""

    name: str
    """The test or the fixture, as the summary names it."""
    path: str
    state: State | None
    """None where the test was skipped or interrupted."""
    ignored: int
    """How many requests differ from the recording, where the profile ignores what they contain."""
    left: int = 0
    """How many turns of an imported recording were not requested."""
    recorded: int = 0
    """How many round trips it recorded."""
    failed: str = ""
    """What failed although it recorded: the test or the fixture."""


def _where(counted: Counter[str]) -> tuple[str, str] | None:
    """The test, or how many there are, and their names in brackets; None when there is none."""
    tests = sorted(counted)
    if len(tests) < 2:
        return (tests[0], "") if tests else None
    names = [*tests[:_NAMED], *([f"{len(tests) - _NAMED} more"] if len(tests) > _NAMED else ())]
    return f"{len(tests)} tests", f" ({', '.join(names)})"


class UsageLog:
    def __init__(self) -> None:
        self.notes: list[str] = []
        """Remarks for the summary, one sentence each."""
        self._uses: defaultdict[str, list[Use]] = defaultdict(list)
        """What was done with cassettes, by the test that ran."""
        self._moves: dict[str, list[str]] = {}
        """The commands that give a test the cassette of its earlier name, for each that has none."""
        self._owned: set[str] = set()
        """Cassettes of collected tests."""
        self._whole: set[str] = set()
        """Test files whose tests were all collected."""
        self.fixtures: set[str] = set()
        """The paths of the cassettes of longer-lived fixtures, without parameter and ending."""
        self._kept: dict[str, list[str]] = {}
        """What the marks of the tests of a cassette say is not a secret."""
        self._folders: dict[str, str] = {}
        """The folders of cassettes, with the test file of each."""
        self._causes: dict[str, Cause] = {}
        """Why tests failed."""
        self._found: list[str] | None = None

    def collected(self, config: pytest.Config, wanted: list[pytest.Item], items: list[pytest.Item]) -> None:
        for item in wanted:
            try:
                settings = Marker.of(item)
                path = str(cassette_of(item, settings))
                self._owned.add(path)
                self._kept.setdefault(path, []).extend(settings.redact_keep)
                self._folders[str(folder_of(item))] = str(item.path)
            except TurntapeError:  # the test itself says it
                continue
        chosen = {arg.partition("::")[0] for arg in config.args if "::" in arg}
        parts = {str((config.invocation_params.dir / name).resolve()) for name in chosen}
        self._whole |= {str(item.path) for item in items} - parts

    def started(self, test: str) -> None:
        """A test begins. If it is repeated, as by pytest-rerunfailures, only its last run counts."""
        for kept in (self._uses, self._moves, self._causes):
            kept.pop(test, None)

    def used(self, name: str, marked: ActiveTest) -> None:
        """Note what a finished test, or a fixture, did."""
        session, path = marked.session, str(marked.path)
        self.notes += [line for note in session.notes if (line := f"{name}: {note}") not in self.notes]
        if moves := marked.moves():
            self._moves[name] = moves
        recorded = marked.recorded if session.restamp is None else 0
        failed = marked.subject if marked.outcome == "failed" else ""
        ignored = ignored_requests(session) if session.restamp is None else 0
        left = left_of_import(session) if session.restamp is None and marked.outcome != "skipped" else 0
        self._uses[marked.item.nodeid].append(Use(name, path, self._state_of(marked), ignored, left, recorded, failed))

    def _state_of(self, marked: ActiveTest) -> State | None:
        if marked.outcome in (None, "skipped"):
            return None
        self._owned.add(str(marked.path))
        if marked.session.misses or marked.tools.missed:
            return "missed"
        if not marked.asked and marked.session.exists:
            return "unplayed"
        return "partly" if marked.left_over else "played"

    def used_by_vcr(self, test: str, path: Path, session: Session, recorded: int) -> None:
        """Note a cassette that a test has opened itself."""
        place = str(path.absolute())
        self._owned.add(place)
        self.notes += [f"{path}: {note}" for note in session.notes]
        plays = session.plan.plays and session.exists
        if plays or recorded:
            state: State | None = None if not plays else "missed" if session.misses else "played"
            self._uses[test].append(Use(test, place, state, 0, recorded=recorded))

    def failed(self, test: str, cause: Cause) -> None:
        """Note why a test failed."""
        self._causes.setdefault(test, cause)

    def said(self) -> list[str]:
        """The remarks, and once each how many recorded turns were not requested, and how many requests differ that the
        profile ignores."""
        left, ignored = Counter[str](), Counter[str]()
        for use in self._every_use():
            left[use.name] += use.left
            ignored[use.name] += use.ignored
        found = [*self.notes, *self._recorded()]
        if where := _where(+left):
            count, them = left.total(), "it" if left.total() == 1 else "them"
            turns = (
                f"{several(count, 'turn')} of the imported recordings {'was' if count == 1 else 'were'} not requested"
            )
            found.append(f"{where[0]}: {turns}: record again to remove {them}{where[1]}")
        if where := _where(+ignored):
            count = ignored.total()
            differ = f"{several(count, 'request')} {'differs' if count == 1 else 'differ'} from the recording"
            found.append(f"{where[0]}: {differ}: the profile sequence ignores what requests contain{where[1]}")
        return found

    def _recorded(self) -> Iterator[str]:
        """What was recorded, test by test; of many tests their sum, and those that failed all the same."""
        uses = [use for use in self._every_use() if use.recorded]
        listed = uses if len(uses) <= _RECORDED else [use for use in uses if use.failed]
        for use in listed:
            although = f", although the {use.failed} failed" if use.failed else ""
            path = from_here(Path(use.path))
            yield f"{use.name}: recorded {several(use.recorded, 'round trip')} to {path}{although}"
        if len(uses) > _RECORDED:
            files = {use.path for use in uses}
            trips = several(sum(use.recorded for use in uses), "round trip")
            below = from_here(Path(os.path.commonpath([str(Path(file).parent) for file in files])))
            yield f"recorded {trips} of {several(len(uses), 'test')} to {several(len(files), 'cassette')} below {below}"

    def _every_use(self) -> Iterator[Use]:
        return (use for uses in self._uses.values() for use in uses)

    def causes(self, config: pytest.Config, failures: Sequence[pytest.TestReport | pytest.CollectReport]) -> list[str]:
        """Each change that fails several tests, once, with the tests and what accepts it.

        `failures` are all of the run, whatever the reason; a test that passed when it ran again is not among them.
        """
        failed = [report.nodeid for report in sorted(failures, key=_in_file_order)]
        lines: list[str] = []
        groups: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        for test in dict.fromkeys(failed):
            if test in self._causes:
                groups[_kind(self._causes[test])].append(test)
        several_of = [tests for tests in sorted(groups.values(), key=len, reverse=True) if len(tests) > 1]
        for number, tests in enumerate(several_of, 1):
            lines += [
                f"{len(tests)} tests fail for one change:",
                *(f"  {line}" for line in self._causes[tests[0]].words),
                *self._elsewhere(tests),
                "  in:",
                *(f"    {test}" for test in tests[:_NAMED]),
                *([f"    and {len(tests) - _NAMED} more"] if len(tests) > _NAMED else ()),
                *(f"  {line}" for line in self._accepting(config, tests, set(failed), number)),
            ]
        return lines + self._renamed()

    def _elsewhere(self, tests: Sequence[str]) -> list[str]:
        """The places of the same change in the requests of other APIs."""
        known: set[str] = set()
        more: list[str] = []
        for places in (_places(self._causes[test]) for test in tests):
            if known.isdisjoint(places):
                more += list(places.values())[:1]
            known |= places.keys()
        _, *named = more or [""]
        end = ["…"] * (len(named) > _ELSEWHERE)
        return [f"  and at {', '.join(named[:_ELSEWHERE] + end)}"] if named else []

    def _renamed(self) -> list[str]:
        """All commands for tests that seem to be renamed, in one block."""
        if len(self._moves) < 2:
            return []
        commands = dict.fromkeys(command for _, moves in sorted(self._moves.items()) for command in moves)
        return [
            f"{len(self._moves)} tests have no cassette, and cassettes of tests that are gone hold their requests; "
            "if the tests were renamed or moved:",
            *(f"  {command}" for command in commands),
        ]

    def _accepting(self, config: pytest.Config, tests: Sequence[str], failed: Set[str], number: int) -> Iterator[str]:
        """What to do when a change that fails these tests is intended."""
        causes = [self._causes[test] for test in tests]
        if ignored := causes[0].ignored:
            sure = not any(cause.may_be_meant for cause in causes)
            why = "everything that differs looks new in each run;" if sure else "if what differs is new in each run,"
            yield f"{why} ignore it in turntape.toml, under [replay]:"
            yield from (f"  {line}" for line in ignored)
            if sure:
                return
        targets = targets_of(config, tests, failed, number)
        live = "record again"
        if all(cause.can_stay for cause in causes):
            yield "if the change is intended, keep the recorded answers (no API is called):"
            yield f"  {again(config, targets, '--turntape-mode=restamp')}"
            yield f"or {live}:"
        else:
            yield f"if the change is intended, {live}:"
        yield f"  {again(config, targets, '--turntape-mode=all')}"

    def as_json(self) -> dict[str, Any]:
        return {
            "notes": self.notes,
            "uses": {test: list(map(asdict, uses)) for test, uses in self._uses.items()},
            "moves": self._moves,
            "owned": sorted(self._owned),
            "whole": sorted(self._whole),
            "folders": self._folders,
            "kept": self._kept,
            "fixtures": sorted(self.fixtures),
            "causes": {test: asdict(cause) for test, cause in self._causes.items()},
        }

    def merge(self, other: dict[str, Any]) -> None:
        """Add what a worker saw."""
        self.notes += other["notes"]
        for test, uses in other["uses"].items():
            self._uses[test] += [Use(**use) for use in uses]
        self._moves |= other["moves"]
        for test, found in other["causes"].items():
            listed = {name: tuple(found[name]) for name in ("words", "changes", "parts", "ignored")}
            self._causes[test] = Cause(**found | listed)
        self._folders |= other["folders"]
        self._kept |= other["kept"]
        self.fixtures |= set(other["fixtures"])
        self._owned |= set(other["owned"])
        self._whole |= set(other["whole"])

    def check(self, config: pytest.Config) -> list[str]:
        """The problems of the cassettes, one sentence each, by file."""
        if self._found is None:
            paths = {Path(path) for path in self._owned} | set(self._beside(config))
            states: defaultdict[str, set[State]] = defaultdict(set)
            for use in self._every_use():
                states[use.path] |= {use.state} if use.state else set()
            self._found = [
                f"{path}: {said}"
                for path in sorted(paths)
                if path.exists()
                for said in self._of(path, states.get(str(path), set()))
            ]
        return self._found

    def _beside(self, config: pytest.Config) -> list[Path]:
        """The default cassettes of test files that were collected completely, and of those beside these that no longer
        exist."""
        found: list[Path] = []
        whole = {Path(path) for path in self._whole}
        for folder in (Path(name) for name, file in self._folders.items() if Path(file) in whole):
            found += [path for path in folder.iterdir() if is_cassette(path.name)] if folder.is_dir() else []
        near = {file.parent for file in whole}
        roots = {folder_beside(file, config).parent for file in whole}
        beside = {folder for root in roots if root.is_dir() for folder in root.iterdir() if folder.is_dir()}
        for folder in beside | {folder for folder, _ in folders_left(config)}:
            file = file_of(folder, config)
            if file is not None and (file in whole or (file.parent in near and not file.exists())):
                found += [path for path in folder.iterdir() if is_cassette(path.name)]
        return found

    def _is_of_fixture(self, path: Path) -> bool:
        name = next((path.name.removesuffix(end) for end in PHASES if path.name.endswith(end)), None)
        names = {Path(base).name for base in self.fixtures if Path(base).parent == path.parent}
        return name is not None and (name in names or any(name.startswith(f"{one}-") for one in names))

    def _of(self, path: Path, states: Set[State]) -> list[str]:
        if is_unfinished(path):
            return ["unfinished: the recording was interrupted; record again, or remove it"]
        found: list[str] = []
        if str(path) not in self._owned and not self._is_of_fixture(path):
            found.append("orphaned: no collected test uses it; remove it, or rename it with its test")
        if "missed" in states:
            found.append(
                "stale: its test sends requests that it does not contain; record again with --turntape-mode=all"
            )
        elif states and states <= {"partly"}:
            found.append("stale: its test does not use every recorded turn; record again with --turntape-mode=all")
        elif states == {"unplayed"}:
            found.append("unplayed: its test ran and sent no request; remove the cassette, or the mark")
        try:
            cassette = Cassette.load(path)
            redactor = Redactor.from_config(salt=cassette.salt).keeping(self._kept.get(str(path), ()))
            places = secrets_in(cassette, redactor)
            found += [f"damaged: {problem}" for problem in cassette.problems]
            if places:
                found.append(f"it contains a secret in {', '.join(places)}; revoke it, and record again")
        except CassetteError as exc:
            found.append(f"damaged: {exc}")
        return found
