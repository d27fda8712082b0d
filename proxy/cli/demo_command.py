"""`turntape demo`: a small agent, a scripted LLM, and the real proxy between them; then the run."""

import argparse
import asyncio
import os
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from ..launch.child_process import block
from ..launch.environment import BASE_URLS
from ..launch.recording import Settings, coloured, free_path
from .run_command import run

AGENT = ("-m", "turntape.proxy.scripted.agent")


@dataclass(frozen=True, slots=True)
class Flaw:
    """What goes wrong in a demo, at one layer."""

    says: str
    wrong_calls: bool = False
    wrong_finish: bool = False
    agent: tuple[str, ...] = ()
    """Arguments of the agent."""


FLAWS: dict[str | None, Flaw] = {
    None: Flaw("An agent writes sales emails; turntape sits between it and a scripted LLM."),
    "model": Flaw("The same agent; the model calls a wrong tool, and one with wrong arguments.", wrong_calls=True),
    "api": Flaw("The same agent; the API calls its first answer finished although it holds calls.", wrong_finish=True),
    "client": Flaw("The same agent, with a bug: it loses one of three results.", agent=("--lose-a-result",)),
}


def main(options: argparse.Namespace) -> int:
    block()
    flaw = FLAWS[options.fault]
    path = Path(options.out) if options.out else _path()
    bold, dim, off = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if coloured(sys.stdout.isatty(), os.environ) else ("",) * 3
    _say(f"{bold}1. {flaw.says}{off}")
    _say(f"{dim}   $ turntape run -- {' '.join(('python', *AGENT, *flaw.agent))}{off}\n")
    code = asyncio.run(_record(path, flaw, made=not options.out))
    if code:
        return code
    _say(f"\n{bold}2. What went over the wire.{off}")
    _say(f"{dim}   $ turntape show {path}{off}\n")
    _show(path)
    _say(f"\n{bold}3. Now you.{off}")
    _say(f"   turntape show {path} --turn 1   {dim}# one turn, whole{off}")
    if options.fault:
        _say(f"   turntape check {path}{' ' * 10}{dim}# what went wrong, and at which layer{off}")
    _say(f"   turntape run -- python agent.py{' ' * max(1, len(str(path)) - 8)}{dim}# your own agent{off}")
    return 0


async def _record(path: Path, flaw: Flaw, made: bool) -> int:
    from ..scripted import Fault, ScriptedServer
    from ..scripted.story import SALES_EMAILS, WRONG_CALLS

    story = WRONG_CALLS if flaw.wrong_calls else SALES_EMAILS
    faults = {1: Fault("wrong_finish")} if flaw.wrong_finish else {}
    async with ScriptedServer(story, faults=faults) as server:
        # Nothing of the user's own environment may lead the agent elsewhere.
        bases = {row.variable for row in BASE_URLS}
        environ = {name: value for name, value in os.environ.items() if name not in bases}
        environ |= {"OPENAI_API_KEY": "demo", "ANTHROPIC_API_KEY": "demo"}
        settings = Settings(path=path, made=made, upstreams={"*": server.url}, environ=environ, console=True)
        return await run(settings, [sys.executable, *AGENT, *flaw.agent], quiet=True)


def _path() -> Path:
    """In the current folder, or where we may write."""
    import tempfile

    folder = Path() if os.access(".", os.W_OK) else Path(tempfile.mkdtemp(prefix="turntape-"))
    return free_path("demo", folder, time.time())


def _show(path: Path) -> None:
    from turntape.cassettes.tape.reader import Cassette
    from turntape.inspector.views.text.run_text import show_text

    width = shutil.get_terminal_size((100, 24)).columns
    colour = coloured(sys.stdout.isatty(), os.environ)
    for line in show_text(Cassette.load(path), colour=colour, width=width):
        _say(line.rstrip("\n"))


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
