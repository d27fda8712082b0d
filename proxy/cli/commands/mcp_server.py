"""`turntape mcp-server [FOLDER]`: an agent reads tapes through MCP tools."""

import argparse
from pathlib import Path

from ...exit_codes import OK
from ..command import Command


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder",
        metavar="FOLDER",
        nargs="?",
        type=Path,
        default=Path(),
        help="the cassettes below this folder can be read, and nothing else (default: here)",
    )


def main(options: argparse.Namespace) -> int:
    from ...mcp_server.server import serve

    serve(options.folder)
    return OK


COMMAND = Command(
    usage="turntape mcp-server [FOLDER]",
    description="An MCP server on standard input and output, with which an agent reads recordings: runs, turns, "
    "findings, costs, differences, and a search. It only reads. Put this command into your client's list of MCP "
    "servers. It needs the MCP SDK: pip install 'turntape[mcp]'.",
    examples=("turntape mcp-server runs",),
    add=add,
    main=main,
)
