"""What `turntape import --pytest` says about a suite that it moves."""

from pathlib import Path

from turntape.cassettes.importers.suite_marks import Rewrite
from turntape.proxy.cli.suite_move import rewrite_lines


def test_each_change_of_marks_is_one_line_for_a_file(tmp_path: Path) -> None:
    here, there = tmp_path / "suite" / "tests" / "test_a.py", tmp_path / "test_b.py"
    made = [(here, 9, "vcr"), (here, 3, "vcr"), (here, 5, "vcr('x')"), (there, 1, "vcr")]
    rewrites = [Rewrite(file, line, old, "turntape", 0, 0) for file, line, old in made]

    assert rewrite_lines(rewrites, tmp_path / "suite") == [
        "tests/test_a.py:3 (and 1 more): vcr → turntape",
        "tests/test_a.py:5: vcr('x') → turntape",
        f"{there}:1: vcr → turntape",
    ]
