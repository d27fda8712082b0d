"""Commands that run tests again, to paste where pytest was started."""

import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
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


def targets_of(config: pytest.Config, tests: Sequence[str]) -> list[str]:
    """These node ids as targets: a few by name, so that no other test runs; many by their files, with `--lf` for those
    that have failed."""
    if len(tests) <= _MOST_TESTS:
        return [
            target(config, config.rootpath / file, name) for file, _, name in (one.partition("::") for one in tests)
        ]
    failed = ["--lf"] if config.pluginmanager.hasplugin("cacheprovider") else []
    return [*failed, *files_of(config, tests)]


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
