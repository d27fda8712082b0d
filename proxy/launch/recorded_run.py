"""One recorded command from start to end, with the summary on stderr. `run`, `fork` and `demo` are built on it."""

import os
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from signal import Signals
from time import time

from turntape.cassettes.counted import several
from turntape.cassettes.routes.admission import new_token
from turntape.cassettes.tape.command_end import CommandEnd

from ..capture.certificates import home
from ..exit_codes import FINDINGS, NOT_RECORDED, OK, SIGNALLED
from ..sidecar.summary import summary_lines
from .child_process import Child
from .connections import Watch
from .nothing_recorded import nothing_lines, refused_line
from .recording import Outcome, Recording
from .recording_settings import Settings
from .supervise import supervised, to_stderr
from .terminal import coloured
from .tool_servers import ToolServers


async def run(settings: Settings, command: list[str], *, quiet: bool, view: bool = False) -> int:
    """Record `command` and return its exit code. With `view`, the viewer uses the terminal meanwhile.

    When the command exits with 0, the code is `NOT_RECORDED` if traffic was lost, and `FINDINGS` if `--prove` found a
    difference.
    """
    if settings.token is None and not settings.port:
        # Nobody can have written this address into a file of settings, so everybody has it from our environment.
        settings = replace(settings, token=new_token())
    if not settings.wrap_tools:
        return await _run(settings, command, None, quiet=quiet, view=view)
    played = settings.play_tools is not None
    live = settings.live_tools
    with ToolServers(command, settings.environ, Path.cwd(), home(), played=played, live=live) as tools:
        settings = replace(settings, intercept=(*settings.intercept, *tools.hosts))
        return await _run(settings, command, tools, quiet=quiet, view=view)


async def _run(
    settings: Settings, command: list[str], tools: ToolServers | None, *, quiet: bool, view: bool = False
) -> int:
    recording = Recording(settings)
    watch: list[Watch] = []

    def started(child: Child) -> None:
        watch.append(Watch(child.pid, ours=recording.port, pause=0.1, share=0.05))
        watch[0].start()
        recording.on_first = watch[0].over  # once something is recorded, the connections are not needed
        if tools is not None and not quiet:
            to_stderr(tools.lines())

    code, problem = await supervised(recording, command, started, view=view, tools=tools)
    if not problem:
        recording.command_end = _ended(code)
    try:
        outcome = await recording.finish(quiet=quiet)
        if problem:
            to_stderr([f"turntape: {problem}"])
            settings.path.unlink(missing_ok=True)
            return code
        for one in watch:
            one.stop()
            recording.bypassed = Counter(f"{c.place} ({c.program})" for c in one.past_us)
        if not quiet:
            to_stderr(end_lines(recording, outcome, command))
        to_stderr(f"turntape: {problem}" for problem in outcome.problems)
        if outcome.lost:
            code = code or NOT_RECORDED
        if settings.prove:
            from ..prove.report import lines

            proof = recording.proof()
            to_stderr(lines(proof, coloured(sys.stderr.isatty(), os.environ, settings.color)))
            code = code or (OK if proof.holds else FINDINGS)
    except Exception as exc:  # noqa: BLE001 - whatever we do wrong, the exit code stays the command's
        to_stderr([f"turntape: internal error at the end, {type(exc).__name__}: {exc}; {settings.path} is kept"])
    return code


def _ended(code: int) -> CommandEnd:
    """The end of a command with this exit code, which is 128 + n where signal n ended it.

    A shell returns such a code too when a signal ended what it ran.
    """
    with suppress(ValueError):
        if code > SIGNALLED:
            return CommandEnd(time(), signal=Signals(code - SIGNALLED).name)
    return CommandEnd(time(), exit=code)


def end_lines(recording: Recording, outcome: Outcome, command: Sequence[str]) -> list[str]:
    """The summary of a recording, or, when nothing was recorded, what to try."""
    settings = recording.settings
    colour = coloured(sys.stderr.isatty(), os.environ, settings.color)
    totals = outcome.totals or {}
    only_tools = bool(totals.get("round_trips")) and totals["round_trips"] == totals.get("tool_messages")
    missing = nothing_lines(recording.seen, command, recording.advised_authority, colour, tools=only_tools)
    if not outcome.count:
        return missing
    if outcome.lost and totals.get("round_trips") == 0:
        # A summary of nothing would say that there are no findings.
        return [f"turntape  {several(outcome.count, 'round trip')} passed, and none is in the cassette"]
    lines = summary_lines(outcome.totals, settings.path, outcome.count, colour)
    if not settings.path.exists():
        lines = lines[:-2]  # it was shipped and removed: there is no file to show
    lines += [f"          {line}" for line in recording.gateway.remarks()]
    if only_tools:
        return [*lines, *missing]
    refused = recording.seen.refused
    return [*lines, refused_line(refused)] if refused else lines
