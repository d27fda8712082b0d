"""A short run of `make crash`: nothing is lost without a word, and every file opens; and it would see when not."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent))  # bench is not installed

from bench.crash import cases
from bench.crash.__main__ import SUFFIXES, table
from bench.crash.cases import CASES, Row, once


@pytest.mark.skipif(sys.platform != "linux", reason="the cases use POSIX signals and limits")
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("case", CASES)
def test_what_is_lost_is_said_and_the_rest_is_read(case: str, suffix: str, tmp_path: Path) -> None:
    row = once(case, tmp_path / f"a.cassette.{suffix}", 48)

    assert row.handed_in > 0
    assert (row.unsaid, row.unread) == (0, 0)
    assert (row.kept, row.lost) == (row.handed_in - row.lost, row.handed_in - row.kept)
    assert (row.lost > 0) == (case in ("full", "removed", "cut")) or case == "kill"


def compared(case: str, path: Path, handed: int, *, lost: int = 0, said: bool = True) -> Row:
    return cases._compared(case, path, dict.fromkeys(range(handed), 1.0), lost, said, 1.0)


def test_a_loss_that_is_not_reported_is_counted(tmp_path: Path) -> None:
    none = tmp_path / "none.cassette.jsonl"

    assert compared("removed", none, 3, lost=3).unsaid == 0
    assert compared("removed", none, 3, lost=1).unsaid == 2
    assert compared("removed", none, 3, lost=3, said=False).unsaid == 1


def test_a_file_that_does_not_open_is_counted(tmp_path: Path) -> None:
    bad = tmp_path / "bad.cassette.jsonl"
    bad.write_bytes(b"no header\n")

    assert compared("full", bad, 2, lost=2).unread == 1


def test_the_table_has_a_line_for_each_case() -> None:
    assert len(table({case: Row(1, 2, 3) for case in CASES}).splitlines()) == 1 + len(CASES)
