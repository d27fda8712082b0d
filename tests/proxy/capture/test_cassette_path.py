"""A new recording gets a name that no other has."""

from pathlib import Path

import pytest

from turntape.cassettes.errors import TurntapeError
from turntape.proxy.capture.cassette_path import free_path


def test_two_recordings_of_one_second_get_a_file_each(tmp_path: Path) -> None:
    names = [free_path("run", tmp_path, 1_795_000_000.0).name for _ in range(3)]

    assert len(set(names)) == 3
    assert all(name.startswith("run-2026") and name.endswith(".cassette.jsonl") for name in names)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_a_folder_that_takes_no_file_is_named_and_so_is_the_way_out(tmp_path: Path) -> None:
    missing = tmp_path / "missing"

    with pytest.raises(TurntapeError, match=r"missing'.*No such file or directory; choose another place with -o"):
        free_path("run", missing, 1_795_000_000.0)
