"""A known client that a script starts has its tool servers wrapped, with the arguments and the folder of that start."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from turntape.proxy.tool_wire.client_configs import shim
from turntape.proxy.tool_wire.client_configs.wrapper import Wrapper

pytestmark = pytest.mark.skipif(os.name != "posix", reason="shell scripts")
OURS = Wrapper(("ours", "mcp"), ("--link", "unix:/x"))
SHOW = f"#!{sys.executable}\nimport json, os, sys\nprint(json.dumps([sys.argv[1:], dict(os.environ)]))\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with the clients Claude Code and Gemini CLI, and a server for each."""
    programs = tmp_path / "usr"
    programs.mkdir()
    for name in ("claude", "gemini"):
        (programs / name).write_text(SHOW)
        (programs / name).chmod(0o755)
    servers = {"mcpServers": {"here": {"command": sys.executable}, "gone": {"command": "/no/such/program"}}}
    (tmp_path / ".claude.json").write_text(json.dumps(servers))
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / "settings.json").write_text(json.dumps(servers))
    return tmp_path


def environ_of(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": f"{home / 'usr'}:/usr/bin:/bin"}


def script(home: Path, line: str, *, missing: bool = False) -> tuple[list[str], dict[str, str]]:
    """What the client gets that a script starts."""
    folder = home / "private"
    folder.mkdir(exist_ok=True)
    environ = environ_of(home)
    environ |= shim.variables(environ, OURS, folder, missing=missing)
    done = subprocess.run(["sh", "-c", line], env=environ, cwd=home, capture_output=True, text=True, check=True)
    arguments, got = json.loads(done.stdout)
    return arguments, got


def test_only_the_clients_on_path_get_a_program(home: Path) -> None:
    assert shim.programs(environ_of(home)) == ["claude", "gemini"]
    assert shim.programs({"PATH": "/usr/bin:/bin"}) == []


def test_a_client_in_a_script_gets_its_servers_wrapped(home: Path) -> None:
    arguments, environ = script(home, "cd / && cd - >/dev/null && claude -p 'a b'")

    assert arguments[:2] == ["-p", "a b"]
    config = Path(next(word for word in arguments if word.startswith("--mcp-config=")).partition("=")[2])
    ((name, server),) = json.loads(config.read_text())["mcpServers"].items()
    assert (name, server["command"]) == ("here", "ours")
    assert server["args"][:5] == ["mcp", "--name", "here", "--link", "unix:/x"]
    assert environ["PATH"] == environ_of(home)["PATH"]


def test_a_client_that_is_configured_by_variables_works_too(home: Path) -> None:
    arguments, environ = script(home, "gemini -p x", missing=True)

    assert arguments == ["-p", "x"]
    known = json.loads(environ["TURNTAPE_TOOL_WIRE"])["known"]
    assert [one["front"][:4] for one in known] == [["ours", "mcp", "--name", name] for name in ("here", "gone")]


def test_a_client_without_servers_is_started_as_it_is(home: Path) -> None:
    (home / ".claude.json").write_text("{}")

    arguments, _ = script(home, "claude --version")

    assert arguments == ["--version"]


def test_a_fault_of_ours_does_not_stop_the_client(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = shim.launch(home / "nowhere", "claude", ["-p"], environ_of(home), home)

    assert made.command == [str(home / "usr" / "claude"), "-p"]
    assert "the tool servers of claude are not recorded" in capsys.readouterr().err


def test_a_client_that_has_gone_is_not_found(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "usr" / "claude").unlink()

    with pytest.raises(LookupError, match="claude: not found"):
        shim.launch(home, "claude", [], environ_of(home), home)
