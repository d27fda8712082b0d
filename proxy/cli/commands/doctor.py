"""`turntape doctor [-- CMD]`: why nothing was captured, in plain words, with the line to add."""

import argparse
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...exit_codes import FINDINGS, OK
from ..command import Command
from ..option_groups import add_format, add_output, add_upstreams
from ..recording_options import require_posix

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import TextIO


def add(parser: argparse.ArgumentParser) -> None:
    add_format(
        parser,
        ("text", "json"),
        json="one JSON object; the same as --format json. CMD's own output goes to stderr",
    )
    add_output(parser, "FILE", "write the result to FILE (default: stdout)")
    add_upstreams(parser)
    parser.add_argument("command", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def main(options: argparse.Namespace) -> int:
    require_posix("doctor")
    import asyncio
    import json
    import os
    import sys
    from pathlib import Path

    from ...doctor.check_result import lines
    from ...doctor.diagnose import diagnose
    from ...launch.child_process import not_found
    from ...launch.recording_settings import Settings
    from ...launch.terminal import coloured, columns
    from ...signals import block
    from ..text_output import writing

    command: list[str] = options.command
    if command and (problem := not_found(command[0])):
        sys.stderr.write(f"turntape: {problem}\n")
        return problem.code
    if command:
        block()  # signals are for the command, which `diagnose` passes them to
    settings = Settings(
        path=Path(),  # a temporary one
        upstreams=dict(options.upstream),
        intercept=tuple(options.intercept),
        upstream_proxy=options.upstream_proxy,
        client_cert=options.client_cert,
        environ=dict(os.environ),
        color=options.color,
    )
    as_json = options.format == "json"
    with _stdout_to_stderr(as_json and bool(command) and not options.output) as stdout:
        report = asyncio.run(diagnose(settings, command))
        with writing(options.output, stdout=stdout) as out:
            if as_json:
                out.write(json.dumps(report.as_json(), indent=2) + "\n")
            else:
                colour = coloured(out.isatty(), os.environ, options.color)
                out.write("\n".join([*lines(report.checks, colour, columns(None)), "", report.closing()]) + "\n")
            out.flush()
    return OK if report.ok else FINDINGS


@contextmanager
def _stdout_to_stderr(wanted: bool) -> "Generator[TextIO]":
    """Our own stdout; with `wanted`, what the command writes to its stdout goes to stderr meanwhile."""
    import os
    import sys

    if not wanted:
        yield sys.stdout
        return
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with os.fdopen(os.dup(kept), "w", encoding="utf-8") as stdout:
            yield stdout
            stdout.flush()
    finally:
        os.dup2(kept, 1)
        os.close(kept)


COMMAND = Command(
    usage="turntape doctor [options] [-- CMD ...]",
    description="Check the environment, try the HTTP clients of each runtime behind the proxy, run CMD once behind it, "
    "and report what was seen, what was missing, and the line to add. Exits with 1 when there is a problem.",
    examples=("turntape doctor", "turntape doctor -- python agent.py"),
    add=add,
    main=main,
    tail="optional",
)
