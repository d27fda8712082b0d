"""Claude Code: which servers it would load, and how one process gets them wrapped."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from turntape.proxy.tool_wire.client_configs.claude_code import ClaudeCode, given
from turntape.proxy.tool_wire.client_configs.client import Launch
from turntape.proxy.tool_wire.client_configs.wrapper import Wrapper

OURS = Wrapper(("ours", "mcp"))


def servers(*names: str) -> dict[str, Any]:
    return {"mcpServers": {name: {"command": f"run-{name}", "args": ["1"], "env": {"K": "v"}} for name in names}}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with servers in all of its files; the project's working directory is below its repository."""
    project = tmp_path / "p"
    (project / "sub").mkdir(parents=True)
    (project / ".git").mkdir()
    local = {**servers("l", "both"), "disabledMcpServers": ["off"]}
    user = {**servers("u", "both", "off"), "projects": {str(project): local}}
    (tmp_path / ".claude.json").write_text(json.dumps(user))
    (project / ".mcp.json").write_text(json.dumps(servers("p", "both")))
    return tmp_path


@pytest.fixture
def launch(home: Path) -> Callable[..., Launch]:
    def made(*arguments: str, **environ: str) -> Launch:
        return Launch(("claude",), arguments, {"HOME": str(home), **environ}, home / "p" / "sub")

    return made


def names(launch: Launch) -> list[str]:
    return sorted(server.name for server in ClaudeCode().find(launch).servers)


def test_all_its_files_count_and_the_users_entry_for_the_project_wins(
    launch: Callable[..., Launch], home: Path
) -> None:
    local = json.loads((home / ".claude.json").read_text())
    local["projects"][str(home / "p")]["mcpServers"]["both"]["command"] = "mine"
    (home / ".claude.json").write_text(json.dumps(local))

    found = ClaudeCode().find(launch("-p", "x"))

    assert {server.name: server.words for server in found.servers} == {
        "u": ("run-u", "1"),
        "l": ("run-l", "1"),
        "p": ("run-p", "1"),
        "both": ("mine", "1"),
    }


def test_the_projects_servers_need_a_consent_without_print(launch: Callable[..., Launch], home: Path) -> None:
    settings = home / "p" / ".claude" / "settings.local.json"
    settings.parent.mkdir()

    assert names(launch()) == ["both", "l", "u"]
    settings.write_text('{"enabledMcpjsonServers": ["p"]}')
    assert names(launch()) == ["both", "l", "p", "u"]
    settings.write_text('{"enableAllProjectMcpServers": true}')
    assert names(launch()) == ["both", "l", "p", "u"]
    settings.write_text('{"disabledMcpjsonServers": ["p"]}')
    assert names(launch("-p")) == ["both", "l", "u"]
    settings.unlink()
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text('{"enabledMcpjsonServers": ["p"]}')
    assert names(launch()) == ["both", "l", "p", "u"]


@pytest.mark.parametrize("option", ["--strict-mcp-config", "--bare", "--safe-mode", "--restricted"])
def test_with_an_option_only_what_the_command_line_names_counts(launch: Callable[..., Launch], option: str) -> None:
    assert names(launch("--mcp-config", json.dumps(servers("c")), option)) == ["c"]


def test_setting_sources_are_respected(launch: Callable[..., Launch]) -> None:
    assert names(launch("-p", "--setting-sources", "user")) == ["both", "u"]
    assert names(launch("-p", "--setting-sources=project,local")) == ["both", "l", "p"]


def test_another_folder_for_its_files(launch: Callable[..., Launch], tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / ".claude.json").write_text(json.dumps(servers("o")))

    assert names(launch(CLAUDE_CONFIG_DIR=str(tmp_path / "other"))) == ["o"]


def test_the_command_line_takes_files_and_json(launch: Callable[..., Launch], home: Path) -> None:
    (home / "p" / "sub" / "a.json").write_text(json.dumps(servers("f")))

    found = names(launch("--mcp-config", "a.json", json.dumps(servers("c")), "--strict-mcp-config", "prompt"))

    assert found == ["c", "f"]


def test_values_of_an_option_that_takes_many() -> None:
    arguments = ("prompt", "--mcp-config", "a", "b", "-p", "x", "--mcp-config=c", "d", "--", "--mcp-config", "e")

    assert given(arguments) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "command", ["mcp", "config", "doctor", "update", "install", "plugin", "setup-token", "auth", "agents"]
)
def test_commands_without_a_conversation_are_left_alone(launch: Callable[..., Launch], command: str) -> None:
    assert names(launch(command, "list")) == []


def test_hosts_are_those_of_servers_over_https(launch: Callable[..., Launch]) -> None:
    config = {
        "mcpServers": {
            "a": {"type": "http", "url": "https://a.example:8443/mcp"},
            "b": {"type": "sse", "url": "http://127.0.0.1:1/sse"},
            "c": {"url": "https://${HOST}/x"},
        }
    }

    found = ClaudeCode().find(launch("--strict-mcp-config", "--mcp-config", json.dumps(config)))

    assert (found.servers, found.hosts) == ((), ("a.example",))


def test_a_file_that_cannot_be_read_is_said(launch: Callable[..., Launch], home: Path) -> None:
    (home / ".claude.json").write_text("{")

    found = ClaudeCode().find(launch("-p"))

    assert [server.name for server in found.servers] == ["p", "both"]
    assert len(found.unread) == 1
    assert found.unread[0].startswith(f"{home / '.claude.json'}: line 1")


def test_wrapped_servers_replace_those_of_the_same_name(launch: Callable[..., Launch], tmp_path: Path) -> None:
    before = launch("-p", "x", "--", "rest")
    client = ClaudeCode()
    found = client.find(before)

    after = client.wrap(before, found, OURS, tmp_path)

    path = tmp_path / "mcp.json"
    assert after.command == ["claude", "-p", "x", f"--mcp-config={path}", "--", "rest"]
    assert after.environ == before.environ
    assert path.stat().st_mode & 0o777 == 0o600
    wrapped = json.loads(path.read_text())["mcpServers"]
    assert set(wrapped) == {"u", "l", "p", "both"}
    assert wrapped["u"] == {"command": "ours", "args": ["mcp", "--name", "u", "--", "run-u", "1"], "env": {"K": "v"}}
    again = {server.name: server.words for server in client.find(after).servers}
    assert again["u"] == ("ours", "mcp", "--name", "u", "--", "run-u", "1")


@pytest.mark.parametrize("text", ["// mine\n{}", '{"mcpServers": {"c": {"command": "x",}}}'])
def test_a_file_that_it_refuses_has_no_servers(text: str, launch: Callable[..., Launch], home: Path) -> None:
    (home / "p" / ".mcp.json").write_text(text.replace("{}", json.dumps(servers("c"))))

    found = ClaudeCode().find(launch("-p", "x"))

    assert sorted(server.name for server in found.servers) == ["both", "l", "u"]
    assert found.unread == (
        f"{home / 'p' / '.mcp.json'}: line 1: the client takes neither comments nor commas at the end",
    )
