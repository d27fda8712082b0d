"""The default cassette of a test: `<folder of the test file>/cassettes/<module>/<test>.cassette.jsonl`.

A fixture has `<fixture>.setup.cassette.jsonl` and `<fixture>.teardown.cassette.jsonl`: in the folder of the test's
module for the scopes `module` and `class`, and of the file that defines it for `session`.
"""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import cast

import pytest

from ..regex import regex

SUFFIX = ".cassette.jsonl"
PHASES = tuple(f".{phase}{SUFFIX}" for phase in ("setup", "teardown"))
"""The endings of the cassettes of fixtures."""
_LONGEST = 120
_UNSAFE = regex(r"[^\w.+=,-]+")
_REPETITION = "__pytest_repeat_step_number"
"""The parameter that `--count` of pytest-repeat gives to every test."""


def is_cassette(name: str) -> bool:
    """True for the name of a file that is a cassette, also a compressed one."""
    return name.endswith((SUFFIX, f"{SUFFIX}.zst"))


def safe_name(name: str) -> str:
    """A test's name as a file name for any system: `test_a[gpt-5]` becomes `test_a-gpt-5`.

    A name that had to be changed further, or cut, ends in a digest, so that no two tests share a file.
    """
    plain = re.sub(r"\[(.*)\]$", r"-\1", name, flags=re.DOTALL)
    safe = _UNSAFE.sub("_", plain).strip(".")
    if safe == plain and len(safe) <= _LONGEST:
        return safe
    return _with_digest(safe, name)


def _with_digest(safe: str, name: str) -> str:
    return f"{safe[:_LONGEST]}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _of_one_case(path: Path, name: str) -> Path:
    """The path, or one with a digest if the folder has a file whose name differs from it only in case: the two are one
    file on the usual disks of macOS and Windows."""
    if path.exists() and not path.with_name(path.name.swapcase()).exists():
        return path
    try:
        names = {one.name for one in path.parent.iterdir()}
    except OSError:
        return path
    if path.name in names:
        return path
    folded = path.name.casefold()
    other = path.with_name(f"{_with_digest(safe_name(name), name)}{SUFFIX}")
    return other if other.name in names or any(one.casefold() == folded for one in names) else path


def fault_id(value: object) -> str:
    """How a fault is written in a test's name: `429-at-turn-2`; `as-recorded` for none."""
    if value is None:
        return "as-recorded"
    values = cast("Sequence[object]", value) if isinstance(value, list | tuple) else [value]
    return "+".join(re.sub(r"\s+", "-", str(one)) for one in values)


def _name(item: pytest.Item, without: str | None) -> str:
    """The test's name within its module, after the names of its classes, without one of its parameters."""
    classes = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
    name = item.name
    parameters: str = getattr(getattr(item, "callspec", None), "id", "")
    if without is not None:
        kept = re.sub(rf"(^|-){re.escape(without)}(?=-|$)", "", parameters, count=1).strip("-")
        name = name.removesuffix(f"[{parameters}]") + (f"[{kept}]" if kept else "")
    return ".".join([*classes, name])


def without_repetition(item: pytest.Item, name: str) -> str:
    """A test's name or node id without what `--count` of pytest-repeat added, such as `2-3`. A mark `repeat` counts as
    a parameter: its number is part of the suite."""
    given: dict[str, object] = getattr(getattr(item, "callspec", None), "params", {})
    number = given.get(_REPETITION)
    if not isinstance(number, int) or item.get_closest_marker("repeat") is not None:
        return name
    return re.sub(rf"(\[|-){number + 1}-\d+\]$", lambda found: "]" if found[1] == "-" else "", name)


def folder_of(item: pytest.Item) -> Path:
    """Where the cassettes of a test's module are."""
    return folder_beside(item.path, item.config)


def folder_beside(path: Path, config: pytest.Config) -> Path:
    """Where the cassettes of a file are: `turntape_folder` of the ini file, or a folder beside the file.

    `{file}` in the ini option is the file without its ending, relative to the ini file's folder.
    """
    before, after = _around_file(config)
    if before is None:
        return path.parent / "cassettes" / path.stem
    root = config.rootpath
    file = path.relative_to(root) if path.is_relative_to(root) else Path(path.name)
    return root / f"{before}{file.with_suffix('').as_posix()}{after}"


def file_of(folder: Path, config: pytest.Config) -> Path | None:
    """The file that has its cassettes in this folder, the inverse of `folder_beside`; None when none can have."""
    before, after = _around_file(config)
    if before is None:
        return folder.parent.parent / f"{folder.name}.py" if folder.parent.name == "cassettes" else None
    root = config.rootpath
    name = folder.relative_to(root).as_posix() if folder.is_relative_to(root) else ""
    if not name.startswith(before) or not name.endswith(after) or len(name) <= len(before) + len(after):
        return None
    return root / f"{name[len(before) : len(name) - len(after)]}.py"


def top_of_folders(config: pytest.Config) -> Path:
    """A folder that has all folders of cassettes below it."""
    before, _ = _around_file(config)
    return config.rootpath / (before or "").rpartition("/")[0]


def _around_file(config: pytest.Config) -> tuple[str | None, str]:
    """What `turntape_folder` has before and after the name of a file; None when it is not set."""
    given = cast(str, config.getini("turntape_folder"))
    if not given:
        return None, ""
    name = PurePath(given if "{file}" in given else f"{given}/{{file}}").as_posix()
    before, _, after = name.partition("{file}")
    return before, after


def cassette_path(item: pytest.Item, given: object = None, *, without: str | None = None) -> Path:
    """A test's cassette. `given` is the marker's `path`, relative to the test file's folder. `without` is the id of a
    parameter that does not change what is recorded. A test whose name differs from another's only in case, such as
    `test_a[GET]` and `test_a[get]`, has a digest in its file's name, unless that file was recorded without. The
    repetitions of `pytest --count` share the cassette of the test, except those that were recorded with one each."""
    if given is not None:
        return item.path.parent / str(given)
    name = _name(item, without)
    if not (folder_of(item) / f"{safe_name(name)}{SUFFIX}").exists():
        name = without_repetition(item, name)
    return _of_one_case(folder_of(item) / f"{safe_name(name)}{SUFFIX}", name)
