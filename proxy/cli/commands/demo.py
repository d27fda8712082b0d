"""`turntape demo`: a small agent, a scripted LLM, and the real proxy between them; then the run."""

import argparse
from typing import TYPE_CHECKING

from turntape.cassettes.frozen import frozen

from ..command import Command
from ..option_groups import add_output_file
from ..recording_options import require_posix

if TYPE_CHECKING:
    from pathlib import Path

PACE = 40
"""Output tokens in a second, as of a real LLM."""
AGENT = ("-m", "turntape.proxy.scripted.agent")


@frozen
class Flaw:
    """What goes wrong in a demo, at one layer."""

    intro: str
    wrong_calls: bool = False
    wrong_finish: bool = False
    agent: tuple[str, ...] = ()
    """Arguments of the agent."""


FLAWS: dict[str | None, Flaw] = {
    None: Flaw("An agent writes sales emails; turntape is between it and a scripted LLM."),
    "model": Flaw("The same agent; the model calls a wrong tool, and one with wrong arguments.", wrong_calls=True),
    "api": Flaw("The same agent; the API calls its first answer finished although it holds calls.", wrong_finish=True),
    "client": Flaw("The same agent, with a bug: it loses one of three results.", agent=("--lose-a-result",)),
}


def add(parser: argparse.ArgumentParser) -> None:
    add_output_file(parser, "F", "the cassette to write (default: demo-<time>.cassette.jsonl here)")
    parser.add_argument(
        "--fast", action="store_true", help=f"do not stream at the pace of an LLM, {PACE} tokens a second"
    )
    parser.add_argument("--fault", choices=("model", "api", "client"), help="let something go wrong at this layer")


def main(options: argparse.Namespace) -> int:
    require_posix("demo")
    import asyncio
    import os
    import sys
    from pathlib import Path

    from ...launch.terminal import coloured
    from ...signals import block, unblock

    block()
    flaw = FLAWS[options.fault]
    path = Path(options.output) if options.output else _path()
    colour = coloured(sys.stdout.isatty(), os.environ, options.color)
    bold, dim, off = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if colour else ("",) * 3
    _print(f"{bold}1. {flaw.intro}{off}")
    _print(f"{dim}   $ turntape run -- {' '.join(('python', *AGENT, *flaw.agent))}{off}\n")
    pace = None if options.fast else PACE
    code = asyncio.run(_record(path, flaw, options.color, pace, made=not options.output))
    unblock()  # the agent has ended, so Ctrl-C is for us
    if code:
        return code
    _print(f"\n{bold}2. What went over the wire.{off}")
    _print(f"{dim}   $ turntape show {path}{off}\n")
    _show(path, colour)
    _print(f"\n{bold}3. Now you.{off}")
    for command, what in next_steps(str(path), faulty=bool(options.fault)):
        _print(f"   {command}   {dim}# {what}{off}")
    return _view(path) if sys.stdin.isatty() and sys.stdout.isatty() and _wants_view() else 0


def _wants_view() -> bool:
    """Whether the user wants the viewer; only asked on a terminal."""
    try:
        answer = input("\nOpen the run in the viewer now? p plays it there. [Y/n] ")
    except (EOFError, KeyboardInterrupt):
        _print("")
        return False
    return answer.strip().lower() in ("", "y", "yes")


def _view(path: "Path") -> int:
    """`turntape view` in a separate process, which has the terminal."""
    import subprocess
    import sys

    return subprocess.run([sys.executable, "-P", "-m", "turntape.proxy.cli", "view", str(path)], check=False).returncode


def next_steps(path: str, *, faulty: bool) -> list[tuple[str, str]]:
    """Commands to try next, padded to one width, and what each shows."""
    steps = [
        (f"turntape view {path}", "the run in the terminal; p plays it as it happened"),
        (f"turntape show {path} --turn 1", "one turn in full"),
    ]
    if faulty:
        steps.append((f"turntape check {path}", "what went wrong, and at which layer"))
    steps.append(("turntape run -- python agent.py", "your own agent"))
    width = max(len(command) for command, _ in steps)
    return [(command.ljust(width), what) for command, what in steps]


async def _record(path: "Path", flaw: Flaw, color: str, pace: float | None, *, made: bool) -> int:
    import os
    import sys

    from ...launch.environment import BASE_URLS
    from ...launch.recorded_run import run
    from ...launch.recording_settings import Settings
    from ...scripted import Fault, ScriptedServer
    from ...scripted.story import SALES_EMAILS, WRONG_CALLS

    story = WRONG_CALLS if flaw.wrong_calls else SALES_EMAILS
    faults = {1: Fault("wrong_finish")} if flaw.wrong_finish else {}
    async with ScriptedServer(story, faults=faults, pace=pace) as server:
        # Nothing in the user's own environment may lead the agent elsewhere.
        bases = {row.variable for row in BASE_URLS}
        environ = {name: value for name, value in os.environ.items() if name not in bases}
        environ |= {"OPENAI_API_KEY": "demo", "ANTHROPIC_API_KEY": "demo"}
        settings = Settings(
            path=path,
            made=made,
            upstreams={"*": server.url},
            environ=environ,
            console=True,
            color=color,
            private_authority=True,
        )
        return await run(settings, [sys.executable, "-P", *AGENT, *flaw.agent], quiet=True)


def _path() -> "Path":
    """In the current folder, or in a temporary one when that cannot be written."""
    import os
    import tempfile
    import time
    from pathlib import Path

    from ...capture.cassette_path import free_path

    folder = Path() if os.access(".", os.W_OK) else Path(tempfile.mkdtemp(prefix="turntape-"))
    return free_path("demo", folder, time.time())


def _show(path: "Path", colour: bool) -> None:
    from turntape.cassettes.tape.reader import Cassette
    from turntape.inspector.views.text.run_text import show_text

    from ...launch.terminal import columns

    for line in show_text(Cassette.load(path), colour=colour, width=columns(None, 100)):
        _print(line.rstrip("\n"))


def _print(line: str) -> None:
    import sys

    sys.stdout.write(line + "\n")
    sys.stdout.flush()


COMMAND = Command(
    usage="turntape demo [--fault LAYER] [--fast]",
    description="Record a small agent against a built-in scripted LLM, through the real proxy, and show the run. "
    "Needs no key and no network.",
    examples=("turntape demo", "turntape demo --fault client   # something goes wrong"),
    add=add,
    main=main,
)
