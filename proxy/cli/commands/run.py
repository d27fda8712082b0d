"""`turntape run -- CMD`: run a command behind the proxy and record it."""

import argparse

from ...exit_codes import FINDINGS, OK, USAGE
from ..command import Command
from ..option_groups import add_recording, add_replaying, replay_arguments
from ..recording_options import cassette_path, require_posix, settings_of


def add(parser: argparse.ArgumentParser) -> None:
    add_recording(parser, 0)
    parser.add_argument(
        "--replay", metavar="F", action="append", help="answer from this cassette; no API is called; repeatable"
    )
    add_replaying(parser, None, ", with --replay")
    parser.add_argument(
        "--live-mcp",
        metavar="NAME",
        action="append",
        default=[],
        help="with --replay: use this tool server (MCP), not its recorded answers; over HTTP its host is its name; "
        "repeatable",
    )
    parser.add_argument(
        "--live-llm", action="store_true", help="with --replay: call the API, and play the recorded tool servers only"
    )
    parser.add_argument(
        "--no-wrap",
        action="store_true",
        help="leave the tool servers (MCP) that CMD starts as they are; their messages are not recorded then",
    )
    parser.add_argument(
        "--permanent-ca",
        action="store_true",
        help="use the certificate authority of `turntape record`, for a client with its own list of trusted ones "
        "(default: one that is made for this run and removed with it)",
    )
    parser.add_argument(
        "--prove",
        action="store_true",
        help="compare what goes in and out on both sides of the proxy, byte for byte, and report what differs and why",
    )
    parser.add_argument(
        "--spans",
        action="store_true",
        help="receive the OpenTelemetry spans of CMD too, so that tools in its own process are on the tape",
    )
    parser.add_argument("--live", action="store_true", help="print a line on stderr as each round trip ends")
    parser.add_argument(
        "--view",
        action="store_true",
        help="show the run in the terminal while CMD runs; CMD gets no stdin; its output is printed when you quit",
    )
    parser.add_argument("--quiet", action="store_true", help="print only errors")
    parser.add_argument("command", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def main(options: argparse.Namespace) -> int:
    require_posix("run")
    import asyncio
    from dataclasses import replace

    from turntape.cassettes.tape.reader import Cassette

    from ...launch.child_process import not_found
    from ...launch.recorded_hosts import recorded_hosts, recorded_streams
    from ...launch.recorded_run import run
    from ...launch.replay_server import replay_server
    from ...launch.supervise import to_stderr
    from ...signals import block
    from ..cassette_files import cassettes

    if problem := not_found(options.command[0]):
        to_stderr([f"turntape: {problem}"])
        return problem.code
    how = replay_arguments(options)
    if wrong := _conflict(options, how):
        to_stderr([f"turntape: {wrong}"])
        return USAGE
    files = cassettes(options.replay or [])
    block()
    # With --view the viewer has the terminal.
    console = options.live and not options.quiet and not options.view
    settings = settings_of(options, cassette_path(options, "run"), console=console)
    settings = replace(settings, prove=options.prove, spans=options.spans, wrap_tools=not options.no_wrap)
    settings = replace(settings, private_authority=not options.permanent_ca)
    if not files:
        return asyncio.run(run(settings, options.command, quiet=options.quiet, view=options.view))
    recordings = [list(Cassette.load(file)) for file in files]
    hosts = [host for recording in recordings for host in recorded_hosts(recording)]
    streams = frozenset(place for recording in recordings for place in recorded_streams(recording))
    settings = replace(settings, intercept=(*settings.intercept, *hosts), play_places=streams)
    live = [f"--live-tool={name}" for name in options.live_mcp]
    with replay_server(files, [*how, *live]) as played:
        settings = replace(settings, play_tools=played.tools, play_url=played.url, live_tools=tuple(options.live_mcp))
        if options.live_llm:
            settings = replace(settings, play_apis=False)
        else:
            # The other names stay: a base URL with one of them has the path that was recorded.
            settings = replace(settings, upstreams={**settings.upstreams, "*": played.url})
        code = asyncio.run(run(settings, options.command, quiet=options.quiet, view=options.view))
    return code or (FINDINGS if played.missed else OK)


def _conflict(options: argparse.Namespace, how: list[str]) -> str | None:
    """Why these options do not work together; None when they do."""
    from ...launch.terminal import undrawable

    if options.view and (why := undrawable()):
        return f"--view needs a terminal to draw on, and {why}; without --view the run is recorded as well"
    if options.view and options.break_on and options.break_answers is None:
        return "--view and --break-on both need the terminal; leave one out, or give --break-answers FILE"
    if options.live_llm:
        how = [*how, "--live-llm"]
    if options.live_mcp:
        how = [*how, "--live-mcp"]
    if how and not options.replay:
        return f"{how[0].partition('=')[0]} needs a cassette to replay; add --replay F"
    return None


COMMAND = Command(
    usage="turntape run [options] -- CMD ...",
    description="Run CMD behind the proxy, with the environment set for base URLs, proxies and certificates, and "
    "record its traffic to a cassette. CMD keeps the terminal, the signals and the exit code. When CMD exits with 0, "
    "the exit code is 4 if some traffic was not recorded, and 1 if, with --replay, a request or a tool call had no "
    "recorded answer.",
    examples=("turntape run -- python agent.py", "turntape run --view --max-cost 0.50 -- python agent.py"),
    add=add,
    main=main,
    tail="required",
)
