"""Copilot CLI: which servers it would start, and how one process gets them wrapped."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from turntape.proxy.tool_wire.client_configs.client import Launch
from turntape.proxy.tool_wire.client_configs.copilot_cli import OPTION, CopilotCli
from turntape.proxy.tool_wire.client_configs.wrapper import Wrapper

OURS = Wrapper(("ours", "mcp"))


@pytest.fixture
def launch(tmp_path: Path) -> Callable[..., Launch]:
    (tmp_path / ".copilot").mkdir()
    servers = {"a": {"command": "x", "args": ["1"], "tools": ["*"]}, "b": {"type": "http", "url": "https://b.example"}}
    (tmp_path / ".copilot" / "mcp-config.json").write_text(json.dumps({"mcpServers": servers}))

    def made(*arguments: str) -> Launch:
        return Launch(("copilot",), arguments, {"HOME": str(tmp_path)}, tmp_path)

    return made


def words(launch: Launch) -> dict[str, tuple[str, ...]]:
    return {server.name: server.words for server in CopilotCli().find(launch).servers}


def test_its_file_and_its_command_line_count(launch: Callable[..., Launch], tmp_path: Path) -> None:
    (tmp_path / "more.json").write_text('{"mcpServers": {"a": {"command": "y"}}}')

    assert words(launch()) == {"a": ("x", "1")}
    assert CopilotCli().find(launch()).hosts == ("b.example",)
    assert words(launch(OPTION, "@more.json")) == {"a": ("y",)}
    assert words(launch(OPTION, '{"mcpServers": {"c": {"command": "z"}}}')) == {"a": ("x", "1"), "c": ("z",)}
    assert words(launch("--disable-mcp-server", "a")) == {}


def test_wrapped_servers_replace_those_of_the_same_name(launch: Callable[..., Launch], tmp_path: Path) -> None:
    before = launch("-p", "x")

    after = CopilotCli().wrap(before, CopilotCli().find(before), OURS, tmp_path)

    assert after.command == ["copilot", "-p", "x", OPTION, f"@{tmp_path / 'mcp-config.json'}"]
    assert json.loads((tmp_path / "mcp-config.json").read_text()) == {
        "mcpServers": {"a": {"command": "ours", "args": ["mcp", "--name", "a", "--", "x", "1"], "tools": ["*"]}}
    }
