"""Folders of one process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from turntape.proxy.launch.private_folder import private_folder


def test_no_other_user_can_read_it_and_those_of_dead_processes_are_removed(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    for name in (f"run-{gone.pid}-x", f"run-{gone.pid}-x-y", f"run-{os.getpid()}-x", "run-other", "another"):
        (tmp_path / name).mkdir()

    made = private_folder(tmp_path)

    assert made.stat().st_mode & 0o777 == 0o700
    assert {path.name for path in tmp_path.iterdir()} == {made.name, f"run-{os.getpid()}-x", "run-other", "another"}


def test_where_the_parent_cannot_be_written_it_is_a_temporary_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    made = private_folder(tmp_path / "file" / "x")

    assert made.is_dir() and made.stat().st_mode & 0o777 == 0o700
    assert made.name.startswith("turntape-"), "who finds it must know whose it is"
    made.rmdir()


def test_a_killed_process_of_another_user_that_left_its_folder_stops_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left = tmp_path / f"run-{gone.pid}-x"
    left.mkdir()

    def refused(path: object, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "rmdir", refused)

    made = private_folder(tmp_path)

    assert made.parent == tmp_path and left.exists()


def test_the_folder_is_found_by_the_process_that_removes_it_after_a_crash(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from turntape.proxy.launch.private_folder import private_folder as f;"
    parent = tmp_path / "home" / "runs"
    done = subprocess.run(
        [sys.executable, "-c", f"{code} print(f(Path(sys.argv[1])))", str(parent)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    left = Path(done.stdout.strip())

    assert left.parent == parent and parent.stat().st_mode & 0o777 == 0o700
    made = private_folder(parent)
    assert list(parent.iterdir()) == [made] and made != left
