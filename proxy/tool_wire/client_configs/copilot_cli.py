"""Copilot CLI: `--additional-mcp-config` replaces a server of the same name for one session."""

import json
from pathlib import Path

from .client import Files, Found, Launch, from_entries, own_words, table, write_private
from .wrapper import Wrapper

SERVERS = "mcpServers"
OPTION = "--additional-mcp-config"


class CopilotCli:
    name = "Copilot CLI"
    programs = ("copilot", "@github/copilot")

    def find(self, launch: Launch) -> Found:
        files = Files()
        folder = launch.place("COPILOT_HOME", ".copilot")
        entries = table(files.json(folder / "mcp-config.json").get(SERVERS))
        for value in launch.values(OPTION):
            text = files.text(launch.cwd / value[1:]) if value.startswith("@") else value
            entries |= table(files.parsed(text, OPTION).get(SERVERS))
        off = set(launch.values("--disable-mcp-server"))
        return from_entries({name: value for name, value in entries.items() if name not in off}, files)

    def wrap(self, launch: Launch, found: Found, wrapper: Wrapper, folder: Path) -> Launch:
        servers = {
            server.name: {**server.config, "command": words[0], "args": words[1:]}
            for server in found.servers
            for words in [wrapper.wrapped(server.name, server.words)]
        }
        path = write_private(folder / "mcp-config.json", json.dumps({SERVERS: servers}))
        before = own_words(launch.arguments)
        return launch.with_arguments([*before, OPTION, f"@{path}", *launch.arguments[len(before) :]])
