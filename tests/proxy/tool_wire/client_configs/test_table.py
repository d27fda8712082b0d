"""Recognising a client by its command."""

from pathlib import Path

import pytest

from turntape.proxy.tool_wire.client_configs.table import recognised


@pytest.mark.parametrize(
    ("command", "client", "arguments"),
    [
        (["claude", "-p", "x"], "Claude Code", ("-p", "x")),
        (["/opt/bin/claude.exe"], "Claude Code", ()),
        (["npx", "-y", "@anthropic-ai/claude-code@latest", "-p"], "Claude Code", ("-p",)),
        (["env", "A=1", "nohup", "codex", "exec"], "Codex", ("exec",)),
        (["node", "/x/node_modules/@google/gemini-cli/bundle/gemini.js", "-p"], "Gemini CLI", ("-p",)),
        (["opencode", "run"], "opencode", ("run",)),
        (["bunx", "opencode-ai"], "opencode", ()),
        (["copilot"], "Copilot CLI", ()),
    ],
)
def test_a_client_is_recognised(command: list[str], client: str, arguments: tuple[str, ...]) -> None:
    found = recognised(command, {}, Path("/"))

    assert found is not None
    assert (found[0].name, found[1].arguments) == (client, arguments)
    assert found[1].command == command


@pytest.mark.parametrize(
    "command",
    [["python", "claude"], ["claude-trace"], ["node", "agent.js"], ["npx"], ["echo", "codex"], ["env", "A=1"]],
)
def test_other_commands_are_not(command: list[str]) -> None:
    assert recognised(command, {}, Path("/")) is None


def test_variables_in_front_of_the_command_count() -> None:
    found = recognised(["env", "-u", "CODEX_HOME=/y", "codex"], {"CODEX_HOME": "/x", "A": "1"}, Path("/"))

    assert found is not None
    assert found[1].environ == {"CODEX_HOME": "/y", "A": "1"}
