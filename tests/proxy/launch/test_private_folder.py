"""Folders of one process."""

import os
import subprocess
import sys
from pathlib import Path

from turntape.proxy.launch.private_folder import private_folder


def test_no_other_user_can_read_it_and_those_of_dead_processes_are_removed(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    for name in (f"run-{gone.pid}-x", f"run-{os.getpid()}-x", "run-other", "another"):
        (tmp_path / name).mkdir()

    made = private_folder(tmp_path)

    assert made.stat().st_mode & 0o777 == 0o700
    assert {path.name for path in tmp_path.iterdir()} == {made.name, f"run-{os.getpid()}-x", "run-other", "another"}


def test_where_the_parent_cannot_be_written_it_is_a_temporary_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    made = private_folder(tmp_path / "file" / "x")

    assert made.is_dir() and made.stat().st_mode & 0o777 == 0o700
    made.rmdir()
