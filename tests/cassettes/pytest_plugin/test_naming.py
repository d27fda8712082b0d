"""The default cassette of a test on disks that know upper and lower case, and on those that do not."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from turntape.cassettes.pytest_plugin.naming import cassette_path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "cassettes" / "test_it"
    found.mkdir(parents=True)
    return found


def path_of(name: str, folder: Path) -> Path:
    config: Any = SimpleNamespace(getini=lambda _name: "")
    file = folder.parents[1] / "test_it.py"
    item: Any = SimpleNamespace(name=name, path=file, config=config, listchain=list[object])
    return cassette_path(cast("pytest.Item", item))


def test_names_that_differ_only_in_case_have_two_files(folder: Path) -> None:
    upper = path_of("test_a[GET]", folder)
    assert upper.name == "test_a-GET.cassette.jsonl"
    upper.touch()

    lower = path_of("test_a[get]", folder)

    assert lower.name.casefold() != upper.name.casefold()
    lower.touch()
    assert (path_of("test_a[GET]", folder), path_of("test_a[get]", folder)) == (upper, lower)
    upper.unlink()
    assert path_of("test_a[get]", folder) == lower


def test_two_files_that_were_recorded_under_these_names_stay(folder: Path) -> None:
    for name in ("test_a-GET.cassette.jsonl", "test_a-get.cassette.jsonl"):
        (folder / name).touch()

    assert path_of("test_a[get]", folder).name == "test_a-get.cassette.jsonl"
    assert path_of("test_a[GET]", folder).name == "test_a-GET.cassette.jsonl"


def test_on_a_disk_without_case_the_file_of_the_other_test_is_not_taken(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "test_a-GET.cassette.jsonl").touch()

    def exists(path: Path) -> bool:
        return path.parent.is_dir() and path.name.casefold() in {one.name.casefold() for one in path.parent.iterdir()}

    monkeypatch.setattr(Path, "exists", exists)

    assert path_of("test_a[get]", folder).name != "test_a-get.cassette.jsonl"
    assert path_of("test_a[GET]", folder).name == "test_a-GET.cassette.jsonl"


def test_another_name_and_a_missing_folder_change_nothing(folder: Path) -> None:
    (folder / "test_a-GET.cassette.jsonl").touch()

    assert path_of("test_a[put]", folder).name == "test_a-put.cassette.jsonl"
    folder.joinpath("test_a-GET.cassette.jsonl").unlink()
    folder.rmdir()
    assert path_of("test_a[get]", folder).name == "test_a-get.cassette.jsonl"


def repeated(name: str, folder: Path, number: object = 1, mark: object = None) -> str:
    """The name of the cassette of a test that pytest-repeat runs again."""
    config: Any = SimpleNamespace(getini=lambda _name: "")
    item: Any = SimpleNamespace(
        name=name,
        path=folder.parents[1] / "test_it.py",
        config=config,
        listchain=list[object],
        callspec=SimpleNamespace(params={"__pytest_repeat_step_number": number}),
        get_closest_marker=lambda _name: mark,
    )
    return cassette_path(cast("pytest.Item", item)).name.removesuffix(".cassette.jsonl")


def test_the_repetitions_that_the_command_line_wants_share_the_cassette_of_the_test(folder: Path) -> None:
    assert repeated("test_a[2-3]", folder) == "test_a"
    assert repeated("test_a[gpt-5-2-3]", folder) == "test_a-gpt-5"
    assert repeated("test_a[2-3-2-12]", folder) == "test_a-2-3"


def test_repetitions_of_a_mark_and_those_recorded_with_a_cassette_each_keep_it(folder: Path) -> None:
    assert repeated("test_a[2-3]", folder, mark=object()) == "test_a-2-3"
    assert repeated("test_a[2-3]", folder, number=None) == "test_a-2-3"
    assert repeated("test_a[2-3]", folder, number=4) == "test_a-2-3"
    (folder / "test_a-2-3.cassette.jsonl").touch()
    assert repeated("test_a[2-3]", folder) == "test_a-2-3"
