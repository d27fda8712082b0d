"""opencode: which servers it would start, and how one process gets them wrapped."""

import json
from pathlib import Path

import pytest

from turntape.proxy.tool_wire.client_configs.client import Launch
from turntape.proxy.tool_wire.client_configs.opencode import VARIABLE, OpenCode
from turntape.proxy.tool_wire.client_configs.wrapper import Wrapper

OURS = Wrapper(("ours", "mcp"))


@pytest.fixture
def launch(tmp_path: Path) -> Launch:
    (tmp_path / ".config" / "opencode").mkdir(parents=True)
    (tmp_path / "p" / ".git").mkdir(parents=True)
    (tmp_path / "p" / "sub").mkdir()
    user = {
        "mcp": {"a": {"type": "local", "command": ["x", "{env:WHERE}"]}, "off": {"command": ["x"], "enabled": False}}
    }
    (tmp_path / ".config" / "opencode" / "opencode.json").write_text(json.dumps(user))
    (tmp_path / "p" / "opencode.jsonc").write_text(
        '{"mcp": {/* */ "p": {"type": "local", "command": ["y"], "environment": {"K": "v"}},'
        '"r": {"type": "remote", "url": "https://a.example"}}}'
    )
    (tmp_path / "opencode.json").write_text('{"mcp": {"above": {"command": ["not"]}}}')
    return Launch(("opencode",), ("run",), {"HOME": str(tmp_path), "WHERE": "here"}, tmp_path / "p" / "sub")


def words(launch: Launch) -> dict[str, tuple[str, ...]]:
    return {server.name: server.words for server in OpenCode().find(launch).servers}


def test_the_users_and_the_projects_files_count(launch: Launch) -> None:
    assert words(launch) == {"a": ("x", "here"), "p": ("y",)}
    assert OpenCode().find(launch).hosts == ("a.example",)


def test_what_the_environment_says_wins(launch: Launch, tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text('{"mcp": {"a": {"command": ["own"]}}}')

    assert words(launch.with_variable("OPENCODE_CONFIG", str(tmp_path / "own.json")))["a"] == ("own",)
    assert words(launch.with_variable(VARIABLE, '{"mcp": {"p": {"command": ["z"]}}}'))["p"] == ("z",)


def test_only_the_command_is_replaced(launch: Launch, tmp_path: Path) -> None:
    launch = launch.with_variable(VARIABLE, '{"model": "m"}')

    after = OpenCode().wrap(launch, OpenCode().find(launch), OURS, tmp_path)

    assert after.command == launch.command
    assert json.loads(after.environ[VARIABLE]) == {
        "model": "m",
        "mcp": {
            "a": {"type": "local", "command": ["ours", "mcp", "--name", "a", "--", "x", "here"]},
            "p": {"type": "local", "command": ["ours", "mcp", "--name", "p", "--", "y"]},
        },
    }
