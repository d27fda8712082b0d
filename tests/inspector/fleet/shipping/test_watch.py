"""Watching a folder: what is closed is shipped once, and what failed is tried again later."""

import os
from pathlib import Path

import pytest
from shipped_tapes import LOOP, rows, tape

from turntape.inspector.fleet.shipping.ship import ShipOptions
from turntape.inspector.fleet.shipping.watch import LONGEST_WAIT, SHORTEST_WAIT, Watch


@pytest.fixture
def to(tmp_path: Path) -> str:
    return str(tmp_path / "store")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    tape(tmp_path / "runs" / "a.cassette.jsonl", trips=1)
    return tmp_path / "runs"


def test_each_file_is_shipped_once_and_again_when_it_has_grown(runs: Path, to: str) -> None:
    watch = Watch([runs], to, ShipOptions())

    assert [file.state for file in watch.step().shipped.files] == ["new"]
    assert watch.step().shipped.files == ()
    tape(runs / "a.cassette.jsonl", trips=1, append=True)
    tape(runs / "deep" / "b.cassette.jsonl")
    assert [file.state for file in watch.step().shipped.files] == ["grown", "new"]

    assert len(rows(to)) == 2 * LOOP


def test_a_file_in_progress_is_left_alone(runs: Path, to: str) -> None:
    from conversations import loop

    from turntape.cassettes import Recorder

    watch = Watch([runs], to, ShipOptions())
    watch.step()
    with Recorder(runs / "b.cassette.jsonl", durable=False) as recorder:
        recorder.write(loop()[0])
        assert watch.step().shipped.files == ()
    assert [file.state for file in watch.step().shipped.files] == ["new"]


def test_shipped_files_are_deleted_only_on_request(runs: Path, to: str) -> None:
    Watch([runs], to, ShipOptions()).step()
    assert (runs / "a.cassette.jsonl").exists()

    assert Watch([runs], to, ShipOptions(), delete=True).step().deleted == 1

    assert not (runs / "a.cassette.jsonl").exists()


def test_failures_wait_longer_each_time(runs: Path, to: str) -> None:
    watch = Watch([runs], "ftp://x", ShipOptions(), delete=True, jitter=lambda: 1.0)

    steps = [watch.step() for _ in range(8)]

    assert [step.wait for step in steps[:3]] == [2 * SHORTEST_WAIT, 4 * SHORTEST_WAIT, 8 * SHORTEST_WAIT]
    assert steps[-1].wait == LONGEST_WAIT
    assert "is not a store" in str(steps[0].problem)
    assert (runs / "a.cassette.jsonl").exists()


def test_a_folder_above_its_limit_loses_its_oldest_file(runs: Path, to: str) -> None:
    newer = tape(runs / "b.cassette.jsonl")
    os.utime(runs / "a.cassette.jsonl", (1000, 1000))
    watch = Watch([runs], "ftp://x", ShipOptions(spool_bytes=newer.stat().st_size), delete=True)

    assert watch.step().dropped == 1

    assert [path.name for path in runs.iterdir()] == ["b.cassette.jsonl"]
