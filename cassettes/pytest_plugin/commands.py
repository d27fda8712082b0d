"""Commands that run tests again, to paste where pytest was started."""

import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence, Set
from pathlib import Path
from typing import Any, cast

import pytest

_SHORT = ("-p", "-c", "-o")
_LONG = ("--config-file", "--rootdir", "--override-ini", "--import-mode", "--confcutdir")
"""Options that decide which plugins and settings a test has, each with a value."""
_MOST_FILES = 4
_MOST_TESTS = 4


def again(config: pytest.Config, targets: Sequence[str], *options: str) -> str:
    """A line for the shell that runs these targets again, with the plugins and settings of this run."""
    words = ["pytest", *_settings(_given(config)), *targets, *options]
    program = "python -m " if Path(_program(config)).parts[-2:] == ("pytest", "__main__.py") else ""
    return program + shlex.join(words)


def target(config: pytest.Config, path: Path, name: str = "") -> str:
    """A test file, or a test in it, as pytest takes it where it was started."""
    start = config.invocation_params.dir
    place = (path.relative_to(start) if path.is_relative_to(start) else path).as_posix()
    return f"{place}::{name}" if name else place


def targets_of(config: pytest.Config, tests: Sequence[str], failed: Set[str], number: int = 1) -> list[str]:
    """These node ids as targets, so that no other test runs: a few by name; many by their files, with `--lf` where it
    runs no other test, and otherwise by a list that is written to the cache of pytest, as the `number`-th."""
    once = _without_repetitions(config, tests)
    names = [target(config, config.rootpath / file, name) for file, _, name in (one.partition("::") for one in once)]
    if len(names) <= _MOST_TESTS:
        return names
    if not config.pluginmanager.hasplugin("cacheprovider"):
        return files_of(config, tests)
    by_lf = set(tests) if once == list(tests) else set[str]()
    if failed | _last_failed(config, tests) <= by_lf or (listed := _listed(config, names, number)) is None:
        return ["--lf", *files_of(config, tests)]
    return [f"@{listed}"]


def _without_repetitions(config: pytest.Config, tests: Sequence[str]) -> list[str]:
    """Each test once, without the number that `--count` of pytest-repeat gave it: the command has no such option."""
    count = config.getoption("count", None)
    if not isinstance(count, int) or count < 2:
        return list(tests)
    added = re.compile(rf"(\[|-)\d+-{count}\]$")
    return list(dict.fromkeys(added.sub(lambda found: "]" if found[1] == "-" else "", test) for test in tests))


def _last_failed(config: pytest.Config, tests: Sequence[str]) -> set[str]:
    """The tests that `--lf` runs in the files of these; some of them may have failed in an earlier run only."""
    files = {test.partition("::")[0] for test in tests}
    known: dict[str, bool] = cast(Any, config.cache).get("cache/lastfailed", {})
    return {test for test in known if len(files) > _MOST_FILES or test.partition("::")[0] in files}


def _listed(config: pytest.Config, names: Sequence[str], number: int) -> str | None:
    """The file with these targets, a line each; None where it cannot be written, or pytest does not read it."""
    if pytest.version_tuple < (8, 2):
        return None
    try:
        file = config.cache.mkdir("turntape") / f"change-{number}.txt"
        file.write_text("\n".join(names) + "\n", encoding="utf-8")
    except OSError:
        return None
    return target(config, file)


def files_of(config: pytest.Config, tests: Iterable[str]) -> list[str]:
    """The files of these node ids as targets; of many files, the folder that holds them all."""
    files = sorted({config.rootpath / test.partition("::")[0] for test in tests})
    if len(files) > _MOST_FILES:
        files = [Path(os.path.commonpath([file.parent for file in files]))]
    return [target(config, file) for file in files]


def _settings(given: Sequence[str]) -> Iterator[str]:
    following = ""
    for word in given:
        if following:
            yield from (following, word)
            following = ""
        elif word in _SHORT or word in _LONG:
            following = word
        elif word.startswith(_SHORT) or word.startswith(tuple(f"{name}=" for name in _LONG)):
            yield word


def _given(config: pytest.Config) -> Sequence[str]:
    """The command line of this run; a worker of pytest-xdist has another one."""
    return _worker_argv(config)[1:] or [str(one) for one in config.invocation_params.args]


def _program(config: pytest.Config) -> str:
    return (_worker_argv(config) or sys.argv)[0]


def _worker_argv(config: pytest.Config) -> list[str]:
    worker: dict[str, Any] = getattr(config, "workerinput", {})
    return cast(list[str], worker.get("mainargv", []))
