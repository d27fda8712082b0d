"""`turntape doctor` end to end: a command is run, and its traffic is reported."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from turntape.cassettes.errors import TurntapeError
from turntape.proxy.cli import main
from turntape.proxy.doctor import diagnose
from turntape.proxy.scripted import ScriptedServer

type Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def doctor(tmp_path: Path) -> Run:
    def run(*argv: str, **more: str) -> subprocess.CompletedProcess[str]:
        environ = {"PATH": os.environ["PATH"], "TURNTAPE_HOME": str(tmp_path / "home")}
        return subprocess.run(
            [sys.executable, "-m", "turntape.proxy.cli", "doctor", *argv],
            cwd=tmp_path,
            env=environ | more,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


def checks(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    return {check["id"]: check for check in json.loads(done.stdout)["checks"]}


ASK = (
    "import httpx, os; httpx.post(os.environ['OPENAI_BASE_URL'] + '/chat/completions', "
    "json={'model': 'gpt-5', 'messages': [{'role': 'user', 'content': 'go'}]}); print('done')"
)


def test_a_command_that_is_recorded_is_well(doctor: Run, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        done = doctor("--upstream", f"*={server.url}", "--", sys.executable, "-c", ASK)

    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("done\n")
    assert done.stdout.endswith("All is well: `turntape run` records this command.\n")
    assert not list(tmp_path.glob("*.jsonl"))


def test_json_is_alone_on_stdout(doctor: Run) -> None:
    with ScriptedServer() as server:
        done = doctor("--json", "--upstream", f"*={server.url}", "--", sys.executable, "-c", ASK + "; exit(3)")

    said = json.loads(done.stdout)
    assert (said["ok"], said["recorded"], said["exit_code"]) == (True, 1, 3)
    assert "done\n" in done.stderr
    assert checks(done)["trust"]["status"] == "ok"
    assert checks(done)["command"]["what"] == "The command ended with exit code 3."


def test_a_client_with_its_own_ca_list_differs_from_a_runtime_that_distrusts_us(doctor: Run) -> None:
    code = (
        "import httpx, ssl, certifi\n"
        "own = ssl.create_default_context(cafile=certifi.where())\n"
        "try: httpx.get('https://api.openai.com/v1/models', verify=own)\n"
        "except Exception: pass"
    )

    done = doctor("--json", "--upstream", "*=http://127.0.0.1:9", "--", sys.executable, "-c", code)

    assert done.returncode == 1
    assert checks(done)["trust"]["status"] == "ok"
    assert "pins certificates, or has its own CA list" in checks(done)["pinned"]["what"]


def test_a_command_without_llm_traffic_is_a_problem_with_advice(doctor: Run) -> None:
    done = doctor("--", sys.executable, "-c", "pass")

    assert done.returncode == 1
    assert "PROBLEM  The proxy received nothing at all." in done.stdout
    assert "trust_env" in done.stdout


def test_a_runtime_below_a_shell_script_is_found_and_asked(doctor: Run, tmp_path: Path) -> None:
    (tmp_path / "agent").write_text(f"#!/bin/sh\n{sys.executable} -c 'import time; time.sleep(4)'\n")
    (tmp_path / "agent").chmod(0o755)

    done = doctor("--json", "--", "./agent")

    assert "shell" in checks(done)["runtime"]["what"]
    assert "python" in checks(done)["trust"]["what"]


def test_a_command_that_drops_the_environment_is_reported_once(doctor: Run) -> None:
    done = doctor("--json", "--", "env", "-i", sys.executable, "-c", "pass")

    assert "drops the environment" in checks(done)["runtime"]["what"]
    assert "trust" not in checks(done)


def test_a_proxy_that_is_not_supported_is_a_problem_and_not_a_failure(doctor: Run) -> None:
    done = doctor("--json", "--", sys.executable, "-c", "pass", HTTPS_PROXY="socks5://proxy:1080")

    assert done.returncode == 1
    assert checks(done)["proxy-socks"]["status"] == checks(done)["start"]["status"] == "problem"


def test_an_unknown_command_is_127(doctor: Run) -> None:
    done = doctor("--", "no-such-command")

    assert done.returncode == 127
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [[], ["--", sys.executable]])
def test_ctrl_c_ends_the_checks(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Signals are blocked only while a command runs that they are passed on to."""
    blocked: list[set[signal.Signals]] = []

    def mask() -> set[signal.Signals]:
        return {one for one in signal.pthread_sigmask(signal.SIG_BLOCK, ()) if one in (signal.SIGINT, signal.SIGTERM)}

    async def ran(*_: object) -> object:
        blocked.append(mask())
        raise TurntapeError("not now")

    async def checked(*_: object) -> object:
        blocked.append(mask())
        raise KeyboardInterrupt

    monkeypatch.setattr(diagnose, "_run", ran)
    monkeypatch.setattr(diagnose.trust, "checks", checked)

    code = main(["doctor", *command])

    assert blocked == ([{signal.SIGINT, signal.SIGTERM}] if command else [set()])
    assert (code, mask()) == (1 if command else 130, set())
