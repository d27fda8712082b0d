"""What the base install needs also works without the modules and functions that only POSIX systems have.

The tests run on any system: a process takes them away before it imports anything of ours.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from factories import round_trip

from turntape.cassettes import Recorder

ROOT = Path(__file__).parent.parent
AS_ON_WINDOWS = """
import asyncio, importlib.abc, os, shutil, signal, subprocess, sys, tempfile  # these have their own ways without

MISSING = {"fcntl", "termios", "pwd", "grp", "resource", "pty", "tty"}

class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name in MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

for name in MISSING:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Missing())
for name in "HUP QUIT KILL USR1 USR2 TSTP CONT WINCH PIPE XFSZ".split():
    delattr(signal, f"SIG{name}")
for name in "O_CLOEXEC O_NOCTTY fdatasync fchmod fork killpg getpgid setsid getuid geteuid".split():
    delattr(os, name)

class Popen(subprocess.Popen):
    def __init__(self, *args, preexec_fn=None, **options):
        if preexec_fn is not None:
            raise ValueError("preexec_fn is not supported on Windows platforms")
        super().__init__(*args, **options)

subprocess.Popen = Popen
"""


def names() -> list[str]:
    """The modules that the base install can use."""
    files = [path for floor in ("cassettes", "inspector") for path in sorted((ROOT / floor).rglob("*.py"))]
    paths = (path.relative_to(ROOT).with_suffix("") for path in files)
    modules = [".".join(("turntape", *path.parts)).removesuffix(".__init__") for path in paths]
    return [name for name in modules if not name.startswith("turntape.inspector.views.tui")]


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", AS_ON_WINDOWS + code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("module", ["fcntl", "termios"])
def test_the_modules_are_really_missing(module: str) -> None:
    assert f"No module named '{module}'" in run(f"import {module}").stderr


def test_every_module_of_the_base_install_imports() -> None:
    code = """
import importlib
from turntape.inspector.wire.rewrite import remade
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except Exception as exc:
        print(name, repr(exc))
"""

    assert run(code, *names()).stdout == ""


def test_the_wrapper_of_tool_servers_imports_without_posix() -> None:
    """All of it but the modules that it imports on POSIX systems only."""
    files = sorted((ROOT / "proxy" / "tool_wire").glob("*.py"))
    wanted = [f"turntape.proxy.tool_wire.{path.stem}" for path in files if not path.stem.startswith(("posix_", "__"))]
    code = """
import importlib
for name in sys.argv[1:]:
    importlib.import_module(name)
"""

    assert len(wanted) > 10
    assert run(code, *wanted).stderr == ""


def test_a_recording_is_written_and_replayed(tmp_path: Path) -> None:
    code = """
import httpx
from turntape.cassettes import Cassette, RecordingTransport, ReplayTransport, Recorder
from turntape.cassettes.tape.lock import being_written

def answer(request):
    return httpx.Response(200, json={"seen": request.content.decode()})

url = "https://api.example/v1/x"
with Recorder(sys.argv[1]) as recorder:
    transport = RecordingTransport(recorder, httpx.MockTransport(answer))
    with httpx.Client(transport=transport) as client:
        recorded = client.post(url, json={"a": 1}).json()
with Recorder(sys.argv[1], append=True):
    pass
with httpx.Client(transport=ReplayTransport(sys.argv[1])) as client:
    replayed = client.post(url, json={"a": 1}).json()
print(recorded == replayed, len(Cassette.load(sys.argv[1])), being_written(sys.argv[1]), recorder.problem)
"""

    done = run(code, str(tmp_path / "run.cassette.jsonl"))

    assert done.stdout.split() == ["True", "1", "False", "None"], done.stderr


def test_the_pytest_plugin_answers_in_a_users_test(tmp_path: Path) -> None:
    (tmp_path / "test_agent.py").write_text("""
import httpx, pytest

@pytest.mark.turntape
def test_it():
    answer = httpx.post("https://api.openai.com/v1/chat/completions", content=b'{"a":1}')
    assert answer.json() == {"b": 2}
""")
    cassette = tmp_path / "cassettes" / "test_agent" / "test_it.cassette.jsonl"
    cassette.parent.mkdir(parents=True)
    with Recorder(cassette) as recorder:
        recorder.write(round_trip())
    code = """
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # other plugins look at `sys.platform`
import pytest
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-p", "turntape.cassettes.pytest_plugin", *sys.argv[1:]]))
"""

    done = run(code, str(tmp_path))

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("command", [["--help"], ["show", "--help"], ["check", "--help"], ["replay", "--help"]])
def test_the_command_line_starts(command: list[str]) -> None:
    done = run("from turntape.proxy.cli import main\nsys.exit(main(sys.argv[1:]))", *command)

    assert done.returncode == 0 and "usage" in done.stdout.lower(), done.stderr


@pytest.mark.parametrize("command", ["show", "check"])
def test_a_cassette_is_shown_and_checked(command: str, tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    with Recorder(path) as recorder:
        recorder.write(round_trip())

    done = run("from turntape.proxy.cli import main\nsys.exit(main(sys.argv[1:]))", command, str(path))

    assert "1 turn" in done.stdout and done.stderr == ""


def test_the_replay_server_of_run_starts(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    with Recorder(path) as recorder:
        recorder.write(round_trip())
    code = """
from turntape.proxy.launch.replay_server import replay_server

with replay_server(sys.argv[1:]) as server:
    print(server.url.startswith("http://127.0.0.1:"))
"""

    done = run(code, str(path))

    assert done.stdout.split() == ["True"], done.stderr
