"""`turntape mcp -- SERVER`: record what goes between an MCP client and a server. It starts fast and imports little."""

import argparse

from ...exit_codes import USAGE
from ..command import Command
from ..option_groups import add_output_file


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        choices=("wrap", "unwrap"),
        help="put the wrapper in front of the servers in a client's configuration FILE, or remove it again",
    )
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="the configuration file of a client; -o is put into it as well"
    )
    parser.add_argument("--dry-run", action="store_true", help="for wrap and unwrap: print the change, write nothing")
    parser.add_argument("--name", metavar="NAME", help="the server's name on the tape (default: from SERVER)")
    parser.add_argument(
        "--link",
        metavar="ADDRESS",
        help="send the traffic to the recorder at this address, which `turntape run` and `record` print or insert",
    )
    parser.add_argument("--run", metavar="RUN", help="the run that the traffic belongs to")
    parser.add_argument(
        "--play",
        metavar="SOCKET",
        help="start no server: the player of a recording at this socket answers, which `turntape run --replay` inserts",
    )
    parser.add_argument(
        "--replay",
        metavar="F",
        help="start no server: this recording of it answers; nothing is recorded then, unless -o is given",
    )
    parser.add_argument("--live", default="", help=argparse.SUPPRESS)
    add_output_file(
        parser,
        "FILE",
        "without --link: write this cassette, or a new one in this folder (default: the working directory)",
    )


def main(options: argparse.Namespace) -> int:
    if options.action:
        from ...tool_wire.client_configs import command

        return command.main(options)
    import sys

    if not options.command:
        sys.stderr.write("turntape mcp: no server to start; write it after `--`: turntape mcp -- npx -y some-server\n")
        return USAGE
    from ...tool_wire.wrapped import Wrapped
    from ...tool_wire.wrapper import wrap

    wrapped = Wrapped(
        options.command,
        name=options.name,
        link=options.link,
        run=options.run,
        output=options.output,
        play=options.play,
        replay=options.replay,
        live=options.live,
    )
    return wrap(wrapped)


COMMAND = Command(
    usage="turntape mcp [options] -- SERVER ...\n       turntape mcp wrap|unwrap FILE",
    description="Start an MCP server in its place in a client's configuration, and record what goes over its stdin, "
    "stdout and stderr, byte for byte. The client sees no difference: signals, exit code and the end of each stream "
    "are the server's.",
    examples=("turntape mcp -- python server.py", "turntape mcp wrap .mcp.json"),
    add=add,
    main=main,
    tail="optional",
    mixed=True,
)
