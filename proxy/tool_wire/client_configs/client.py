"""What is known of a client that starts tool servers from a configuration, and how it is put to use for one process."""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Protocol, cast
from urllib.parse import urlsplit

from turntape.cassettes.errors import CassetteError
from turntape.cassettes.frozen import frozen
from turntape.cassettes.tape.named_file import text_of

from .json_text import loads
from .nodes import NotParsed
from .wrapper import Wrapper


@frozen
class Launch:
    """A client as it is started: the words up to its program, its arguments, its environment and working directory."""

    program: tuple[str, ...]
    arguments: tuple[str, ...]
    environ: Mapping[str, str]
    cwd: Path

    @property
    def home(self) -> Path:
        return Path(self.environ.get("HOME") or Path.home())

    @property
    def command(self) -> list[str]:
        return [*self.program, *self.arguments]

    def place(self, variable: str, below: str) -> Path:
        """The folder that a variable names; without it, the folder `below` the home."""
        return Path(self.environ[variable]) if self.environ.get(variable) else self.home / below

    def with_arguments(self, arguments: Iterable[str]) -> "Launch":
        return replace(self, arguments=tuple(arguments))

    def with_variable(self, name: str, value: str) -> "Launch":
        return replace(self, environ={**self.environ, name: value})

    def values(self, *options: str) -> list[str]:
        """The values of an option, `--x VALUE` or `--x=VALUE`, in their order; nothing after `--` counts."""
        found: list[str] = []
        words = iter(own_words(self.arguments))
        for word in words:
            name, equals, value = word.partition("=")
            if name in options:
                found.append(value if equals else next(words, ""))
        return found


@frozen
class Server:
    """A tool server that a client would start: its command with arguments, and its whole configuration."""

    name: str
    words: tuple[str, ...]
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])


@frozen
class Found:
    """The tool servers that a client would use."""

    servers: tuple[Server, ...] = ()
    hosts: tuple[str, ...] = ()
    """The hosts of the servers that it reaches by https."""
    unread: tuple[str, ...] = ()
    """Configuration files that could not be read, with the reason."""


class Client(Protocol):
    """A client that starts tool servers from a configuration."""

    @property
    def name(self) -> str: ...

    @property
    def programs(self) -> tuple[str, ...]:
        """The names of its program, and of its npm package."""
        ...

    def find(self, launch: Launch) -> Found:
        """The tool servers that this process would use. Never raises for what a file may hold."""
        ...

    def wrap(self, launch: Launch, found: Found, wrapper: Wrapper, folder: Path) -> Launch:
        """The launch with `found.servers` wrapped. `folder` is empty, private and deleted after the run."""
        ...


class Files:
    """Reads configuration files, and keeps what went wrong.

    With `plain`, comments and trailing commas are errors, as they are for a client that takes no such file.
    """

    def __init__(self, *, plain: bool = False) -> None:
        self.unread: list[str] = []
        self._plain = plain

    def json(self, path: Path) -> dict[str, Any]:
        """The object in a file; empty when there is none."""
        return self.parsed(self.text(path), str(path))

    def parsed(self, text: str | None, name: str) -> dict[str, Any]:
        """The object in a text; `name` says whose text it is."""
        if text is None or not text.strip():
            return {}
        try:
            found = loads(text)
            if self._plain:
                json.loads(text.removeprefix("\ufeff"), parse_int=float)  # which has no limit of digits
            return table(found)
        except NotParsed as exc:
            self.unread.append(f"{name}: {exc}")
        except json.JSONDecodeError as exc:
            self.unread.append(f"{name}: line {exc.lineno}: the client takes neither comments nor commas at the end")
        return {}

    def text(self, path: Path) -> str | None:
        """What is in a file; None when there is none."""
        try:
            return text_of(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, UnicodeDecodeError, CassetteError) as exc:
            self.unread.append(f"{path}: {exc}")
            return None


def own_words(arguments: Iterable[str]) -> list[str]:
    """The arguments before `--`."""
    words = list(arguments)
    return words[: words.index("--")] if "--" in words else words


def table(value: Any) -> dict[str, Any]:
    """A JSON object; anything else as an empty one."""
    return dict(cast("dict[str, Any]", value)) if isinstance(value, dict) else {}


def strings(value: Any) -> list[str]:
    """The strings of a list; anything else as an empty one."""
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [item for item in items if isinstance(item, str)]


def from_entries(entries: Mapping[str, object], files: Files) -> Found:
    """The usual shape: `{name: {"command": …, "args": […]}}` or `{name: {"url": …}}`."""
    servers: list[Server] = []
    hosts: list[str] = []
    for name, value in entries.items():
        config = table(value)
        command: object = config.get("command")
        args: Any = config.get("args") or []
        if strings(args) != args:
            continue  # the client refuses it
        if isinstance(command, str) and command:
            servers.append(Server(name, (command, *strings(args)), config))
        elif words := strings(command):
            servers.append(Server(name, tuple(words), config))
        else:
            hosts += host_of(config.get("url"), config.get("httpUrl"), config.get("serverUrl"))
    return Found(tuple(servers), tuple(dict.fromkeys(hosts)), tuple(files.unread))


def host_of(*urls: object) -> list[str]:
    """The hosts of https URLs, with the port where it is not 443."""
    found: list[str] = []
    for url in urls:
        if not isinstance(url, str) or not url.startswith("https://"):
            continue
        try:
            parts = urlsplit(url)
            if parts.hostname and "$" not in parts.hostname:
                found.append(parts.hostname)
        except ValueError:
            continue
    return found


def folders_up(cwd: Path, until: Path | None) -> list[Path]:
    """`cwd` and the folders above it, up to `until` or the root; the highest comes first."""
    folders = [cwd, *cwd.parents]
    if until in folders:
        folders = folders[: folders.index(until) + 1]
    return folders[::-1]


def repository(cwd: Path) -> Path | None:
    """The git repository that `cwd` is in."""
    return next((folder for folder in (cwd, *cwd.parents) if (folder / ".git").exists()), None)


def write_private(path: Path, text: str) -> Path:
    """Write a file that nobody else can read: a configuration may hold secrets."""
    with os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    return path
