"""A process that outlives the wrapper: its session, its signals, its files."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from turntape.proxy.tool_wire.own_process import start_own_process


def _printed(arguments: list[str], module: str = "json.tool") -> bytes:
    reading, writing = os.pipe()
    given, giving = os.pipe()
    with os.fdopen(giving, "wb") as file:
        file.write(b"[1]")
    start_own_process(module, arguments, ((os.POSIX_SPAWN_DUP2, given, 0), (os.POSIX_SPAWN_DUP2, writing, 1)))
    os.close(writing)
    os.close(given)
    with os.fdopen(reading, "rb") as file:
        return file.read()


def test_a_module_runs_with_its_arguments_and_files() -> None:
    assert _printed(["--compact"]).strip() == b"[1]"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    real = os.posix_spawn

    def spawn(path: str, command: list[str], environment: Any, **options: Any) -> int:
        made.append(options)
        if "setsid" in options:
            raise NotImplementedError
        return real(path, command, environment, **options)

    monkeypatch.setattr(os, "posix_spawn", spawn)
    return made


def test_the_process_starts_where_the_system_has_no_such_flag(calls: list[dict[str, Any]]) -> None:
    assert _printed(["--compact"]).strip() == b"[1]"
    assert [options.get("setsid") for options in calls] == [True, None]


def test_the_process_has_its_own_session_and_no_signal_is_blocked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "prints_session.py").write_text(
        "import os, signal; print(os.getsid(0), *signal.pthread_sigmask(signal.SIG_BLOCK, ()))"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        session, blocked = _status(_printed([], "prints_session"))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    assert session != os.getsid(0)
    assert not blocked


def _status(printed: bytes) -> tuple[int, list[str]]:
    session, *blocked = printed.decode().split()
    return int(session), blocked
