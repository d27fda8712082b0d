"""`turntape demo`: a small agent, a scripted LLM, and the real proxy between them; then the run."""

import argparse
import asyncio
import os
import shutil
import sys
import time
from pathlib import Path

from .child import block
from .environment import BASE_URLS
from .recording import Settings, coloured, free_path
from .run_command import run


def main(options: argparse.Namespace) -> int:
    block()
    path = Path(options.out) if options.out else _path()
    bold, dim, off = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if coloured(sys.stdout.isatty(), os.environ) else ("",) * 3
    _say(f"{bold}1. An agent writes sales emails; turntape sits between it and a scripted LLM.{off}")
    _say(f"{dim}   $ turntape run -- python -m turntape.proxy.scripted.agent{off}\n")
    code = asyncio.run(_record(path, made=not options.out))
    if code:
        return code
    _say(f"\n{bold}2. What went over the wire.{off}")
    _say(f"{dim}   $ turntape show {path}{off}\n")
    _show(path)
    _say(f"\n{bold}3. Now you.{off}")
    _say(f"   turntape show {path} --turn 1   {dim}# one turn, whole{off}")
    _say(f"   turntape run -- python agent.py{' ' * max(1, len(str(path)) - 8)}{dim}# your own agent{off}")
    return 0


async def _record(path: Path, made: bool) -> int:
    from .scripted import ScriptedServer

    async with ScriptedServer() as server:
        # Nothing of the user's own environment may lead the agent elsewhere.
        bases = {row.variable for row in BASE_URLS}
        environ = {name: value for name, value in os.environ.items() if name not in bases}
        environ |= {"OPENAI_API_KEY": "demo", "ANTHROPIC_API_KEY": "demo"}
        settings = Settings(path=path, made=made, upstreams={"*": server.url}, environ=environ, console=True)
        return await run(settings, [sys.executable, "-m", "turntape.proxy.scripted.agent"], quiet=True)


def _path() -> Path:
    """In the current folder, or where we may write."""
    import tempfile

    folder = Path() if os.access(".", os.W_OK) else Path(tempfile.mkdtemp(prefix="turntape-"))
    return free_path("demo", folder, time.time())


def _show(path: Path) -> None:
    from turntape.cassettes.reader import Cassette
    from turntape.inspector.text import show_text

    width = shutil.get_terminal_size((100, 24)).columns
    colour = coloured(sys.stdout.isatty(), os.environ)
    for line in show_text(Cassette.load(path), colour=colour, width=width):
        _say(line.rstrip("\n"))


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
