"""The tool servers of a command, wrapped for one process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from turntape.proxy.launch.tool_servers import ToolServers
from turntape.proxy.tool_wire.client_configs.hooked import VARIABLE
from turntape.proxy.tool_wire.client_configs.wrapper import Wrapper

OURS = Wrapper(("ours", "mcp"))


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    servers = {
        "here": {"command": sys.executable},
        "gone": {"command": "/no/such/program"},
        "far": {"url": "https://far.example/mcp"},
    }
    (tmp_path / ".claude.json").write_text(json.dumps({"mcpServers": servers}))
    return {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}


def tools(
    environ: dict[str, str], tmp_path: Path, *command: str, played: bool = False, live: tuple[str, ...] = ()
) -> ToolServers:
    return ToolServers(command, environ, tmp_path, tmp_path / "private", played=played, live=live)


def test_the_servers_of_a_known_client_are_wrapped_in_a_private_file(environ: dict[str, str], tmp_path: Path) -> None:
    before = (tmp_path / ".claude.json").read_bytes()
    with tools(environ, tmp_path, "claude", "-p", "x") as found:
        command, variables = found.apply(OURS, {**environ, "MORE": "1"})

        assert found.hosts == ("far.example",)
        assert found.wrapped == ("here",)
        assert variables == {**environ, "MORE": "1"}
        path = Path(command[-1].partition("=")[2])
        assert list(json.loads(path.read_text())["mcpServers"]) == ["here"]
        assert path.parent.stat().st_mode & 0o777 == 0o700
        assert found.lines() == [
            "turntape: records the tool server here of Claude Code for this run; --no-wrap turns this off"
        ]
    assert list((tmp_path / "private").iterdir()) == []
    assert (tmp_path / ".claude.json").read_bytes() == before


def test_a_server_without_a_program_is_wrapped_when_it_is_played(environ: dict[str, str], tmp_path: Path) -> None:
    with tools(environ, tmp_path, "claude", played=True) as found:
        found.apply(OURS, environ)

        assert found.wrapped == ("here", "gone")
        assert [line.partition(" for ")[0] for line in found.lines()] == [
            "turntape: plays the tool servers here, gone of Claude Code"
        ]


def test_a_live_server_is_recorded_while_the_others_are_played(environ: dict[str, str], tmp_path: Path) -> None:
    with tools(environ, tmp_path, "claude", played=True, live=("here",)) as found:
        found.apply(OURS, environ)

        assert [line.partition(" for ")[0] for line in found.lines()] == [
            "turntape: plays the tool server gone of Claude Code",
            "turntape: records the tool server here of Claude Code",
        ]


@pytest.mark.parametrize(
    ("server", "wrapped"),
    [
        ({"command": "./tool", "cwd": "below"}, True),
        ({"command": "./tool"}, False),
        ({"command": "below/tool"}, True),
        ({"command": "tool"}, False),
        ({"command": "${HOME}/tool"}, True),
        ({"command": "below/tool", "args": ["--port", 8080]}, False),
    ],
)
def test_a_program_is_looked_for_where_the_client_starts_it(
    server: dict[str, object], wrapped: bool, environ: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "tool").touch(0o755)
    (tmp_path / ".claude.json").write_text(json.dumps({"mcpServers": {"a": server}}))

    with tools(environ, tmp_path, "claude", "-p") as found:
        found.apply(OURS, environ)

        assert found.wrapped == (("a",) if wrapped else ())


def test_what_a_killed_run_left_is_removed(environ: dict[str, str], tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    private = tmp_path / "private"
    for name in (f"run-{gone.pid}-x", f"run-{os.getpid()}-x", "run-other", "another"):
        (private / name).mkdir(parents=True)

    with tools(environ, tmp_path, "claude", "-p") as found:
        found.apply(OURS, environ)

    assert sorted(folder.name for folder in private.iterdir()) == ["another", f"run-{os.getpid()}-x", "run-other"]


def test_a_client_without_servers_is_started_as_it_is(environ: dict[str, str], tmp_path: Path) -> None:
    with tools(environ, tmp_path, "codex", "exec") as found:
        assert found.apply(OURS, environ) == (["codex", "exec"], environ)
        assert found.lines() == []
    assert not (tmp_path / "private").exists()


def test_a_file_that_cannot_be_read_is_said(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / ".claude.json").write_text("{")

    with tools(environ, tmp_path, "claude", "-p") as found:
        assert found.apply(OURS, environ) == (["claude", "-p"], environ)
        assert [line.rpartition("; ")[2] for line in found.lines()] == ["its tool servers are not recorded"]


def test_another_program_gets_the_hooks(environ: dict[str, str], tmp_path: Path) -> None:
    with tools(environ, tmp_path, "python", "agent.py") as found:
        command, variables = found.apply(OURS, environ)

        assert command == ["python", "agent.py"]
        assert json.loads(variables[VARIABLE])["wrapper"] == ["ours", "mcp", "--"]
        assert found.lines() == []
