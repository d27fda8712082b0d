"""What the process `turntape` does with what a command raises."""

import errno
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from conversations import loop

from turntape.cassettes import Recorder
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


def test_the_package_is_the_command_too() -> None:
    command = [sys.executable, "-m", "turntape", "--version"]

    assert subprocess.run(command, capture_output=True, check=True).stdout.startswith(b"turntape ")


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

    monkeypatch.setattr(
        "turntape.proxy.cli.command_line.load", lambda _entry: Command("", "", (), lambda _parser: None, act)
    )


def raising(exc: BaseException) -> Callable[[], object]:
    def act() -> None:
        raise exc

    return act


@pytest.mark.parametrize(
    ("module", "extra"),
    [
        ("mitmproxy.http", "proxy"),
        ("cryptography", "proxy"),
        ("uvicorn", "proxy"),
        ("httptools", "proxy"),
        ("textual", "tui"),
        ("yaml", "import"),
        ("mcp", "mcp"),
    ],
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


MORE = "allow more with `ulimit -v` and `ulimit -u`, or give the container more memory"


@pytest.mark.parametrize(
    ("exc", "code", "message"),
    [
        (TurntapeError("one sentence"), 2, "turntape: one sentence\n"),
        (
            PermissionError(errno.EACCES, "Permission denied", "a/b"),
            2,
            "turntape: cannot use 'a/b': Permission denied; check its name and its permissions\n",
        ),
        (
            OSError(errno.ENOSPC, "No space left on device"),
            2,
            "turntape: cannot write the output: No space left on device; write it to another place\n",
        ),
        (OSError(errno.ECONNREFUSED, "Connection refused"), 2, "turntape: Connection refused\n"),
        (
            OSError(errno.EMFILE, "Too many open files", "a/b"),
            2,
            "turntape: this process is at a limit: Too many open files; allow more with `ulimit -n`\n",
        ),
        (MemoryError(), 2, f"turntape: this process is at a limit: no memory is left; {MORE}\n"),
        (
            RuntimeError("can't start new thread"),
            2,
            f"turntape: this process is at a limit: no thread can be started; {MORE}\n",
        ),
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


READING = [
    ["show"], ["show", "--json"], ["view"], ["report"], ["check"], ["replay", "--port", "0"], ["export", "--as", "har"],
    ["diff", "good.cassette.jsonl"], ["fork", "--at", "1"], ["run", "--replay"],
]  # fmt: skip
"""Commands that read a cassette; its name comes last."""

BAD_FILES = {
    "missing.jsonl": "cannot read the cassette 'missing.jsonl': No such file or directory; check the name",
    "good.casette.jsonl": "No such file or directory; did you mean 'good.cassette.jsonl'?",
    "empty-folder": "in the folder 'empty-folder'|the folder 'empty-folder' has no *.cassette.jsonl file"
    "|the folder 'empty-folder' holds no cassettes",
    "binary": "turntape cassette: its first line",
    "empty": "'empty' is empty",
    "empty/below": "cannot read the cassette 'empty/below': Not a directory; check the name",
    "a.har": "'a.har' is a recording in the format of HAR; convert it: turntape import a.har",
    "a b.yaml": "'a b.yaml' is a recording in the format of vcrpy; convert it: turntape import 'a b.yaml'",
    "flows": "'flows' is a recording in the format of mitmproxy flows; convert it: turntape import flows",
    "none*": "no file matches 'none*'; check the pattern",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with Recorder(tmp_path / "good.cassette.jsonl") as recorder:
        for trip in loop():
            recorder.write(trip)
    (tmp_path / "empty-folder").mkdir()
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 20)
    (tmp_path / "empty").touch()
    (tmp_path / "a.har").write_text('{"log": {"version": "1.2", "entries": []}}')
    (tmp_path / "a b.yaml").write_text("interactions:\n- request:\n    method: POST\n  response: {}\nversion: 1\n")
    (tmp_path / "flows").write_bytes(b"2100:9:websocket;0:~8:response;")
    return tmp_path


@pytest.mark.parametrize("name", BAD_FILES)
@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_a_file_that_cannot_be_read_is_one_sentence_in_every_command(
    command: list[str], name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tail = ["--", "true"] if command[0] in ("fork", "run") else []

    assert main([*command, name, *tail]) == 2

    shown = capsys.readouterr().err
    assert any(part in shown for part in BAD_FILES[name].split("|"))
    assert shown.startswith("turntape: ") and shown.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors are closed by a POSIX shell")
@pytest.mark.parametrize(
    "arguments", [["--help"], ["show", "good.cassette.jsonl"], ["export", "good.cassette.jsonl", "--as", "har"]]
)
def test_closed_streams_are_as_if_nobody_listened(arguments: list[str], folder: Path) -> None:
    command = [sys.executable, "-m", "turntape.proxy.cli", *arguments]

    done = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *command], capture_output=True, text=True, check=False)
    silent = subprocess.run(["sh", "-c", '"$@" <&- >&- 2>&-', "sh", *command], check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert silent.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_one_sentence(folder: Path) -> None:
    command = [sys.executable, "-m", "turntape.proxy.cli", "show", "good.cassette.jsonl"]

    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)

    assert done.returncode == 2
    assert done.stderr == (
        f"turntape: cannot write the output: {os.strerror(errno.ENOSPC)}; write it to another place\n"
    )


@pytest.mark.parametrize("argv", [["show"], ["mcp", "--", "server"]])
def test_ctrl_c_while_modules_are_imported_prints_nothing(
    argv: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupted(ModuleType):
        def __getattr__(self, name: str) -> object:
            raise KeyboardInterrupt if name in ("main", "parsed") else AttributeError(name)

    for module in ("turntape.proxy.cli.command_line", "turntape.proxy.tool_wire.wrapper"):
        monkeypatch.setitem(sys.modules, module, Interrupted(module))

    assert main(argv) == 130
    assert capsys.readouterr() == ("", "")


def test_a_dependency_that_warns_ends_nothing_where_warnings_are_errors(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    warnings.simplefilter("error")
    broken(lambda: warnings.warn("old", DeprecationWarning, stacklevel=1), monkeypatch)

    main(["show"])

    assert capsys.readouterr().err == ""
