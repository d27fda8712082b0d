"""What a command writes to a terminal."""

import errno
import io
import sys
from pathlib import Path

import pytest
from viewing import EXAMPLE

from turntape.proxy.cli import main


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stream: type[io.TextIOWrapper]) -> bytes:
    raw = io.BytesIO()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdout", stream(raw, encoding="utf-8"))
    assert main(["show", str(EXAMPLE), "--color", "never"]) == 0
    return raw.getvalue()


def test_a_terminal_without_unicode_gets_ascii_and_a_pipe_gets_all(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    plain, piped = (shown(monkeypatch, tmp_path, stream) for stream in (Terminal, io.TextIOWrapper))
    assert plain.isascii() and b"* model" in plain
    assert "◆ model".encode() in piped

    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")
    assert shown(monkeypatch, tmp_path, Terminal) == piped


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be removed there")
def test_a_working_directory_that_was_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TURNTAPE_HOME", str(tmp_path / "home"))
    main(["show", str(EXAMPLE)])
    before = capsys.readouterr().out
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()

    assert main(["show", str(EXAMPLE)]) == 0
    assert capsys.readouterr().out == before
    assert main(["run", "--", "true"]) == 2
    assert "the working directory was removed; change to another one" in capsys.readouterr().err


class Full(io.StringIO):
    def write(self, s: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_the_exit_code_says_what_the_full_disk_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Full())

    assert main(["show", "missing.cassette.jsonl"]) == 2
