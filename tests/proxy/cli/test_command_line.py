"""What a command writes to a terminal."""

import errno
import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from viewing import EXAMPLE

from turntape.proxy.cli import main
from turntape.proxy.cli.command import Command
from turntape.proxy.cli.registry import COMMANDS


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


@pytest.mark.parametrize(
    ("no_color", "terminal", "coloured"),
    [("", True, True), ("1", True, False), ("", False, False), ("1", False, False)],
)
def test_the_first_screen_has_colours_on_a_terminal_that_wants_them(
    no_color: str, terminal: bool, coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = io.BytesIO()
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setattr(sys, "stdout", (Terminal if terminal else io.TextIOWrapper)(raw, encoding="utf-8"))

    with pytest.raises(SystemExit):
        main(["--help"])

    sys.stdout.flush()
    assert (b"\x1b[" in raw.getvalue()) is coloured and b"start here" in raw.getvalue()


def doing(action: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each command do `action`."""

    def act(_options: object) -> int:
        action()
        return 0

    monkeypatch.setattr(
        "turntape.proxy.cli.command_line.load", lambda _entry: Command("", "", (), lambda _parser: None, act)
    )


def test_settings_that_cannot_be_read_are_reported_by_all_commands_but_those_that_help_or_have_no_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.turntape]\nno_such_setting = 1\n")
    monkeypatch.chdir(tmp_path)
    done: list[str] = []
    doing(lambda: done.append("done"), monkeypatch)

    codes = {one.name: main([one.name]) for one in COMMANDS}

    assert {name for name, code in codes.items() if code == 0} == {"completion", "doctor", "mcp"}
    assert len(done) == 3 and set(codes.values()) == {0, 2}
    assert all("no_such_setting" in line for line in capsys.readouterr().err.splitlines())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGPIPE and reports another error")
def test_a_reader_that_has_gone_is_not_an_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "turntape.proxy.cli", "completion", "bash"]

    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)

    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("exc", "code", "says"),
    [
        (ModuleNotFoundError("No module"), 3, "internal error, ModuleNotFoundError: No module"),
        (ModuleNotFoundError("No module", name="ours.part"), 3, "internal error, ModuleNotFoundError: No module"),
        (FileNotFoundError(errno.ENOENT, "No such file or directory"), 2, "turntape: No such file or directory\n"),
        (OSError("the socket is closed"), 2, "turntape: the socket is closed\n"),
        (OSError(errno.EMFILE, "Too many open files"), 2, "allow more with `ulimit -n`"),
        (OSError(errno.ENFILE, "Too many open files"), 2, "close programs that hold many files open"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), 2, "give the container more memory"),
        (OSError(errno.EAGAIN, "Resource temporarily unavailable"), 2, "give the container more memory"),
        *(
            (OSError(number, "no"), 2, "turntape: cannot write the output: no; write it to another place\n")
            for number in (errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EBADF)
        ),
        (OSError(errno.ENOSPC, "no room", "a/b"), 2, "turntape: cannot use 'a/b': no room;"),
        (RuntimeError("another"), 3, "internal error, RuntimeError: another"),
    ],
    ids=repr,
)
def test_what_is_said_of_an_error_without_a_file(
    exc: Exception, code: int, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def act() -> None:
        raise exc

    doing(act, monkeypatch)

    assert main(["show"]) == code
    assert says in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be removed there")
def test_a_missing_file_is_named_although_the_working_directory_was_removed_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()

    assert main(["show", str(tmp_path / "missing.cassette.jsonl")]) == 2
    assert "missing.cassette.jsonl" in capsys.readouterr().err
