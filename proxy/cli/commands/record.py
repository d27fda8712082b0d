"""`turntape record`: only the proxy, for clients that are started elsewhere."""

import argparse
from typing import TYPE_CHECKING

from ...exit_codes import NOT_RECORDED, OK
from ..command import Command
from ..option_groups import RECORD_PORT, add_listening, add_recording, token_of
from ..recording_options import cassette_path, settings_of

if TYPE_CHECKING:
    from signal import Signals

    from ...launch.recording import Settings


def add(parser: argparse.ArgumentParser) -> None:
    add_recording(parser, RECORD_PORT, "record")
    add_listening(parser)
    parser.add_argument("--quiet", action="store_true", help="print no line per round trip")


def main(options: argparse.Namespace) -> int:
    import asyncio
    from dataclasses import replace

    from ...signals import block

    block()
    token = token_of(options)
    settings = settings_of(options, cassette_path(options, "record"), console=not options.quiet)
    settings = replace(settings, host=options.host, token=token)
    return asyncio.run(_record(settings))


async def _record(settings: "Settings") -> int:
    import asyncio
    import os
    import sys

    from ...launch.export_lines import what_to_export
    from ...launch.recorded_run import end_lines
    from ...launch.recording import Recording
    from ...launch.supervise import to_stderr
    from ...launch.terminal import coloured
    from ...signals import ENDING, listen

    recording = Recording(settings)
    loop = asyncio.get_running_loop()
    over = asyncio.Event()

    def end(number: "Signals", _whole_group: bool) -> None:
        if number in ENDING:
            if over.is_set():  # the second signal: do not wait for the labels
                recording.hurry()
            loop.call_soon_threadsafe(over.set)

    listen(end)
    await recording.start()
    colour = coloured(sys.stdout.isatty(), os.environ, settings.color)
    sys.stdout.write("\n".join(what_to_export(recording, colour)) + "\n")
    sys.stdout.flush()
    await over.wait()
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
    add=add,
    main=main,
)
