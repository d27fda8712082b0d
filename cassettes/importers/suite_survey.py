"""Asks a pytest suite for its tests and their recordings, in separate processes.

What such a process does is in `pytest_plugin/vcr_survey.py`. Files that pytest does not collect together with the whole
suite are collected again: those together, then the rest of each package, then the rest one by one. In a suite with
several packages of one name (`a/tests`, `b/tests`), a process imports only the first of them.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import files, packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..counted import several
from ..errors import TurntapeError
from ..frozen import frozen

_PLUGIN = "turntape.cassettes.pytest_plugin.vcr_survey"
_VARIABLE = "TURNTAPE_SURVEY"
_ABSENT = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_WITHOUT_A_NAME = re.compile(r"ImportError: cannot import name '\w+' from '(\w+)[\w.]*'(?: \((.+)\)$)?")
_REPLACED = "is not a package"
"""What Python says of a module in the place of a package."""
_OF_IMPORTS = re.compile(r"^(?:ModuleNotFoundError|ImportError|ImportPathMismatchError|AttributeError|HINT)\b")
"""How a reason begins that the files around a file may have."""
_UNREACHED = re.compile(
    r"ConnectError|ConnectionError|ConnectorError|ConnectTimeout|Connection ?[Rr]efused|gaierror|URLError|"
    r"Name or service not known|name resolution|nodename nor servname|Network is unreachable|Max retries exceeded"
)
_UNSET = re.compile(r"\b[A-Z][A-Z0-9]*_(?:[A-Z0-9]+_)*(?:KEY|TOKEN|SECRET|URL|ENDPOINT|REGION|PROJECT|ID)\b")
"""A variable of the environment that a client needs."""
_AT_ONCE = min(4, os.cpu_count() or 1)
"""How many processes run at the same time."""


@frozen
class Unread:
    """A file or folder that pytest does not collect."""

    name: str
    """As pytest names it: its path below `root`."""
    root: Path
    reason: str

    @property
    def path(self) -> Path:
        return self.root / self.name

    @property
    def remedy(self) -> str:
        """What to add or install so that pytest collects it."""
        if absent := _ABSENT.search(self.reason):
            place = self._place_of(absent[1])
            if place is None:
                module = absent[1].partition(".")[0]
                if module != absent[1] and module in packages_distributions():
                    return f"install the package, or its version, that has the module {absent[1]}"
                return f"install the module {module} (usually: pip install {module})"
            return f"write into pytest's ini file: pythonpath = {place}"
        if nameless := _WITHOUT_A_NAME.search(self.reason):
            for name in _installing(nameless[1], nameless[2]):
                return f"install another version of {name} than {version(name)}"
        if _UNREACHED.search(self.reason):
            return "move this request into a fixture, or collect the file where it is answered"
        if unset := _UNSET.search(self.reason):
            return f"set {unset[0]} in the environment, to any value if the tests only play recordings"
        return "let pytest collect it"

    @property
    def is_certain(self) -> bool:
        """True when collecting it apart cannot help: a module or a name is neither installed nor in the suite, or
        another machine does not answer."""
        if absent := _ABSENT.search(self.reason):
            # Of a package that is installed, something of the suite may have taken the place.
            is_whole = "." not in absent[1]
            is_part = absent[1].partition(".")[0] in packages_distributions() and _REPLACED not in self.reason
            return (is_whole or is_part) and self._place_of(absent[1]) is None
        if nameless := _WITHOUT_A_NAME.search(self.reason):
            place = Path(nameless[2] or "")
            return nameless[1] in packages_distributions() and place.is_file() and not self._is_in_suite(place)
        return _UNREACHED.search(self.reason) is not None

    def may_differ_from(self, last: "Unread | None") -> bool:
        """True when another try, with fewer files beside it, may end in another way than `last`."""
        return last is None or last.reason != self.reason or _OF_IMPORTS.search(self.reason) is not None

    @property
    def package(self) -> Path:
        """The folder from which pytest imports it: the first one above it that is not a package."""
        return next(folder for folder in self.path.parents if not (folder / "__init__.py").is_file())

    def _is_in_suite(self, place: Path) -> bool:
        return place.is_relative_to(self.root) and "site-packages" not in place.relative_to(self.root).parts

    def _place_of(self, module: str) -> Path | None:
        """The folder of the suite that has this module, relative to `root`."""
        below = Path(*module.split("."))
        above = [folder for folder in self.path.parents if folder.is_relative_to(self.root)]
        for folder in above:
            file = (folder / below).with_suffix(".py")
            if (folder / below).is_dir() or (file.is_file() and not _wraps_its_namesake(file)):
                return folder.relative_to(self.root)
        return None


def _wraps_its_namesake(file: Path) -> bool:
    """True for `wrappers/openai.py` that imports the installed `openai`: it is another module."""
    name = re.escape(file.stem)
    return re.search(rf"^\s*(?:import|from)\s+{name}\b", file.read_text("utf-8", "replace"), re.MULTILINE) is not None


def _installing(module: str, file: str | None) -> Iterable[str]:
    """The distributions that have this module; of several in one namespace, the one with the file."""
    found = packages_distributions().get(module, [])
    if file is None or len(found) < 2:
        return found[:1]
    place = Path(file)
    return [name for name in found if any(one.locate() == place for one in files(name) or ())][:1]


@frozen
class Survey:
    """What a suite says of itself."""

    tests: Sequence[Mapping[str, Any]]
    unread: Sequence[Unread] = ()
    apart: Sequence[Unread] = ()
    """What pytest collects, but not together with the whole suite; and the reason."""
    root: Path | None = None
    ini: Path | None = None


def survey(tests: Sequence[str], folder: Path, say: Callable[[str], object] = str) -> Survey:
    """Ask the tests in these files and folders. `folder` is for the answers, and for recordings that only the suite can
    read.

    Raises TurntapeError if pytest ends early.
    """
    whole = _answer(tests, folder)
    known = {test["test"]: test for test in whole["tests"]}
    first = {one.path: one for one in _unread(whole)}
    unread = dict(first)

    def ask(paths: Sequence[Path]) -> Mapping[str, Any] | None:
        return _answer_or_none([str(path) for path in paths], folder, whole)

    def collect_again(groups: Sequence[Sequence[Path]]) -> None:
        for paths in groups:
            say(f"collecting {several(len(paths), 'file')} apart from the suite: {paths[0].relative_to(whole['root'])}")
        with ThreadPoolExecutor(_AT_ONCE) as at_once:
            answers = at_once.map(ask, groups)
            for paths, found in zip(groups, answers, strict=True):
                if found is None:
                    continue
                known.update({test["test"]: test for test in found["tests"]})
                for path in paths:
                    unread.pop(path)
                unread.update({one.path: one for one in _unread(found)})

    tried: set[tuple[Path, ...]] = set()
    last: dict[Path, Unread] = {}
    splits: tuple[Callable[[Unread], Hashable], ...] = (lambda _: None, lambda one: one.package, lambda one: one.path)
    for split in splits:
        worth = [one for one in unread.values() if not one.is_certain and one.may_differ_from(last.get(one.path))]
        groups = [group for group in _groups(worth, split) if group not in tried]
        tried.update(groups)
        last |= {path: unread[path] for group in groups for path in group}
        collect_again(groups)
    apart = [one for path, one in first.items() if path not in unread]
    ini = Path(whole["ini"]) if whole["ini"] else None
    return Survey(list(known.values()), list(unread.values()), apart, Path(whole["root"]), ini)


def _groups(unread: Iterable[Unread], split: Callable[[Unread], Hashable]) -> list[tuple[Path, ...]]:
    """These files, those together for which `split` gives the same."""
    found: defaultdict[Hashable, list[Path]] = defaultdict(list)
    for one in unread:
        found[split(one)].append(one.path)
    return [tuple(paths) for paths in found.values()]


def _unread(answer: Mapping[str, Any]) -> list[Unread]:
    """What this answer could not collect; a class in a file counts as its file."""
    found: dict[str, Unread] = {}
    for one in answer["unread"]:
        name = one["name"].partition("::")[0]
        found.setdefault(name, Unread(name, Path(answer["root"]), one["reason"]))
    return list(found.values())


def _answer_or_none(names: Sequence[str], folder: Path, like: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The same; None if pytest ends early, for example at a `conftest.py` that cannot be imported."""
    try:
        return _answer(names, folder, like)
    except TurntapeError:
        return None


def _answer(names: Sequence[str], folder: Path, like: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    """What pytest says of these files and folders, with the root and the ini file that `like` had.

    Raises TurntapeError if pytest ends early, or is not installed.
    """
    if find_spec("pytest") is None:
        raise TurntapeError(
            f"pytest is not installed for {sys.executable}; install turntape where the suite runs, and call it there"
        )
    target = Path(tempfile.mkdtemp(dir=folder)) / "survey.json"
    words = ["-q", "-p", _PLUGIN, "-p", "no:cacheprovider", "--continue-on-collection-errors", "--maxfail=0"]
    if like:
        words += ["--rootdir", like["root"], *(["-c", like["ini"]] if like["ini"] else [])]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, *names],
        env={**os.environ, _VARIABLE: str(target)},
        capture_output=True,
        text=True,
        check=False,
    )
    if not target.exists():
        said = reason((done.stdout + done.stderr).splitlines())
        raise TurntapeError(f"pytest cannot collect {names[0]!r}: {said}; run it there first")
    return json.loads(target.read_text(encoding="utf-8"))


def reason(lines: Sequence[str]) -> str:
    """The line of pytest's output that says why it ended; below it pytest names its files."""
    said = [line.strip() for line in lines if line.strip()] or ["it said nothing"]
    errors = [line for line in said if "error: " in line.lower() and not line.startswith("ERROR: usage: ")]
    return (errors or said[-1:])[0].removeprefix("__main__.py: ")
