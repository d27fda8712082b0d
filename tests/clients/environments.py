"""Environments made on demand from the registries, kept in `.clients/` and reused: one a list of packages."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
CACHE = ROOT / ".clients"
HERE = Path(__file__).parent
PATIENCE = 600
"""Seconds that an installation may take."""


class Unavailable(Exception):
    """A package cannot be had here; its text is the reason in the table."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """How a client's script is started, and which version of the client that is."""

    command: tuple[str, ...]
    version: str
    folder: Path | None = None


def here(script: str, package: str) -> Runtime:
    """The environment we run in. Raises `Unavailable` when the package is not in it."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return Runtime((sys.executable, str(HERE / script)), version(package))
    except PackageNotFoundError as exc:
        raise Unavailable(f"{package} is not in this environment") from exc


def built(script: str, packages: tuple[str, ...]) -> Runtime:
    """An environment that holds `packages`, made when there is none. Raises `Unavailable`."""
    makers = {".py": _python, ".mjs": _node}
    return makers[Path(script).suffix](script, packages)


def is_built(script: str, packages: tuple[str, ...]) -> bool:
    """True when the environment that holds `packages` exists."""
    runtimes = {".py": "python", ".mjs": "node"}
    return (_folder(runtimes[Path(script).suffix], packages) / ".ready").exists()


def _folder(runtime: str, packages: tuple[str, ...]) -> Path:
    digest = hashlib.sha256("\n".join(packages).encode()).hexdigest()[:8]
    first = _name(packages[0]).rpartition("/")[2] if packages else "bare"
    return CACHE / runtime / f"{first}-{digest}"


def _python(script: str, packages: tuple[str, ...]) -> Runtime:
    folder = _folder("python", packages)
    python = folder / "bin" / "python"
    if not (folder / ".ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        uv = _tool(os.environ.get("UV") or "uv")
        _run([uv, "venv", "--quiet", "--python", sys.executable, str(folder)], packages)
        _run([uv, "pip", "install", "--quiet", "--python", str(python), *packages], packages)
        (folder / ".ready").touch()
    name = _name(packages[0])
    code = f"from importlib.metadata import version; print(version({name!r}))"
    said = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True).stdout
    return Runtime((str(python), str(HERE / script)), said.strip(), folder)


def _node(script: str, packages: tuple[str, ...]) -> Runtime:
    node = _tool("node")
    folder = _folder("node", packages)
    if not (folder / ".ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "package.json").write_text('{"type": "module", "private": true}\n')
        if packages:
            _run([_tool("npm"), "install", "--no-audit", "--no-fund", "--loglevel=error", *packages], packages, folder)
        (folder / ".ready").touch()
    # Node.js resolves a module from the folder of the script.
    for source in (HERE / "node").glob("*.mjs"):
        copy = folder / source.name
        if not copy.exists() or copy.read_bytes() != source.read_bytes():
            copy.write_bytes(source.read_bytes())
    if packages:
        version = json.loads((folder / "node_modules" / _name(packages[0]) / "package.json").read_text())["version"]
    else:
        version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip("v\n")
    # A client that needs a newer node brings it as a package.
    own = folder / "node_modules" / ".bin" / "node"
    node = str(own) if own.exists() else node
    return Runtime((node, str(folder / Path(script).name)), version, folder)


def _name(package: str) -> str:
    """`@mastra/core@latest` and `crewai[anthropic]` without what follows the name."""
    return re.split(r"[\[<>=]|(?<!^)@", package, maxsplit=1)[0]


def _tool(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise Unavailable(f"{name} is not on this machine")
    return path


def _run(command: list[str], packages: tuple[str, ...], folder: Path | None = None) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired as exc:
        raise Unavailable(f"installing {' '.join(packages)} took more than {PATIENCE} s") from exc
    if done.returncode:
        said = " ".join((done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").split())
        raise Unavailable(f"{' '.join(packages)} cannot be installed: {said[-300:]}")
