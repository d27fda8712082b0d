"""Processes that a test starts reach nobody in a replay, whatever they are written in; elsewhere they are noted."""

import multiprocessing
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from plugin_project import write

from turntape.cassettes.pytest_plugin.subprocesses import report_from_fork, watch_processes
from turntape.proxy.scripted.server import ScriptedServer

pytest_plugins = ["pytester"]

PYTHON = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=3)
    print("connected")
except OSError as exc:
    print(exc)
"""
NODE = """
const [host, port] = process.argv.slice(-2);
require('node:net').connect(Number(port), host).on('connect', function () { console.log('connected'); this.end(); })
  .on('error', (error) => console.log(error.message));
"""
PROGRAMS = {
    "python": [sys.executable, "-c", PYTHON],
    "node": ["node", "-e", NODE, "--"],
}
ELSEWHERE = "192.0.2.1"
"""An address of nobody, by RFC 5737."""


@pytest.fixture
def wanted() -> list[str]:
    return []


@pytest.fixture
def undo() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def said(program: str, *arguments: object, env: dict[str, str] | None = None) -> str:
    if shutil.which(PROGRAMS[program][0]) is None:
        pytest.skip(f"{program} is not on this machine")
    command = [*PROGRAMS[program], *map(str, arguments)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.strip()


@pytest.mark.parametrize("program", PROGRAMS)
def test_other_machines_and_apis_on_this_one_are_refused(program: str, wanted: list[str], undo: ExitStack) -> None:
    with ScriptedServer() as api, ScriptedServer() as other:
        ports = [int(server.url.rpartition(":")[2]) for server in (api, other)]
        watch_processes(wanted.append, undo, closed=True, apis=[f"127.0.0.1:{ports[0]}"])

        assert "turntape: the network is closed" in said(program, ELSEWHERE, 443)
        assert "turntape: the network is closed" in said(program, "127.0.0.1", ports[0], env={"PATH": os.defpath})
        assert said(program, "127.0.0.1", ports[1]) == "connected"

    assert wanted == [f"{ELSEWHERE}:443", f"127.0.0.1:{ports[0]}"]


def test_an_environment_may_be_given_by_its_place(wanted: list[str], undo: ExitStack) -> None:
    watch_processes(wanted.append, undo, closed=True)
    command = [*PROGRAMS["python"], ELSEWHERE, "443"]
    before_env = (-1, None, None, subprocess.PIPE, None, None, True, False, None)

    process = subprocess.Popen(command, *before_env, {"PATH": os.defpath}, True)  # the last one: text, not bytes

    assert "turntape: the network is closed" in process.communicate()[0]
    assert wanted == [f"{ELSEWHERE}:443"]


@pytest.mark.parametrize("program", PROGRAMS)
def test_an_open_network_is_only_noted(program: str, wanted: list[str], undo: ExitStack) -> None:
    with ScriptedServer() as api:
        port = int(api.url.rpartition(":")[2])
        watch_processes(wanted.append, undo, closed=False, apis=[f"127.0.0.1:{port}"])

        assert said(program, "127.0.0.1", port) == "connected"

    assert set(wanted) == {f"127.0.0.1:{port}"}


def test_an_allowed_host_is_connected_to(wanted: list[str], undo: ExitStack) -> None:
    with ScriptedServer() as api:
        port = int(api.url.rpartition(":")[2])
        watch_processes(wanted.append, undo, closed=True, allowed=[f"127.0.0.1:{port}"], apis=[f"127.0.0.1:{port}"])

        assert said("python", "127.0.0.1", port) == "connected"

    assert wanted == []


def test_other_programs_get_a_proxy_that_refuses(wanted: list[str], undo: ExitStack) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not on this machine")
    watch_processes(wanted.append, undo, closed=True)

    done = subprocess.run(["curl", "-sS", "https://api.openai.com/v1/models"], capture_output=True, text=True)

    assert "403" in done.stderr
    assert wanted == ["api.openai.com:443"]


@pytest.mark.parametrize(
    ("closed", "command", "noted"),
    [
        (False, ["true", "-d", "{}", "https://api.openai.com/v1/chat/completions"], ["api.openai.com:443"]),
        (False, "true 'http://127.0.0.1:8000/v1/messages?beta=true' | cat", ["127.0.0.1:8000"]),
        (False, ["true", "https://api.openai.com/v1/models", "https://[broken"], []),
        (True, ["true", "https://api.openai.com/v1/chat/completions"], []),
        (True, ["true", "http://localhost:8000/v1/chat/completions"], ["localhost:8000"]),
        (True, ["true", "http://localhost:9000/v1/chat/completions", "http://[::1]:80/v1/chat/completions"], []),
        (True, ["true", "http://localhost:8000/v1/models"], []),
    ],
)
def test_apis_on_a_command_line_are_noted_where_no_proxy_refuses_them(
    closed: bool, command: str | list[str], noted: list[str], wanted: list[str], undo: ExitStack
) -> None:
    watch_processes(wanted.append, undo, closed=closed, allowed=["localhost:9000", "::1"])

    subprocess.run(command, shell=isinstance(command, str), check=True)

    assert wanted == noted


def test_a_sitecustomize_of_the_user_runs_too(tmp_path: Path, wanted: list[str], undo: ExitStack) -> None:
    (tmp_path / "sitecustomize.py").write_text("import builtins; builtins.mine = 'mine'")
    watch_processes(wanted.append, undo, closed=True)

    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", "print(mine)"], env=environ, capture_output=True, text=True)

    assert done.stdout == "mine\n", done.stderr


def test_the_environment_is_as_before_afterwards(wanted: list[str]) -> None:
    before = dict(os.environ)
    with ExitStack() as stack:
        watch_processes(wanted.append, stack, closed=True)

        assert dict(os.environ) != before

    assert dict(os.environ) == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks no processes")
def test_a_forked_process_reports_to_the_test_that_forked_it(wanted: list[str], undo: ExitStack) -> None:
    watch_processes(wanted.append, undo, closed=False)
    process = multiprocessing.get_context("fork").Process(target=report_from_fork, args=("api.openai.com:443",))
    process.start()
    process.join()
    assert wanted == ["api.openai.com:443"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks no processes")
@pytest.mark.parametrize("mode", ["once", "none"])
def test_a_test_whose_forked_process_got_no_answer_says_what_to_do(project: pytest.Pytester, mode: str) -> None:
    write(
        project,
        """
import contextlib, multiprocessing

def answered():
    with contextlib.suppress(httpx.HTTPStatusError):
        post()

@pytest.mark.turntape
def test_forks():
    process = multiprocessing.get_context("fork").Process(target=answered)
    process.start()
    process.join()
    assert process.exitcode == 0
""",
    )
    done = project.runpytest_subprocess(f"--turntape-mode={mode}")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*the test reached the LLM API at * runs in another process; * turntape_server*"])
    assert not list(project.path.rglob("*.cassette.jsonl"))
