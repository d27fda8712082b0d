"""Gemini CLI: a system settings file of our own, which wins over the user's and the project's.

It replaces a whole server, so the rest of its configuration is copied. The file must not lie below a folder that others
can write, such as /tmp, or it is skipped. Tried with 0.61.0 (2026-11-22). Servers of extensions are not wrapped.
"""

import json
import sys
from pathlib import Path

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
        settings = Files().json(_system(launch))
        servers = table(settings.get(SERVERS))
        for server in found.servers:
            program, *arguments = wrapper.wrapped(server.name, server.words)
            servers[server.name] = {**server.config, "command": program, "args": arguments}
        path = write_private(folder / "settings.json", json.dumps({**settings, SERVERS: servers}))
        return launch.with_variable(VARIABLE, str(path))


def _system(launch: Launch) -> Path:
    return Path(launch.environ.get(VARIABLE) or _SYSTEM.get(sys.platform, _SYSTEM["linux"]))
