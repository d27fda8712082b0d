"""A viewer is opened beside a command only while nobody has asked it to end."""

import asyncio
import errno
import sys
from pathlib import Path
from signal import SIGINT, SIGTERM, Signals
from typing import Any, cast

import pytest

from turntape.proxy.launch import supervise
from turntape.proxy.launch.child_process import SpawnError
from turntape.proxy.launch.recording_settings import Settings
from turntape.proxy.launch.supervise import to_stderr


class Waited:
    """A process that has ended."""

    ended = True

    def wait(self) -> int:
        return 0


class Shown:
    """What would use the terminal."""

    def __init__(self, problem: SpawnError | None = None) -> None:
        self.done: list[str] = []
        self._problem = problem

    def viewer(self, child: object, environ: object) -> Waited:
        if self._problem:
            raise self._problem
        self.done.append("viewer")
        return Waited()

    def pour(self, child: object) -> None:
        self.done.append("output")


def watched(shown: Shown, ending: list[Signals]) -> list[str]:
    settings = Settings(path=Path("run.cassette.jsonl"), environ={})
    asyncio.run(supervise._watched(settings, cast(Any, shown), cast(Any, Waited()), [], ending))
    return shown.done


@pytest.mark.parametrize("number", [SIGINT, SIGTERM])
def test_after_a_signal_that_asks_for_the_end_no_viewer_is_opened(number: Signals) -> None:
    assert watched(Shown(), [number]) == ["output"]


def test_without_a_signal_the_viewer_has_the_terminal_before_the_output() -> None:
    assert watched(Shown(), []) == ["viewer", "output"]


def test_where_no_viewer_can_be_started_the_output_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert watched(Shown(SpawnError("no room", 126)), []) == ["output"]
    assert "cannot be shown: no room" in capsys.readouterr().err


def test_what_cannot_be_written_changes_no_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def write(self, text: str) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sys, "stderr", Full())

    to_stderr(["the summary"])  # raises nothing
