"""Known clients that a script starts: programs of the same name, first on PATH, which add what wraps their servers.

`python -m turntape.proxy.tool_wire.client_configs.shim FOLDER PROGRAM ARGUMENTS…` runs in the place of the client's
program: it reads the client's configuration where and as the client is started, and becomes the client. Whatever goes
wrong here, the client is started as it is.
"""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from ...exit_codes import NOT_FOUND
from .client import Launch, Server
from .table import CLIENTS, recognised
from .wrapper import Wrapper

MODULE = "turntape.proxy.tool_wire.client_configs.shim"
_SETTINGS = "wrapper.json"


def programs(environ: Mapping[str, str]) -> list[str]:
    """The names of the known clients on PATH."""
    path = environ.get("PATH", os.defpath)
    names = [client.programs[0] for client in CLIENTS]
    return [name for name in names if shutil.which(name, path=path)] if os.name == "posix" else []


def variables(environ: Mapping[str, str], wrapper: Wrapper, folder: Path, *, missing: bool = False) -> dict[str, str]:
    """Make the programs in `folder`; the variables to add to `environ`."""
    (folder / _SETTINGS).write_text(json.dumps({"wrapper": asdict(wrapper), "missing": missing}))
    place = folder / "bin"
    place.mkdir()
    for name in programs(environ):
        words = [sys.executable, "-P", "-m", MODULE, str(folder), name]
        (place / name).write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        (place / name).chmod(0o755)
    return {"PATH": f"{place}{os.pathsep}{environ.get('PATH', os.defpath)}"}


def launch(folder: Path, program: str, arguments: Sequence[str], environ: Mapping[str, str], cwd: Path) -> Launch:
    """How the client is started in place of its program in `folder`. Raises LookupError without the client itself."""
    places = environ.get("PATH", os.defpath).split(os.pathsep)
    path = os.pathsep.join(place for place in places if place != str(folder / "bin"))
    real = shutil.which(program, path=path)
    if real is None:
        raise LookupError(f"{program}: not found")
    plain = Launch((real,), tuple(arguments), {**environ, "PATH": path}, cwd)
    try:
        given = json.loads((folder / _SETTINGS).read_text())
        wrapper = Wrapper(tuple(given["wrapper"]["start"]), tuple(given["wrapper"]["options"]))
        return _wrapped(plain, wrapper, folder, missing=given["missing"])
    except Exception as exc:  # noqa: BLE001 - the client must start
        sys.stderr.write(f"turntape: the tool servers of {program} are not recorded: {exc}\n")
        return plain


def _wrapped(plain: Launch, wrapper: Wrapper, folder: Path, *, missing: bool) -> Launch:
    found = recognised(plain.command, plain.environ, plain.cwd)
    if found is None:
        return plain
    client, known = found
    servers = client.find(known)
    servers = replace(servers, servers=tuple(one for one in servers.servers if missing or _starts(one, known)))
    if not servers.servers:
        return plain
    own = folder / f"client-{os.getpid()}"
    own.mkdir(mode=0o700)
    return client.wrap(known, servers, wrapper, own)


def _starts(server: Server, launch: Launch) -> bool:
    """False for a program that does not exist: then the client must report it as it would without us."""
    program = server.words[0]
    if os.sep in program:
        folder = server.config.get("cwd")
        program = str(launch.cwd / (folder if isinstance(folder, str) else "") / program)
    return "$" in program or shutil.which(program, path=launch.environ.get("PATH")) is not None


def main(arguments: Sequence[str]) -> None:
    """Become the client; exit code 127 when it is not there."""
    folder, program, *rest = arguments
    try:
        made = launch(Path(folder), program, rest, os.environ, Path.cwd())
    except LookupError as exc:
        sys.stderr.write(f"{exc}\n")
        sys.exit(NOT_FOUND)
    os.execve(made.command[0], [program, *made.command[1:]], dict(made.environ))


if __name__ == "__main__":
    main(sys.argv[1:])
