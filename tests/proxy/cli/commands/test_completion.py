"""`turntape completion`: the scripts themselves are tested in the shells, see ../completion."""

import shutil
import subprocess
from pathlib import Path

import pytest

from turntape.inspector.findings.docs import classes
from turntape.proxy.cli import main
from turntape.proxy.cli.commands.completion import SHELLS


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_each_shell_names_every_finding(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0

    shown = capsys.readouterr().out
    assert shown.startswith(("# ", "#compdef"))
    assert all(one.id in shown for one in classes())


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_takes_the_whole_script(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} on this machine")
    assert main(["completion", shell, "-o", str(tmp_path / "script")]) == 0

    done = subprocess.run([shell, "-n", str(tmp_path / "script")], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
