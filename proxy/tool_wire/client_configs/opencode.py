"""opencode: `OPENCODE_CONFIG_CONTENT` is merged last, key by key, so `environment` and the rest stay as they are.

https://opencode.ai/docs/config (2026-11); tried with 1.18.33.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .client import Files, Found, Launch, folders_up, from_entries, repository, table
from .codex import merged
from .wrapper import Wrapper

VARIABLE = "OPENCODE_CONFIG_CONTENT"
SERVERS = "mcp"
_NAMES = ("config.json", "opencode.json", "opencode.jsonc")
_ENVIRONMENT = re.compile(r"\{env:([^}]+)\}")


class OpenCode:
    name = "opencode"
    programs = ("opencode", "opencode-ai")

    def find(self, launch: Launch) -> Found:
        files = Files()
        config: dict[str, Any] = {}
        for path in _places(launch):
            config = merged(config, _expanded(files.text(path), launch.environ, files, str(path)))
        config = merged(config, _expanded(launch.environ.get(VARIABLE), launch.environ, files, VARIABLE))
        entries = {
            name: value
            for name, value in table(config.get(SERVERS)).items()
            if table(value).get("enabled") is not False
        }
        return from_entries(entries, files)

    def wrap(self, launch: Launch, found: Found, wrapper: Wrapper, folder: Path) -> Launch:
        config = Files().parsed(launch.environ.get(VARIABLE), VARIABLE)
        servers = {
            server.name: {"type": "local", "command": wrapper.wrapped(server.name, server.words)}
            for server in found.servers
        }
        return launch.with_variable(VARIABLE, json.dumps(merged(config, {SERVERS: servers})))


def _places(launch: Launch) -> list[Path]:
    """Its configuration files, the weakest first."""
    own = launch.place("XDG_CONFIG_HOME", ".config") / "opencode"
    paths = [own / name for name in _NAMES]
    if given := launch.environ.get("OPENCODE_CONFIG"):
        paths.append(launch.cwd / given)
    folders = folders_up(launch.cwd, repository(launch.cwd) or launch.cwd)
    paths += [folder / name for folder in folders for name in _NAMES[1:]]
    paths += [folder / ".opencode" / name for folder in folders for name in _NAMES[1:]]
    return paths


def _expanded(text: str | None, environ: Mapping[str, str], files: Files, name: str) -> dict[str, Any]:
    """Its configuration with `{env:NAME}` filled in, which it does in the text."""
    text = text and _ENVIRONMENT.sub(lambda match: environ.get(match[1], ""), text)
    return files.parsed(text, name)
