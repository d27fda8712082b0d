"""Commands that run tests again: the same plugins and settings, and no other test."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from turntape.cassettes.pytest_plugin.commands import again, files_of, target, targets_of

FILE = "tests/test_a.py"


class Cache:
    """As much of pytest's cache as is used."""

    def __init__(self, folder: Path, failed: list[str]) -> None:
        self._folder, self._failed = folder, failed

    def get(self, key: str, default: object) -> object:
        return dict.fromkeys(self._failed, True) if key == "cache/lastfailed" else default

    def mkdir(self, name: str) -> Path:
        (self._folder / name).mkdir(exist_ok=True)
        return self._folder / name


def config(
    root: Path,
    *args: str,
    start: Path | None = None,
    failed: list[str] | None = None,
    count: int | None = None,
    **more: Any,
) -> Any:
    """A configuration of a run that was started in `start` with these arguments."""
    return SimpleNamespace(
        rootpath=root,
        invocation_params=SimpleNamespace(dir=start or root, args=args),
        cache=Cache(root, failed or []),
        getoption=lambda name, default=None: count if name == "count" else default,
        pluginmanager=SimpleNamespace(hasplugin=lambda name: name == "cacheprovider" and failed is not None),
        **more,
    )


@pytest.fixture(autouse=True)
def by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/usr/bin/pytest", "-x"])


def test_plugins_and_settings_stay_and_other_options_do_not(tmp_path: Path) -> None:
    given = (
        "-p", "no:randomly", "-pother", "-x", "-c", "a.ini", "--rootdir=.", "--override-ini", "a=b c", "-k", "slow",
        "--import-mode=append", "--confcutdir", "up", "--config-file=b.ini", "-o", "x=1", "--lf", "tests",
    )  # fmt: skip

    assert again(config(tmp_path, *given), [FILE], "--turntape-mode=once") == (
        "pytest -p no:randomly -pother -c a.ini --rootdir=. --override-ini 'a=b c' --import-mode=append "
        f"--confcutdir up --config-file=b.ini -o x=1 {FILE} --turntape-mode=once"
    )


@pytest.mark.parametrize(
    ("program", "said"),
    [("/a/pytest/__main__.py", "python -m pytest"), ("/a/other/__main__.py", "pytest"), ("/a/pytest/x.py", "pytest")],
)
def test_the_command_begins_as_pytest_was_started(
    program: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [program])

    assert again(config(tmp_path), ["a b.py::test_x[1]"]) == f"{said} 'a b.py::test_x[1]'"


def test_a_worker_says_the_command_of_its_controller(tmp_path: Path) -> None:
    worker = {"mainargv": ["/a/pytest/__main__.py", "-p", "no:randomly", "-n2"]}

    assert again(config(tmp_path, "-p", "xdist", workerinput=worker), []) == "python -m pytest -p no:randomly"


def test_a_target_is_a_path_from_where_pytest_was_started(tmp_path: Path) -> None:
    inside, outside = tmp_path / "tests", tmp_path / "other"
    one = config(tmp_path, start=inside)

    assert target(one, inside / "test_a.py", "test_x[a b]") == "test_a.py::test_x[a b]"
    assert target(one, inside / "test_a.py") == "test_a.py"
    assert target(one, outside / "test_a.py") == (outside / "test_a.py").as_posix()


def named(*numbers: int, file: str = FILE) -> list[str]:
    return [f"{file}::test_{number}" for number in numbers]


def test_a_few_tests_are_named_and_many_are_run_by_their_files(tmp_path: Path) -> None:
    plain = config(tmp_path)

    assert targets_of(plain, named(1, 2, 3, 4), set()) == named(1, 2, 3, 4)
    assert targets_of(plain, named(*range(5)), set()) == [FILE], "without a cache"


def test_of_many_files_the_folder_that_holds_them_is_named(tmp_path: Path) -> None:
    several = [f"tests/{folder}/test_a.py::test" for folder in ("a", "b", "a/c", "d")]

    assert files_of(config(tmp_path), several) == [
        "tests/a/c/test_a.py", "tests/a/test_a.py", "tests/b/test_a.py", "tests/d/test_a.py",
    ]  # fmt: skip
    assert files_of(config(tmp_path), [*several, "tests/e/test_a.py::test"]) == ["tests"]


def test_many_failed_tests_are_run_by_lf_where_it_runs_no_other(tmp_path: Path) -> None:
    five = named(*range(5))

    assert targets_of(config(tmp_path, failed=five), five, set(five)) == ["--lf", FILE]
    elsewhere = [*five, *named(1, file="tests/test_other.py")]
    assert targets_of(config(tmp_path, failed=elsewhere), five, set(five)) == ["--lf", FILE], "not in these files"
    for known, failed in (([*five, *named(9)], set(five)), (five, {*five, *named(9)})):
        assert targets_of(config(tmp_path, failed=known), five, failed) == ["@turntape/change-1.txt"]
    assert (tmp_path / "turntape" / "change-1.txt").read_text() == "\n".join(five) + "\n"


def test_each_list_of_tests_has_its_own_file(tmp_path: Path) -> None:
    one = config(tmp_path, failed=named(*range(9)))

    found = [targets_of(one, named(*range(first, first + 5)), set(named(9)), first + 1)[0] for first in (0, 1)]
    assert found == ["@turntape/change-1.txt", "@turntape/change-2.txt"]
    assert (tmp_path / "turntape" / "change-2.txt").read_text().splitlines() == named(*range(1, 6))


def test_repetitions_of_a_test_are_one(tmp_path: Path) -> None:
    repeated = [f"{FILE}::test_a[{name}{n}-3]" for name in ("", "x-") for n in (1, 2, 3)]

    assert targets_of(config(tmp_path, count=3), repeated, set()) == [f"{FILE}::test_a", f"{FILE}::test_a[x]"]
    assert targets_of(config(tmp_path, count=1), repeated[:2], set()) == repeated[:2]
    assert targets_of(config(tmp_path), repeated[:2], set()) == repeated[:2]
