"""The abilities of a terminal: colours, columns, and whether its cursor can be moved."""

import os
import shutil
import sys
from collections.abc import Mapping


def coloured(terminal: bool, environ: Mapping[str, str], choice: str = "auto") -> bool:
    """Whether to use colours.

    `choice` is the value of `--color`. `auto` respects NO_COLOR (https://no-color.org) and FORCE_COLOR, then asks
    whether the output is a `terminal`.
    """
    if choice != "auto":
        return choice == "always"
    if environ.get("NO_COLOR"):
        return False
    return bool(environ.get("FORCE_COLOR")) or (terminal and environ.get("TERM") != "dumb")


def columns(chosen: int | None, default: int = 80) -> int:
    """The chosen width, else the width of the terminal, else `default` (in a pipe)."""
    return chosen or shutil.get_terminal_size((default, 24)).columns


def drawable() -> bool:
    """Whether standard input and output are a terminal whose cursor can be moved."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
