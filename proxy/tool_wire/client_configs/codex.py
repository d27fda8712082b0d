"""Codex: `-c mcp_servers.NAME.command=…` replaces one key of its configuration, so `env` and the rest stay as they are.

https://developers.openai.com/codex/config-reference (2026-11); tried with 0.169.0.
"""

from pathlib import Path
from typing import Any

from . import toml_text
from .client import Files, Found, Launch, folders_up, from_entries, own_words, repository, table
from .nodes import NotParsed, quoted
from .wrapper import Wrapper

SERVERS = toml_text.CONTAINER
_OPTIONS = ("-c", "--config")


class Codex:
    name = "Codex"
    programs = ("codex", "@openai/codex")

    def find(self, launch: Launch) -> Found:
        files = Files()
        own = _read(launch.place("CODEX_HOME", ".codex") / "config.toml", files)
        entries = table(own.get(SERVERS))
        for folder in folders_up(launch.cwd, repository(launch.cwd)):
            if _trusted(own, folder):
                entries = merged(entries, table(_read(folder / ".codex" / "config.toml", files).get(SERVERS)))
        for value in launch.values(*_OPTIONS):
            entries = merged(entries, table(_override(value).get(SERVERS)))
        started = {name: value for name, value in entries.items() if table(value).get("enabled") is not False}
        return from_entries(started, files)

    def wrap(self, launch: Launch, found: Found, wrapper: Wrapper, folder: Path) -> Launch:
        """Its own `-c` for a server's command is taken out, because the last one wins."""
        names = {server.name for server in found.servers}
        words: list[str] = []
        for server in found.servers:
            program, *arguments = wrapper.wrapped(server.name, server.words)
            key = f"{SERVERS}.{server.name}"
            words += ["-c", f"{key}.command={quoted(program)}"]
            words += ["-c", f"{key}.args=[{', '.join(quoted(word) for word in arguments)}]"]
        before = own_words(launch.arguments)
        kept = [*_without(before, names), *launch.arguments[len(before) :]]
        return launch.with_arguments([*words, *kept])


def _without(arguments: list[str], names: set[str]) -> list[str]:
    """The arguments without overrides of the command of one of these servers."""
    kept: list[str] = []
    words = iter(arguments)
    for word in words:
        option, equals, value = word.partition("=")
        if option not in _OPTIONS:
            kept.append(word)
            continue
        value = value if equals else next(words, "")
        if not any(value.startswith((f"{SERVERS}.{name}.command=", f"{SERVERS}.{name}.args=")) for name in names):
            kept += [option, value]
    return kept


def _override(value: str) -> dict[str, Any]:
    """`mcp_servers.x.command="y"` as a table; a value that is not TOML is a string, as Codex reads it."""
    key, _, right = value.partition("=")
    for written in (right, quoted(right)):
        try:
            return toml_text.loads(f"{key.strip()} = {written}")
        except NotParsed:
            continue
    return {}


def _trusted(own: dict[str, Any], folder: Path) -> bool:
    """True for a project whose own configuration Codex reads."""
    return table(table(own.get("projects")).get(str(folder))).get("trust_level") == "trusted"


def _read(path: Path, files: Files) -> dict[str, Any]:
    text = files.text(path)
    try:
        return toml_text.loads(text) if text else {}
    except NotParsed as exc:
        files.unread.append(f"{path}: {exc}")
        return {}


def merged(low: dict[str, Any], high: dict[str, Any]) -> dict[str, Any]:
    """Two tables; what `high` says wins, key by key at any depth."""
    result = dict(low)
    for key, value in high.items():
        before: Any = result.get(key)
        both = isinstance(before, dict) and isinstance(value, dict)
        result[key] = merged(table(before), table(value)) if both else value
    return result
