"""What a command writes to a terminal."""

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
