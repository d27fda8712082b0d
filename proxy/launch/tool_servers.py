"""The tool servers (MCP) of a command: found before a recording starts, and wrapped for this one process."""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..tool_wire.client_configs import hooked, shim
from ..tool_wire.client_configs.client import Client, Found, Launch, Server
from ..tool_wire.client_configs.table import recognised
from ..tool_wire.client_configs.wrapper import Wrapper
from .private_folder import private_folder


class ToolServers:
    """`with ToolServers(command, environ, cwd, folder) as tools:` holds a private folder in `folder` until its end.

    The user's files are read and never written. With `played`, a recording answers for all servers but those named in
    `live`; then a server is wrapped although its program does not exist.
    """

    def __init__(
        self,
        command: Sequence[str],
        environ: Mapping[str, str],
        cwd: Path,
        folder: Path,
        *,
        played: bool = False,
        live: Sequence[str] = (),
    ) -> None:
        self.command = list(command)
        self.wrapped: tuple[str, ...] = ()
        """The names of the servers that `apply` wrapped."""
        self._folder = folder
        self._private: Path | None = None
        self._played = played
        self._live = frozenset(live)
        self._environ = dict(environ)
        self._client: Client | None = None
        self._launch: Launch | None = None
        self._found = Found()
        if found := recognised(command, environ, cwd):
            self._client, self._launch = found
            self._found = self._client.find(self._launch)

    def __enter__(self) -> "ToolServers":
        return self

    def __exit__(self, *_: object) -> None:
        if self._private is not None:
            shutil.rmtree(self._private, ignore_errors=True)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts of tool servers that the client reaches by https."""
        return self._found.hosts

    def apply(self, wrapper: Wrapper, environ: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
        """The command and the environment with the tool servers wrapped; `environ` is what the child would get."""
        if self._client is None or self._launch is None:
            made = {**environ, **hooked.variables(environ, wrapper, missing=self._played)}
            if shim.programs(environ):
                # The command may be a script that starts one of them.
                self._private = private_folder(self._folder)
                made |= shim.variables(environ, wrapper, self._private, missing=self._played)
            return self.command, made
        found = replace(self._found, servers=tuple(one for one in self._found.servers if self._starts(one)))
        if not found.servers:
            return self.command, dict(environ)
        self._private = private_folder(self._folder)
        launch = replace(self._launch, environ=dict(environ))
        launch = self._client.wrap(launch, found, wrapper, self._private)
        self.wrapped = tuple(server.name for server in found.servers)
        return launch.command, dict(launch.environ)

    def lines(self) -> list[str]:
        """What was done, for stderr."""
        if self._client is None:
            return []
        said = [f"turntape: {reason}; its tool servers are not recorded" for reason in self._found.unread]
        played = [name for name in self.wrapped if self._played and name not in self._live]
        for does, names in (("plays", played), ("records", [name for name in self.wrapped if name not in played])):
            if names:
                what = (
                    f"the tool {'server' if len(names) == 1 else 'servers'} {', '.join(names)} of {self._client.name}"
                )
                said.append(f"turntape: {does} {what} for this run; --no-wrap turns this off")
        return said

    def _starts(self, server: Server) -> bool:
        """False for a program that does not exist: then the client must report it as it would without us."""
        program = server.words[0]
        if self._played or "$" in program:
            return True
        if os.sep in program and self._launch is not None:
            folder = server.config.get("cwd")
            program = str(self._launch.cwd / (folder if isinstance(folder, str) else "") / program)
        return shutil.which(program, path=self._environ.get("PATH")) is not None
