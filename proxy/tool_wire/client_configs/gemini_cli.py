"""Gemini CLI: a system settings file of our own, which wins over the user's and the project's.

It replaces a whole server, so the rest of its configuration is copied. 0.61.0 (2026-11-23) takes such a file only from
root, below folders that nobody else can write; for everybody else, a module of ours in its process starts the same
commands with the wrapper. Servers of extensions are not wrapped.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path

from . import hooked
from .client import Files, Found, Launch, from_entries, table, write_private
from .wrapper import Wrapper

VARIABLE = "GEMINI_CLI_SYSTEM_SETTINGS_PATH"
SERVERS = "mcpServers"
_SYSTEM = {
    "darwin": "/Library/Application Support/GeminiCli/settings.json",
    "linux": "/etc/gemini-cli/settings.json",
}


class GeminiCli:
    name = "Gemini CLI"
    programs = ("gemini", "@google/gemini-cli")

    def find(self, launch: Launch) -> Found:
        files = Files()
        home = launch.place("GEMINI_CLI_HOME", "") / ".gemini"
        entries: dict[str, object] = {}
        for path in (home / "settings.json", launch.cwd / ".gemini" / "settings.json", _system(launch)):
            entries |= table(files.json(path).get(SERVERS))
        return from_entries(entries, files)

    def wrap(self, launch: Launch, found: Found, wrapper: Wrapper, folder: Path) -> Launch:
        if not _is_trusted(folder):
            known = {server.name: server.words for server in found.servers}
            return replace(launch, environ={**launch.environ, **hooked.variables(launch.environ, wrapper, known=known)})
        settings = Files().json(_system(launch))
        servers = table(settings.get(SERVERS))
        for server in found.servers:
            program, *arguments = wrapper.wrapped(server.name, server.words)
            servers[server.name] = {**server.config, "command": program, "args": arguments}
        path = write_private(folder / "settings.json", json.dumps({**settings, SERVERS: servers}))
        return launch.with_variable(VARIABLE, str(path))


def _is_trusted(folder: Path) -> bool:
    """Whether it takes a system settings file from this folder."""
    states = [one.stat() for one in (folder, *folder.parents)]
    return all(state.st_uid == 0 and not state.st_mode & 0o022 for state in states)


def _system(launch: Launch) -> Path:
    return Path(launch.environ.get(VARIABLE) or _SYSTEM.get(sys.platform, _SYSTEM["linux"]))
