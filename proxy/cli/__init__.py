"""The command line: `turntape …`.

`turntape mcp -- SERVER` starts in the place of a server that a client waits for, so it goes past the parsers of the
other commands.
"""

import os
import sys
import warnings
from collections.abc import Sequence

from ..exit_codes import INTERRUPTED


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Raises `SystemExit` for --help and usage errors."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        # Warnings are for those who develop turntape. PYTHONWARNINGS=error would end it where a dependency warns.
        warnings.simplefilter("ignore")
        _open_closed_streams()
        if arguments[:1] == ["mcp"]:
            from ..tool_wire.wrapper import parsed, wrap

            if wrapped := parsed(arguments[1:]):
                return wrap(wrapped)
        from turntape.cassettes.json_levels import follow_all_levels

        from .command_line import main

        follow_all_levels()
        return main(arguments)
    except KeyboardInterrupt:  # while modules are imported
        return INTERRUPTED


def _open_closed_streams() -> None:
    """Replace closed standard streams by /dev/null, so that no other file gets their numbers."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) < 3:
        os.set_inheritable(descriptor, True)
        name = ("stdin", "stdout", "stderr")[descriptor]
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(descriptor, "r" if descriptor == 0 else "w", closefd=False))
    os.close(descriptor)
