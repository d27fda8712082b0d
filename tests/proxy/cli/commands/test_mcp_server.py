"""`turntape mcp-server` as a process."""

import subprocess
import sys
from pathlib import Path

COMMAND = "from turntape.proxy.cli import main; raise SystemExit(main(['mcp-server', *sys.argv[1:]]))"


def start(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", f"import sys; {code}", *arguments]
    return subprocess.run(command, input="", capture_output=True, text=True, check=False)


def test_it_ends_with_its_input(tmp_path: Path) -> None:
    done = start(COMMAND, str(tmp_path))

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_folder_that_is_not_there_is_one_line() -> None:
    done = start(COMMAND, "nowhere")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "turntape: 'nowhere' is not a folder; give the folder of the recordings\n"


def test_without_the_sdk_the_line_that_installs_it_is_named(tmp_path: Path) -> None:
    done = start(f"sys.modules['mcp'] = None; {COMMAND}", str(tmp_path))

    assert (done.returncode, done.stdout) == (3, "")
    assert "which is not installed; pip install 'turntape[mcp]'\n" in done.stderr
    assert done.stderr.count("\n") == 1
