"""`turntape record`: the proxy alone, and what to export for a client that comes to it."""

import argparse
import asyncio
import os
import shlex
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from signal import Signals

from ..launch.child_process import ENDING, block, listen
from ..launch.environment import CERTIFICATES, NO_PROXIES, PROXIES, SWITCHES
from ..launch.recording import Recording, Settings, coloured, free_path
from .exit_codes import OK
from .run_command import end_lines, settings_of, tell


def main(options: argparse.Namespace) -> int:
    block()
    path = Path(options.out) if options.out else free_path("record", Path(), time.time())
    settings = settings_of(options, path, console=not options.quiet)
    return asyncio.run(_record(settings))


async def _record(settings: Settings) -> int:
    recording = Recording(settings)
    loop = asyncio.get_running_loop()
    over = asyncio.Event()

    def end(number: Signals, _whole_group: bool) -> None:
        if number in ENDING:
            if over.is_set():  # asked twice: without waiting for the labels
                recording.hurry()
            loop.call_soon_threadsafe(over.set)

    listen(end)
    await recording.start()
    colour = coloured(sys.stdout.isatty(), os.environ)
    sys.stdout.write("\n".join(what_to_export(recording, colour)) + "\n")
    sys.stdout.flush()
    await over.wait()
    if sys.stderr.isatty():
        sys.stderr.write("\n")  # behind the ^C that the terminal shows
    outcome = await recording.finish()
    tell(end_lines(recording, outcome, ()))
    tell([f"turntape: {problem}" for problem in outcome.problems])
    return OK


def what_to_export(recording: Recording, colour: bool) -> list[str]:
    """The lines that bring a client here, ready to paste into a shell."""
    bold, dim, off = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if colour else ("", "", "")
    variables = recording.environment.variables
    forward = {*PROXIES, *NO_PROXIES, "NODE_OPTIONS", *(name for name, _, _ in SWITCHES)}
    certificates = {row.variable for row in CERTIFICATES}
    base = [name for name in variables if name not in forward | certificates]
    lines = [f"{bold}turntape{off} records to {recording.settings.path}, port {recording.port}. Ctrl-C ends it."]
    if base:
        lines += ["", f"{bold}Base URL{off} {dim}of the API that the client calls{off}"]
        lines += exports(variables, base)
    if proxied := [name for name in variables if name in forward]:
        lines += ["", f"{bold}or forward proxy{off} {dim}for clients with a fixed host{off}"]
        lines += exports(variables, proxied)
    if trusted := [name for name in variables if name in certificates]:
        lines += ["", f"{bold}with its certificate{off}"]
        lines += exports(variables, trusted)
    return [*lines, ""]


def exports(variables: Mapping[str, str], names: Iterable[str]) -> list[str]:
    """One `export` line a value; further names of the same value refer to the first."""
    first: dict[str, str] = {}
    more: dict[str, list[str]] = {}
    for name in names:
        value = variables[name]
        if value in first:
            more[first[value]].append(f"{name}=${first[value]}")
        else:
            first[value] = name
            more[name] = []
    lines: list[str] = []
    for value, name in first.items():
        lines.append(f"  export {name}={shlex.quote(value)}")
        line = "  export"
        for reference in more[name]:
            if len(line) + 1 + len(reference) > 79:
                lines.append(line)
                line = "  export"
            line += f" {reference}"
        if more[name]:
            lines.append(line)
    return lines
