"""The spool: files wait with their labels, and the oldest go when it is full."""

import os
from pathlib import Path

import pytest

from turntape.inspector.fleet.shipping.spool import Spool


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.cassette.jsonl"
    path.write_bytes(b"x" * 100)
    return path


def test_a_file_waits_for_its_store_with_its_labels(tmp_path: Path, file: Path) -> None:
    spool = Spool(tmp_path / "spool")

    assert spool.put(file, "s3://a", {"branch": "main"}, texts=True, rows_only=False) == 0

    (waiting,) = spool.waiting("s3://a/")
    assert waiting.path.read_bytes() == file.read_bytes()
    assert (waiting.labels, waiting.texts, waiting.rows_only) == ({"branch": "main"}, True, False)
    assert spool.waiting("s3://b") == []
    assert spool.size() == (1, 100)


def test_the_same_file_waits_once_and_is_removed_whole(tmp_path: Path, file: Path) -> None:
    spool = Spool(tmp_path / "spool")
    for _ in range(2):
        spool.put(file, "s3://a", {}, texts=False, rows_only=False)

    (waiting,) = spool.waiting("s3://a")
    spool.remove(waiting)

    assert spool.size() == (0, 0)
    assert [path for path in (tmp_path / "spool").rglob("*") if path.is_file()] == []


def test_the_oldest_is_removed_above_the_limit(tmp_path: Path, file: Path) -> None:
    spool, dropped = Spool(tmp_path / "spool", limit=250), 0
    for number in range(3):
        file.write_bytes(b"%d" % number * 100)
        dropped += spool.put(file, "s3://a", {"n": str(number)}, texts=False, rows_only=False)
        for waiting in spool.waiting("s3://a"):
            at = 1000 + int(waiting.labels["n"])
            os.utime(waiting.path, (at, at))

    assert dropped == 1
    assert [waiting.labels["n"] for waiting in spool.waiting("s3://a")] == ["1", "2"]


def test_one_file_above_the_limit_still_waits(tmp_path: Path, file: Path) -> None:
    spool = Spool(tmp_path / "spool", limit=10)

    assert spool.put(file, "s3://a", {}, texts=False, rows_only=False) == 0
    assert spool.size()[0] == 1


def test_files_are_for_their_owner_only(tmp_path: Path, file: Path) -> None:
    spool = Spool(tmp_path / "spool")
    spool.put(file, "s3://a", {}, texts=False, rows_only=False)

    (waiting,) = spool.waiting("s3://a")
    assert waiting.path.stat().st_mode & 0o077 == 0
