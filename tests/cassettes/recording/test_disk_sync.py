import errno
import os
import threading
from pathlib import Path
from typing import override

import pytest
from factories import round_trip
from recordings import single

from turntape.cassettes import Cassette, Recorder
from turntape.cassettes.recording import disk_sync
from turntape.cassettes.recording.disk_sync import DiskSync


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.cassette.jsonl"


def test_what_is_handed_in_while_the_disk_is_busy_is_in_the_file_before_it_is_synced(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy, done, kept = threading.Event(), threading.Event(), threading.Event()

    def sync(file: int) -> None:
        busy.set()
        assert done.wait(60)

    monkeypatch.setattr(disk_sync, "_sync", sync)
    with Recorder(path) as recorder:
        try:
            recorder.write(round_trip())
            assert busy.wait(60)
            for trip in single(3):
                recorder.write(trip)
            while recorder.waiting:
                kept.wait(0.005)

            assert len(Cassette.load(path)) == 4
        finally:
            done.set()


def test_closing_syncs_what_was_written_last(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(disk_sync, "_sync", lambda file: synced.append(os.fstat(file).st_size))

    with Recorder(path) as recorder:
        for trip in single(3):
            recorder.write(trip)

    assert synced[-1] == path.stat().st_size


class SetAfterALook(threading.Event):
    """Is set, with another one, right after somebody has seen that it is not."""

    def __init__(self, other: threading.Event) -> None:
        super().__init__()
        self._other = other

    @override
    def is_set(self) -> bool:
        was_set = super().is_set()
        self.set()
        self._other.set()
        return was_set


def test_a_close_that_comes_between_two_steps_of_the_thread_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread waited forever, and the recorder that closed it too."""
    monkeypatch.setattr(disk_sync, "_sync", lambda file: None)
    sync = DiskSync(0, "sync of a test", lambda error: pytest.fail(str(error)))
    monkeypatch.setattr(sync, "_closing", SetAfterALook(getattr(sync, "_wanted")))  # noqa: B009 - it is private

    sync.wanted()
    for thread in [one for one in threading.enumerate() if one.name == "sync of a test"]:
        thread.join(60)
    assert "sync of a test" not in {thread.name for thread in threading.enumerate()}


def test_without_anything_written_there_is_no_thread_and_no_sync(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_sync, "_sync", lambda file: pytest.fail("nothing was written"))

    sync = DiskSync(0, "sync of a test", lambda error: pytest.fail(str(error)))
    sync.close()

    assert "sync of a test" not in {thread.name for thread in threading.enumerate()}


def test_each_error_of_the_disk_is_reported_and_the_next_sync_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    errors: list[OSError] = []
    tried = threading.Semaphore(0)

    def refuse(file: int) -> None:
        tried.release()
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(disk_sync, "_sync", refuse)
    monkeypatch.setattr(disk_sync, "PAUSE", 0)
    sync = DiskSync(0, "sync of a test", errors.append)
    sync.wanted()
    assert tried.acquire(timeout=60)
    sync.wanted()
    assert tried.acquire(timeout=60)
    sync.close()

    assert {error.errno for error in errors} == {errno.EIO} and len(errors) >= 2
    assert "sync of a test" not in {thread.name for thread in threading.enumerate()}
