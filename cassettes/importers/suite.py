"""A pytest suite of vcrpy or cassetter as one of ours: its recordings, its marks and its settings.

The suite itself says what it uses (`pytest_plugin/vcr_survey.py`). Nothing is written here before `apply`.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from ..counted import several
from ..excerpts import listed
from ..frozen import frozen, mutable
from .conversion import planned
from .suite_imports import imports_in, recordings_below
from .suite_ini import IniChange
from .suite_marks import Rewrite, direct_uses, marks_in, neighbours
from .suite_survey import Unread
from .suite_values import story_values

_BODY_MATCHERS = frozenset({"body", "raw_body", "json_body"})
_CONTENT = frozenset({"body", "raw_body"})
_USUAL = frozenset({"method", "scheme", "host", "port", "path", "query", "uri", "headers"}) | _BODY_MATCHERS
_COVERED = {
    "filter_headers": "request headers are stored by an allow-list, and keys are replaced",
    "decode_compressed_response": "answers are always stored without their content-encoding",
    "record_mode": "the mode is --turntape-mode; without it nothing is recorded",
    "allowed_hosts": "named in allow",
    "serializer": "read by the import",
    "cassette_library_dir": "read by the import",
    "path_transformer": "read by the import",
    "allow_playback_repeats": "see repeats",
    "drop_unused_requests": "recording again replaces a cassette",
    "filter_query_parameters": "keys in a query do not count",
    "record_on_exception": "a failed test is recorded, and the summary says so",
    "ignore_localhost": "named in allow",
    "ignore_hosts": "named in allow",
    "match_on": "see profile",
    "additional_matchers": "see profile",
    "filter_post_data_parameters": "named in ignore",
    "ignored_by_matchers": "named in ignore",
    "story_values": "named in redact_keep",
}
_REQUESTS = "keys are replaced without it; `redact` in turntape.toml replaces more, ignore= in the mark compares less"
_ANSWERS = "answers are stored as they came, but for keys; `redact` in turntape.toml replaces more"
_INSTEAD = {
    "before_record": _REQUESTS,
    "before_record_request": _REQUESTS,
    "before_record_response": _ANSWERS,
}
"""What to write in place of a setting that the import leaves out."""
_TRIED = "ignored_by_matchers"
"""What the survey found by trying the matchers of the suite itself."""
_STORY = "story_values"
"""What looks like a password and is a text of the test file."""
NAMED = 10
"""At most this many tests or files are named in one sentence."""
_USUALLY = {"profile": "strict", "repeats": False}
"""What a mark must say where an outer one says something else."""
_ORDER = ("profile", "ignore", "repeats", "redact_keep", "allow", "tests")
_LOCAL = ("localhost", "127.0.0.1", "::1", "0.0.0.0")


@frozen
class Test:
    """One test of the suite."""

    __test__ = False

    name: str
    file: Path
    sources: tuple[Path, ...]
    target: Path
    config: Mapping[str, Any]
    places: frozenset[Path] = frozenset()
    """The files that give it its mark; empty when that is not known."""

    @property
    def own_name(self) -> str:
        """As pytest calls it within its file and class: `test_a[gpt-5]`."""
        path, bracket, id_ = self.name.partition("[")
        return path.rpartition("::")[2] + bracket + id_

    @property
    def parts(self) -> frozenset[str]:
        """The names of its classes and its function."""
        return frozenset(self.name.partition("[")[0].split("::")[1:])


@mutable
class Move:
    """What moving a suite means: `plan` for the recordings, `rewrites` for the marks."""

    tests: list[Test]
    plan: list[tuple[Path, Path]] = field(default_factory=list[tuple[Path, Path]])
    rewrites: list[Rewrite] = field(default_factory=list[Rewrite])
    dropped: dict[Path, frozenset[int]] = field(default_factory=dict[Path, frozenset[int]])
    """The round trips in a recording, by place, that the suite itself drops when it reads the file."""
    uses: list[tuple[Path, int]] = field(default_factory=list[tuple[Path, int]])
    """Where the suite itself opens recordings: file and line."""
    beside: list[tuple[Path, Path]] = field(default_factory=list[tuple[Path, Path]])
    """The recordings that these places may name, and the cassette of each."""
    story: dict[Path, list[str]] = field(default_factory=dict[Path, list[str]])
    """What stays, by test file, although it is called a password: the file contains it."""
    ini: IniChange | None = None
    """For tests whose mark is in no file of the suite."""
    unmapped: list[str] = field(default_factory=list[str])
    """What has no counterpart, one sentence each."""

    @classmethod
    def of(
        cls,
        survey: Sequence[Mapping[str, Any]],
        unread: Sequence[Unread] = (),
        *,
        root: Path | None = None,
        ini: Path | None = None,
    ) -> "Move":
        """From what the survey says of the tests, and of the files that pytest cannot collect; and from the root and
        the ini file of pytest."""
        sources: defaultdict[Path, list[Path]] = defaultdict(list)
        for one in survey:
            sources[Path(one["file"])] += map(Path, one["sources"])
        values = story_values(sources)
        tests = [
            Test(
                said["test"],
                Path(said["file"]),
                tuple(Path(one) for one in said["sources"]),
                Path(said["target"]),
                {**said["config"], _STORY: values.get(Path(said["file"]), [])},
                frozenset(Path(one) for one in said.get("places") or ()),
            )
            for said in survey
        ]
        move = cls(tests, story=values)
        for one in survey:
            found: dict[str, list[int]] = one.get("dropped") or {}
            move.dropped |= {Path(path): frozenset(places) for path, places in found.items()}
        by_reason: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for file in unread:
            by_reason[file.reason, file.remedy].append(file.name)
        for (reason, remedy), names in by_reason.items():
            move.unmapped.append(
                f"{several(len(names), 'file')} that pytest cannot collect: {listed(names, NAMED)}; {reason}; "
                f"{remedy}, and import again"
            )
        without: list[str] = []
        by_file: defaultdict[Path, list[Test]] = defaultdict(list)
        for test in tests:
            by_file[test.file].append(test)
            move.plan += [(source, test.target) for source in test.sources]
            if not test.sources:
                without.append(test.name)
        if without:
            move.unmapped.append(
                f"{several(len(without), 'test')} without a recording, as is usual for tests that send no request: "
                f"{listed(without, NAMED)}; record what sends one with --turntape-mode=once"
            )
        unmarked: list[Test] = []
        for file, its in by_file.items():
            marked_here = [test for test in its if not test.places or file in test.places]
            has_marks = move._marks(file, marked_here or its)
            unmarked += [test for test in its if not has_marks or test not in marked_here]
        if unmarked:
            move._marks_elsewhere(unmarked, set(by_file), root, ini)
        said: defaultdict[str, set[Path]] = defaultdict(set)
        for test in tests:
            for one in unmapped(test.config):
                said[one].add(test.file)
        move.unmapped += [f"{one} (in {several(len(files), 'file')})" for one, files in said.items()]
        return move

    @property
    def kept(self) -> dict[Path, list[str]]:
        """Regular expressions of what is not a secret, by cassette."""
        return {test.target: [re.escape(one) for one in self.story.get(test.file, [])] for test in self.tests}

    def add_direct_uses(self, tests: Sequence[Path]) -> None:
        """Add what the suite does with `use_cassette` itself: its imports of vcrpy, and its recordings, each of which a
        cassette beside it replaces. A recording that belongs to a mark is converted for the test of that mark."""
        for file in _once(neighbours({one / "conftest.py" if one.is_dir() else one}) for one in tests):
            found = imports_in(file)
            self.rewrites += found.rewrites
            self.unmapped += [f"{file}:{one}" for one in found.said]
        uses = (direct_uses(one) for one in tests)
        self.uses = list({(file.absolute(), line): (file, line) for its in uses for file, line in its}.values())
        if self.uses:
            marked = {source.resolve() for source, _ in self.plan}
            below = _once(recordings_below(one) for one in tests)
            self.beside = planned([path for path in below if path.resolve() not in marked])

    def _marks(self, file: Path, tests: list[Test]) -> bool:
        """Rewrite the marks in this file for these tests; False when it has none."""
        widest = _widest([arguments(test.config) for test in tests])
        several_settings = 0

        def settings(decorated: str | None) -> Mapping[str, Any]:
            nonlocal several_settings
            its = [test for test in tests if decorated in test.parts] or tests
            found = _widest([arguments(test.config) for test in its])
            stricter = _stricter([test for test in its if decorated in test.parts], found)
            if stricter:
                found["tests"] = stricter
            others = [test for test in its if test.own_name not in stricter]
            several_settings += len({json.dumps(arguments(test.config), sort_keys=True) for test in others}) > 1
            # A mark of the module or class may hold for this test too.
            found |= {name: usual for name, usual in _USUALLY.items() if name in widest and name not in found}
            return {name: found[name] for name in _ORDER if name in found}

        rewrites = marks_in(file, settings)
        if several_settings:
            marks = several(several_settings, "mark")
            self.unmapped.append(
                f"{file}: {marks} for tests of several settings; each got the widest of them, see their arguments"
            )
        self.rewrites += rewrites
        return any(one.is_mark for one in rewrites)

    def _marks_elsewhere(self, tests: list[Test], done: set[Path], root: Path | None, ini: Path | None) -> None:
        """Rewrite marks that a `conftest.py` or another module of the suite gives to these tests. For marks that no
        file of the suite has, the ini file says what ours would."""
        found = False
        known = {place for test in tests for place in test.places} if all(test.places for test in tests) else None
        for file in neighbours({test.file for test in tests}):
            below = [test for test in tests if test.file.is_relative_to(file.parent)] or tests
            found |= file not in done and (known is None or file in known) and self._marks(file, below)
        rewritten = {one.file for one in self.rewrites if one.is_mark}
        left = [test for test in tests if (rewritten.isdisjoint(test.places) if test.places else not found)]
        if not left:
            return
        settings = _widest([arguments(test.config) for test in left])
        if stricter := _stricter(left, settings):
            settings["tests"] = stricter
        ordered = {name: settings[name] for name in _ORDER if name in settings}
        change = IniChange.of(root or Path(), ini, ordered)
        if change.text is not None:
            self.ini = change
            return
        names = listed([test.name for test in left], NAMED)
        self.unmapped.append(
            f"{several(len(left), 'test')} whose mark is not written in the suite ({names}); mark them with "
            f"pytest.mark.turntape, or write into pytest's ini file: {'; '.join(change.lines)}"
        )

    def apply(self) -> int:
        """Write the marks, and the lines of the ini file; in how many files there were marks. The recordings are
        converted by `conversion.convert`."""
        files: defaultdict[Path, list[Rewrite]] = defaultdict(list)
        for one in self.rewrites:
            files[one.file].append(one)
        for file, changes in files.items():
            data = file.read_bytes()
            for one in sorted(changes, key=lambda change: -change.start):
                data = data[: one.start] + one.new.encode() + data[one.end :]
            file.write_bytes(data)
        if self.ini is not None:
            self.ini.write()
        return len(files)


def _once(found: Iterable[Sequence[Path]]) -> list[Path]:
    """All of these files, each once: one folder may be in another."""
    return list({path.absolute(): path for paths in found for path in paths}.values())


def arguments(config: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of our mark for the settings of a test."""
    found: dict[str, Any] = {}
    names, own = _matchers(config), config.get(_TRIED)
    whole = bool(_CONTENT & set(names))
    compared = any("body" in name for name in names) if own is None else "" not in own
    if not whole and not compared:
        found["profile"] = "sequence"
    ignored: list[Any] = config.get("filter_post_data_parameters") or []
    pointers = [f"/{one if isinstance(one, str) else one[0]}" for one in ignored]
    pointers += [] if whole else own or []
    if pointers and "profile" not in found:
        found["ignore"] = pointers
    if config.get("allow_playback_repeats"):
        found["repeats"] = True
    story: list[str] = config.get(_STORY) or []
    if story:
        found["redact_keep"] = [re.escape(value) for value in story]
    hosts = [*_strings(config.get("ignore_hosts")), *_strings(config.get("allowed_hosts"))]
    hosts += list(_LOCAL) if config.get("ignore_localhost") else []
    if hosts:
        found["allow"] = hosts
    return found


def _matchers(config: Mapping[str, Any]) -> list[str]:
    return _strings(config.get("match_on")) + _strings(config.get("additional_matchers"))


def _strings(given: Any) -> list[str]:
    if isinstance(given, str):
        return given.split(",")
    return [str(one) for one in given or ()]


def unmapped(config: Mapping[str, Any]) -> list[str]:
    """The settings without a counterpart, one sentence each."""
    found: list[str] = []
    for name, value in config.items():
        if not value or name in _COVERED:
            continue
        instead = _INSTEAD.get(name, "docs/migrating.md lists the settings that have one")
        found.append(f"the setting {name} = {value} has no counterpart: {instead}")
    own = [name for name in _matchers(config) if name not in _USUAL]
    if own and config.get(_TRIED) is None:
        found.append(f"the matchers {', '.join(own)} have no counterpart; write ignore= or ignore_text= in the mark")
    return found


def _stricter(tests: Sequence[Test], widest: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The settings of those tests that compare what the widest setting ignores, by name."""
    if widest.get("profile") != "sequence":
        return {}
    found: dict[str, dict[str, Any]] = {}
    for test in tests:
        own = arguments(test.config)
        found.setdefault(test.own_name, own)
        if found[test.own_name] != own:  # of two classes
            found[test.own_name] = {"profile": "sequence"}
    return {name: {"profile": "strict", **own} for name, own in found.items() if "profile" not in own}


def _widest(found: list[dict[str, Any]]) -> dict[str, Any]:
    """One setting for all tests of a file: what is ignored for one is ignored for all."""
    settings: dict[str, Any] = {}
    for one in found:
        for name, value in one.items():
            is_one = isinstance(value, str | bool)
            settings[name] = value if is_one else list(dict.fromkeys([*settings.get(name, []), *value]))
    if "profile" in settings:
        settings.pop("ignore", None)
    return settings
