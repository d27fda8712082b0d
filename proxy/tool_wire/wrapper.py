"""The wrapper: a process in the place of an MCP server, which starts the server and passes everything on."""

import os
import sys
from collections.abc import Sequence

from ..exit_codes import NOT_FOUND


def wrap(
    command: Sequence[str],
    *,
    name: str | None = None,
    link: str | None = None,
    run: str | None = None,
    output: str | None = None,
) -> int:
    """Run the server `command` in our place and return its exit code."""
    del name, link, run, output
    try:
        os.execvp(command[0], list(command))
    except OSError as exc:
        sys.stderr.write(f"turntape: the server {command[0]!r} cannot be started: {exc.strerror}\n")
        return NOT_FOUND
