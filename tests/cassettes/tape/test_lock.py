"""Whether somebody still writes a cassette."""

import errno
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from turntape.cassettes import Recorder
from turntape.cassettes.tape import lock
from turntape.cassettes.tape.lock import being_written


def test_a_cassette_is_written_until_its_recorder_closes_it(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    with Recorder(path):
        assert being_written(path)

    assert not being_written(path)

    with Recorder(path, append=True):
        assert being_written(path)


def test_what_is_not_begun_may_be_written_yet(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    assert being_written(path)

    path.touch()
    assert being_written(path)


class Msvcrt(ModuleType):
    """The calls of Windows's locking, noted; a byte that is locked is refused."""

    LK_LOCK, LK_NBLCK = 1, 2

    def __init__(self) -> None:
        super().__init__("msvcrt")
        self.calls: list[tuple[int, int, int]] = []
        self.locked = False

    def locking(self, file: int, mode: int, size: int) -> None:
        self.calls.append((mode, size, os.lseek(file, 0, os.SEEK_CUR)))
        if self.locked:
            raise PermissionError(errno.EACCES, "Permission denied")


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> tuple[ModuleType, Msvcrt]:
    """The module as it is on Windows."""
    library = Msvcrt()
    monkeypatch.setitem(sys.modules, "msvcrt", library)
    monkeypatch.setattr(sys, "platform", "win32")
    spec = importlib.util.spec_from_file_location("lock_on_windows", lock.__file__)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, library


def test_windows_locks_one_byte_that_no_cassette_reaches(windows: tuple[ModuleType, Msvcrt], tmp_path: Path) -> None:
    module, library = windows
    path = tmp_path / "run.cassette.jsonl"
    path.write_bytes(b"x")

    with path.open("ab") as file:
        module.hold(file.fileno())
        module.hold(file.fileno(), wait=True)
        file.write(b"y")

    assert library.calls == [(Msvcrt.LK_NBLCK, 1, 1 << 40), (Msvcrt.LK_LOCK, 1, 1 << 40)]
    assert path.read_bytes() == b"xy"


@pytest.mark.parametrize("locked", [True, False])
def test_windows_knows_a_cassette_that_is_being_written(
    locked: bool, windows: tuple[ModuleType, Msvcrt], tmp_path: Path
) -> None:
    module, library = windows
    path = tmp_path / "run.cassette.jsonl"
    path.write_bytes(b"x")
    library.locked = locked

    assert module.being_written(path) == locked


def test_a_lock_waits_only_when_it_is_asked_to(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with path.open("w") as first, path.open("w") as second:
        lock.hold(first.fileno(), wait=True)

        with pytest.raises(OSError, match="Resource temporarily unavailable"):
            lock.hold(second.fileno())
    with path.open("w") as first, path.open("w") as second:
        lock.hold(first.fileno(), shared=True)
        lock.hold(second.fileno(), shared=True)
