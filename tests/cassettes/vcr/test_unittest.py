"""Test cases of `unittest` with a cassette for each test."""

import unittest
from pathlib import Path
from typing import Any

import pytest
from vcr_recordings import ask

from turntape.cassettes.vcr.unittest import VCRTestCase


class Case(VCRTestCase):
    __test__ = False  # pytest must not collect it
    folder: str | None = None

    def _get_cassette_library_dir(self) -> str:
        return self.folder or super()._get_cassette_library_dir()

    def _get_vcr_kwargs(self, **options: Any) -> dict[str, Any]:
        return super()._get_vcr_kwargs(match_on=["path"], **options)

    def test_a(self) -> None:
        assert ask("anything") == "one"


class Other(Case):
    vcr_enabled = False

    def test_a(self) -> None:
        assert not hasattr(self, "cassette")


def run(case: unittest.TestCase) -> unittest.TestResult:
    result = unittest.TestResult()
    case.run(result)
    return result


def test_each_test_has_the_cassette_of_its_name(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Case, "folder", str(recorded))
    (recorded / "a.cassette.jsonl").rename(recorded / "Case.test_a.cassette.jsonl")

    for _ in range(2):
        case = Case("test_a")
        result = run(case)
        assert (result.errors, result.failures, case.cassette.play_count) == ([], [], 1)


def test_the_folder_is_beside_the_file_of_the_class() -> None:
    assert Case("test_a")._get_cassette_library_dir() == str(Path(__file__).parent / "cassettes")
    assert Case("test_a")._get_vcr(**Case("test_a")._get_vcr_kwargs()).match_on == ["path"]


def test_it_can_be_turned_off() -> None:
    assert run(Other("test_a")).wasSuccessful()
