"""What the process `turntape` does with what a command raises."""

import subprocess
import sys
from pathlib import Path

import pytest

from turntape.proxy.cli import arguments, main


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


def test_a_missing_extra_is_named_with_the_line_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "mitmproxy", None)
    monkeypatch.delitem(sys.modules, "turntape.proxy.cli.show_command", raising=False)
    monkeypatch.setattr(arguments, "COMMANDS", (_broken("import mitmproxy"),))

    assert main(["broken"]) == 3
    assert "pip install 'turntape[proxy]'" in capsys.readouterr().err


def test_a_fault_of_ours_is_one_line_without_debug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(arguments, "COMMANDS", (_broken("1 / 0"),))

    assert main(["broken"]) == 3
    shown = capsys.readouterr().err
    assert "ZeroDivisionError" in shown
    assert shown.count("\n") == 1
    with pytest.raises(ZeroDivisionError):
        main(["--debug", "broken"])


def _broken(code: str) -> arguments.Command:
    """A command whose module does `code`."""
    import types

    module = types.ModuleType("turntape.proxy.cli.broken_command")
    module.main = lambda _options: exec(code)
    sys.modules[module.__name__] = module
    return arguments.Command("broken", "broken_command", "turntape broken", "", "", lambda _parser: None)
