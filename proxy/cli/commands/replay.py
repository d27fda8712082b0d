"""`turntape replay F …`: serve recorded round trips as the API."""

import argparse

from .. import argument_types as types
from ..command import Command
from ..option_groups import CASSETTES, REPLAY_PORT, add_listening, add_redaction, add_replaying, token_of


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="F", nargs="+", help=f"{CASSETTES}; each gets its own prefix")
    add_listening(parser)
    parser.add_argument(
        "--port", type=types.port, default=REPLAY_PORT, metavar="N", help=f"listen on port N (default: {REPLAY_PORT})"
    )
    parser.add_argument("--quiet", action="store_true", help="print only what differs from the recording")
    # For `turntape run --replay`, whose command has the terminal.
    parser.add_argument("--misses-at-end", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--tool-link", help=argparse.SUPPRESS)
    parser.add_argument("--parent", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--live-tool", action="append", default=[], help=argparse.SUPPRESS)
    add_replaying(parser, "instant")
    add_redaction(parser)


def main(options: argparse.Namespace) -> int:
    from pathlib import Path

    from turntape.cassettes.matching.settings import matching_of
    from turntape.cassettes.server.folder_server import run_replay

    from ..cassette_files import cassettes

    if options.parent is not None:
        from turntape.cassettes.orphan import end_with

        from ...signals import unblock

        unblock()  # `turntape run` blocks signals, but a signal must end this server
        end_with(options.parent)
    # A folder is passed on as it is: it is the root of the names of its cassettes.
    checked = [name if Path(name).is_dir() else cassettes([name]) for name in options.file]
    paths = [path for one in checked for path in ([one] if isinstance(one, str) else one)]
    return run_replay(
        [Path(path) for path in paths],
        options.host,
        options.port,
        options.pace,
        matching=matching_of(options.profile, dict(options.rule), options.ignore, options.ignore_text),
        faults=options.faults,
        quiet=options.quiet,
        live=not options.misses_at_end,
        tool_link=options.tool_link,
        live_tools=options.live_tool,
        token=token_of(options),
    )


COMMAND = Command(
    usage="turntape replay F ... [--port N] [--pace]",
    description="Serve recorded round trips as the API: the same requests get the same bytes. A request that was not "
    "recorded gets an error that names the nearest one. With several cassettes, or a folder, each has the prefix "
    "/s/NAME, and / lists them; /s/NAME@AGENT replays one from its first turn for that agent only. The exit code is 1 "
    "when a request or a tool call had no recorded answer.",
    examples=("turntape replay run.cassette.jsonl", "turntape replay tests/cassettes --port 8484"),
    add=add,
    main=main,
)
