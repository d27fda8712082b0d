"""Closed files reach the store in a separate process; what fails waits, and nothing of it reaches the traffic."""

import sys
from pathlib import Path

import pytest
from conversations import loop
from recordings import record

from turntape.proxy.gateway.shipper import Shipper, ShipTo


def program(code: str) -> tuple[str, ...]:
    """A process in place of the real one."""
    return sys.executable, "-c", code


def tape(path: Path) -> Path:
    record(path, loop())
    return path


def test_a_file_is_in_the_store_once_and_stays_where_it_was(tmp_path: Path) -> None:
    path = tape(tmp_path / "a.cassette.jsonl")
    shipper = Shipper(ShipTo(str(tmp_path / "store"), tmp_path / "spool", ("branch=main",)))

    shipper.submit(path)
    shipper.submit(path)
    counts = shipper.close(120)

    rows = list((tmp_path / "store" / "rows").rglob("*.parquet"))
    assert (counts.shipped, counts.failed, counts.waiting, counts.left, counts.problem) == (1, 0, 0, [], None)
    assert len(rows) == 1
    assert path.exists()


def test_a_file_of_our_own_spool_is_removed_when_the_store_has_it(tmp_path: Path) -> None:
    path = tape(tmp_path / "a.cassette.jsonl")
    shipper = Shipper(ShipTo(str(tmp_path / "store"), tmp_path, remove=True))

    shipper.submit(path)

    assert shipper.close(120).shipped == 1
    assert not path.exists()


def test_a_store_that_cannot_be_used_leaves_the_file_in_the_spool(tmp_path: Path) -> None:
    path = tape(tmp_path / "a.cassette.jsonl")
    (tmp_path / "store").write_text("a file, not a folder")
    said: list[str] = []
    shipper = Shipper(ShipTo(str(tmp_path / "store"), tmp_path / "spool", remove=True), say=said.append)

    shipper.submit(path)
    counts = shipper.close(120)

    assert (counts.shipped, counts.waiting, counts.left) == (0, 1, [])
    assert counts.problem and said == [f"nothing was shipped: {counts.problem}"]
    assert not path.exists(), "the spool has it"
    (tmp_path / "store").unlink()
    again = Shipper(ShipTo(str(tmp_path / "store"), tmp_path / "spool"))
    again.submit(tape(tmp_path / "b.cassette.jsonl"))
    assert (again.close(120).shipped, again.counts.waiting) == (2, 0)


@pytest.mark.parametrize(
    "code", ["raise SystemExit('no such extra')", "print('{')", "import os; os.kill(os.getpid(), 9)"]
)
def test_a_process_that_fails_is_reported_with_its_files(code: str, tmp_path: Path) -> None:
    shipper = Shipper(ShipTo("s3://b"), command=program(code))

    shipper.submit(tmp_path / "a.cassette.jsonl")
    counts = shipper.close(60)

    assert counts.left == [str(tmp_path / "a.cassette.jsonl")]
    assert counts.problem and counts.problem.startswith("shipping failed: ")


def test_an_upload_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    shipper = Shipper(ShipTo("s3://b"), command=program("import time; time.sleep(600)"))

    shipper.submit(tmp_path / "a.cassette.jsonl")
    counts = shipper.close(0.5)

    assert counts.left == [str(tmp_path / "a.cassette.jsonl")]


def test_options_reach_the_process() -> None:
    to = ShipTo("s3://b/p", Path("/spool"), ("branch=main", "job=7"), content=True, rows_only=True, remove=True)

    assert to.arguments([Path("-a.jsonl")]) == [
        "--to=s3://b/p",
        "--spool=/spool",
        "--label=branch=main",
        "--label=job=7",
        "--content",
        "--rows-only",
        "--remove",
        "--",
        "-a.jsonl",
    ]
