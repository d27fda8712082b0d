"""Claude Code. What it loads, and in which order, was tried with 2.1.330 (2026-11-22).

A server of `--mcp-config` replaces one of the same name from any file. So only the servers that are commands are given
there, at the end; everything else, plugins too, stays as it is.
"""

import json
from pathlib import Path
from typing import Any

from .client import (
    Files,
    Found,
    Launch,
    folders_up,
    from_entries,
    own_words,
    repository,
    strings,
    table,
    write_private,
)
from .wrapper import Wrapper

SERVERS = "mcpServers"
_COMMANDS = frozenset({"mcp", "config", "doctor", "update", "install", "plugin", "setup-token", "auth", "agents"})
"""Its commands that run no conversation."""
_ONLY_GIVEN = frozenset({"--strict-mcp-config", "--bare", "--safe-mode", "--restricted"})
"""With one of these it reads no server from its own files."""


class ClaudeCode:
    name = "Claude Code"
    programs = ("claude", "@anthropic-ai/claude-code")

    def find(self, launch: Launch) -> Found:
        files = Files(plain=True)
        entries: dict[str, object] = {}
        if launch.arguments and launch.arguments[0] in _COMMANDS:
            return Found()
        if not _ONLY_GIVEN & set(own_words(launch.arguments)):
            entries |= self._configured(launch, files)
        for value in given(launch.arguments):
            text = value if value.lstrip().startswith("{") else files.text(launch.cwd / value)
            entries |= table(files.parsed(text, "--mcp-config").get(SERVERS))
        return from_entries(entries, files)

    def wrap(self, launch: Launch, found: Found, wrapper: Wrapper, folder: Path) -> Launch:
        servers = {
            server.name: {**server.config, "command": words[0], "args": words[1:]}
            for server in found.servers
            for words in [wrapper.wrapped(server.name, server.words)]
        }
        path = write_private(folder / "mcp.json", json.dumps({SERVERS: servers}))
        before = own_words(launch.arguments)
        return launch.with_arguments([*before, f"--mcp-config={path}", *launch.arguments[len(before) :]])

    def _configured(self, launch: Launch, files: Files) -> dict[str, object]:
        """The servers of its files: the user's, the project's, and the user's for this project, which wins."""
        sources = launch.values("--setting-sources")
        allowed = set(sources[-1].split(",")) if sources else {"user", "project", "local"}
        config = launch.environ.get("CLAUDE_CONFIG_DIR")
        own = files.json((Path(config) if config else launch.home) / ".claude.json")
        projects = table(own.get("projects"))
        local: dict[str, Any] = {}
        for folder in (launch.cwd, repository(launch.cwd) or launch.cwd):
            local = table(projects.get(str(folder))) or local
        entries: dict[str, object] = {}
        if "user" in allowed:
            entries |= table(own.get(SERVERS))
        if "project" in allowed:
            shared: dict[str, object] = {}
            for folder in folders_up(launch.cwd, None):
                shared |= table(files.json(folder / ".mcp.json").get(SERVERS))
            approved = self._approved(launch, files, local, shared)
            entries |= {name: value for name, value in shared.items() if name in approved}
        if "local" in allowed:
            entries |= table(local.get(SERVERS))
        off = set(strings(local.get("disabledMcpServers")))
        return {name: value for name, value in entries.items() if name not in off}

    def _approved(self, launch: Launch, files: Files, local: dict[str, Any], shared: dict[str, object]) -> set[str]:
        """The names of the project's servers that it starts without a question: with `-p`, all that are not refused."""
        root = repository(launch.cwd) or launch.cwd
        settings = [local, files.json(launch.place("CLAUDE_CONFIG_DIR", ".claude") / "settings.json")]
        settings += [files.json(root / ".claude" / name) for name in ("settings.json", "settings.local.json")]
        words = set(own_words(launch.arguments))
        everything = bool({"-p", "--print"} & words) or any(one.get("enableAllProjectMcpServers") for one in settings)
        names = (
            set(shared) if everything else {n for one in settings for n in strings(one.get("enabledMcpjsonServers"))}
        )
        return names - {name for one in settings for name in strings(one.get("disabledMcpjsonServers"))}


def given(arguments: tuple[str, ...]) -> list[str]:
    """The values of `--mcp-config`, which takes any number of them."""
    found: list[str] = []
    taking = False
    for word in own_words(arguments):
        if word.startswith("-"):
            taking = word == "--mcp-config"
            if word.startswith("--mcp-config="):
                found.append(word.partition("=")[2])
        elif taking:
            found.append(word)
    return found
