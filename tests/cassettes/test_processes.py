"""Whether another process runs, on POSIX systems and, with functions in the place of Windows' own, on Windows."""

import os
import subprocess
import sys
from typing import Any

import pytest

from turntape.cassettes import orphan, processes
from turntape.cassettes.processes import is_running, lower_priority, windows_runs


class Kernel:
    """The functions of `kernel32`. `ended`: None when there is no such process."""

    def __init__(self, ended: bool | None, error: int = 87) -> None:
        self.ended, self.error = ended, error
        self.open = 0
        self.waited: list[int] = []

    def OpenProcess(self, access: int, inherit: bool, pid: int) -> int:
        assert (access, inherit, pid) == (0x00100000, False, 7)
        self.open += self.ended is not None
        return 0 if self.ended is None else 1 << 40

    def WaitForSingleObject(self, handle: int, patience: int) -> int:
        assert handle == 1 << 40
        self.waited.append(patience)
        return 0 if self.ended else 0x102

    def CloseHandle(self, handle: int) -> None:
        self.open -= handle == 1 << 40

    def last_error(self) -> int:
        return self.error


def test_this_process_runs_and_one_that_has_ended_does_not() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()

    assert is_running(os.getpid())
    assert not is_running(ended.pid)
    assert not is_running(1 << 40)


@pytest.mark.parametrize(
    ("kernel", "runs"),
    [(Kernel(False), True), (Kernel(True), False), (Kernel(None), False), (Kernel(None, error=5), True)],
    ids=["runs", "has ended", "is not there", "belongs to another user"],
)
def test_on_windows_a_handle_says_it(kernel: Kernel, runs: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def kill(*_: object) -> None:
        raise AssertionError("it would send a Ctrl-C")

    monkeypatch.setattr(os, "kill", kill)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(processes, "_kernel", lambda: kernel)

    assert is_running(7) is runs
    assert windows_runs(7, kernel) is runs
    assert kernel.open == 0


@pytest.mark.parametrize("ended", [True, None], ids=["ends", "was gone by then"])
def test_on_windows_a_process_ends_with_the_one_that_started_it(
    ended: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = Kernel(ended)
    codes: list[int] = []
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(processes, "_kernel", lambda: kernel)
    monkeypatch.setattr(os, "_exit", codes.append)
    started: list[Any] = []
    monkeypatch.setattr(orphan.threading, "Thread", lambda **given: started.append(given) or _Now(**given))

    orphan.end_with(7)

    assert codes == [1] and len(started) == 1 and kernel.open == 0
    assert kernel.waited == ([0xFFFFFFFF] if ended else [])


class _Now:
    """A thread that runs where it is started."""

    def __init__(self, **given: Any) -> None:
        self._given = given

    def start(self) -> None:
        self._given["target"](*self._given["args"])


def test_a_process_goes_behind_others_where_the_system_knows_how(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []

    def nice(step: int) -> int:
        given.append(step)
        raise PermissionError

    monkeypatch.setattr(os, "nice", nice)
    lower_priority()
    assert given == [10]

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.delattr(os, "nice")  # which Windows does not have
    lower_priority()
    assert given == [10]
