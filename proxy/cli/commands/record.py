"""`turntape record`: only the proxy, for clients that are started elsewhere."""

import argparse
from typing import TYPE_CHECKING

from ...exit_codes import NOT_RECORDED, OK
from .. import argument_types as types
from ..command import Command
from ..option_groups import RECORD_PORT, add_listening, add_recording, token_of
from ..recording_options import cassette_path, settings_of, ship_to

if TYPE_CHECKING:
    from pathlib import Path
    from signal import Signals

    from ...gateway.gateway import GatewaySettings
    from ...launch.recording_settings import Settings


def add(parser: argparse.ArgumentParser) -> None:
    add_recording(parser, RECORD_PORT, "record")
    add_listening(parser)
    parser.add_argument(
        "--rotate",
        type=types.rotate_at,
        metavar="SIZE|TIME",
        help="continue in a new file at this size or age, such as 100MB, 1h or 100MB,1h",
    )
    parser.add_argument(
        "--grace",
        type=types.duration,
        default=30.0,
        metavar="TIME",
        help="after SIGTERM, wait this long for running streams to end (default: 30s)",
    )
    parser.add_argument(
        "--workers",
        type=types.worker_count,
        default=1,
        metavar="N",
        help="share the port among N processes, which record into the same file (docs/gateway.md)",
    )
    parser.add_argument("--quiet", action="store_true", help="print no line per round trip")


def main(options: argparse.Namespace) -> int:
    import asyncio
    from dataclasses import replace

    from ...signals import block

    block()
    _check_workers(options)
    token, gateway = token_of(options), _gateway(options)
    settings = settings_of(options, _path(options), console=not options.quiet)
    settings = replace(settings, host=options.host, token=token, gateway=gateway, flush=options.grace)
    settings = replace(settings, workers=options.workers)
    return asyncio.run(_record(settings))


def _check_workers(options: argparse.Namespace) -> None:
    """Raises TurntapeError for what one process alone can do."""
    import os

    from turntape.cassettes.errors import TurntapeError

    if options.workers == 1:
        return
    if os.name != "posix":
        raise TurntapeError("--workers needs Linux or macOS; leave it out")
    if options.max_turns or options.max_cost or options.stop_on or options.break_on:
        raise TurntapeError(
            "--workers does not work with --max-turns, --max-cost, --stop-on and --break-on, which need all requests "
            "in one process; leave one of them out"
        )


def _path(options: argparse.Namespace) -> "Path":
    """The first file: with `--spool` in that folder, and compressed when there will be several."""
    if options.output or not (options.rotate or options.spool):
        return cassette_path(options, "record")
    import time
    from pathlib import Path

    from ...capture.cassette_path import free_path

    folder = options.spool or Path()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return free_path("record", folder, time.time(), ".jsonl.zst")


def _gateway(options: argparse.Namespace) -> "GatewaySettings":
    """Status pages, rotation and shipping. Raises TurntapeError for options that do not work together."""
    from turntape.cassettes.errors import TurntapeError

    from ...gateway.gateway import GatewaySettings
    from ...gateway.rotation import RotateAt

    if options.rotate and (options.max_turns or options.max_cost or options.stop_on or options.break_on):
        raise TurntapeError(
            "--rotate does not work with --max-turns, --max-cost, --stop-on and --break-on, which need all turns in "
            "one file; leave one of them out"
        )
    # In a spool of our own, what the store has is removed; a file that the user named stays.
    ship = ship_to(options, remove=options.spool is not None and not options.output)
    return GatewaySettings(True, RotateAt(*options.rotate) if options.rotate else None, ship, options.grace)


def _say(text: str) -> None:
    """Write to stdout. Whoever has closed it, as `record | true` does, still wants a recording."""
    import os
    import sys

    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # What is written later, at the latest at exit, must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


async def _record(settings: "Settings") -> int:
    import asyncio
    import os
    import sys
    import threading
    from signal import Signals

    from ...launch.export_lines import what_to_export
    from ...launch.recorded_run import end_lines
    from ...launch.recording import Recording
    from ...launch.supervise import to_stderr
    from ...launch.terminal import coloured
    from ...signals import ENDING, listen

    recording = Recording(settings)
    loop = asyncio.get_running_loop()
    over, finishing = asyncio.Event(), threading.Event()
    drains: list[Signals] = []

    def end(number: "Signals", _whole_group: bool) -> None:
        if number in ENDING:
            if number == Signals.SIGTERM:
                drains.append(number)
            if finishing.is_set():  # one more signal: do not wait for the labels
                recording.hurry()
            loop.call_soon_threadsafe(over.set)

    listen(end)
    await recording.start()
    colour = coloured(sys.stdout.isatty(), os.environ, settings.color)
    _say("\n".join(what_to_export(recording, colour)))
    await over.wait()
    if drains:
        over.clear()
        await recording.drain(over)
    finishing.set()
    if sys.stderr.isatty():
        sys.stderr.write("\n")  # after the ^C that the terminal shows
    outcome = await recording.finish()
    to_stderr(end_lines(recording, outcome, ()))
    to_stderr(f"turntape: {problem}" for problem in outcome.problems)
    return NOT_RECORDED if outcome.lost else OK


COMMAND = Command(
    usage="turntape record [options]",
    description="Start the proxy, print what to export for a client, and record until Ctrl-C. The exit code is 4 when "
    "some traffic was not recorded.",
    examples=("turntape record --port 8484", "turntape record --upstream openai=http://localhost:8000/v1"),
    add=add,
    main=main,
)
