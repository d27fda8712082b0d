"""What the process `turntape` does with what a command raises."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from turntape.cassettes.errors import TurntapeError
from turntape.proxy.cli import main
from turntape.proxy.cli.command import Command


def turntape(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "turntape.proxy.cli", *argv], capture_output=True, text=True, check=False
    )


def test_the_version_is_the_packages() -> None:
    from importlib.metadata import version

    assert turntape("--version").stdout == f"turntape {version('turntape')}\n"


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    done = turntape("show", str(tmp_path / "none.cassette.jsonl"))

    assert done.returncode == 2
    assert done.stderr.startswith("turntape: ")
    assert "none.cassette.jsonl" in done.stderr
    assert done.stderr.count("\n") == 1


def broken(action: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `turntape show F` do `action`."""

    def act(_options: object) -> int:
        action()
        return 0

    monkeypatch.setattr("turntape.proxy.cli.load", lambda _entry: Command("", "", lambda _parser: None, act))


def raising(exc: BaseException) -> Callable[[], object]:
    def act() -> None:
        raise exc

    return act


@pytest.mark.parametrize(
    ("module", "extra"),
    [("mitmproxy.http", "proxy"), ("uvicorn", "proxy"), ("httptools", "proxy"), ("textual", "tui"), ("yaml", "import")],
)
def test_a_missing_extra_is_named_with_the_line_that_installs_it(
    module: str, extra: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken(raising(ModuleNotFoundError(name=module)), monkeypatch)

    assert main(["show"]) == 3
    assert capsys.readouterr().err == (
        f"turntape: this needs {module}, which is not installed; pip install 'turntape[{extra}]'\n"
    )


def test_a_bug_is_one_line_without_debug(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    broken(raising(ZeroDivisionError("division")), monkeypatch)

    assert main(["show"]) == 3
    shown = capsys.readouterr().err
    assert "internal error, ZeroDivisionError: division; `turntape --debug …` shows where" in shown
    assert shown.count("\n") == 1
    for argv in (["--debug", "show"], ["show", "--debug"]):
        with pytest.raises(ZeroDivisionError):
            main(argv)


@pytest.mark.parametrize(
    ("exc", "code", "message"),
    [
        (TurntapeError("one sentence"), 2, "turntape: one sentence\n"),
        (PermissionError(13, "Permission denied", "a/b"), 2, "turntape: a/b: Permission denied\n"),
        (OSError(28, "No space left on device"), 2, "turntape: No space left on device\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_what_the_user_can_fix_is_one_line(
    exc: BaseException,
    code: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    broken(raising(exc), monkeypatch)

    assert main(["show"]) == code
    assert capsys.readouterr().err == message


def test_without_a_command_the_first_screen_is_shown_with_exit_2(capsys: pytest.CaptureFixture[str]) -> None:
    for argv, code in (([], 2), (["--help"], 0), (["-h"], 0)):
        with pytest.raises(SystemExit) as exit_:
            main(argv)
        assert exit_.value.code == code
        assert "start here" in capsys.readouterr().out
