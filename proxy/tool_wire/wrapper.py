"""The wrapper: a process in the place of an MCP server, which starts the server and passes everything on.

The server is started before anything else is done, since the time until its first answer counts against limits of the
client. A wrapper without a recorder, or with a recorder that ends, still passes everything on.
"""

import os
from collections.abc import Sequence

from ..exit_codes import USAGE
from .address import VARIABLE
from .wrapped import Wrapped

_FIELDS = {
    "--name": "name",
    "--link": "link",
    "--run": "run",
    "-o": "output",
    "--output": "output",
    "--play": "play",
    "--replay": "replay",
    "--live": "live",
}
"""Options with a value, and the fields of `Wrapped` that they set."""


def parsed(arguments: Sequence[str]) -> Wrapped | None:
    """The arguments of `turntape mcp` when they are an ordinary call of the wrapper.

    None for everything else, such as --help or a mistake, which the parser of the command explains.
    """
    if "--" not in arguments:
        return None
    cut = list(arguments).index("--")
    options, command = list(arguments[:cut]), list(arguments[cut + 1 :])
    values: dict[str, str] = {}
    while options:
        flag, equals, value = options.pop(0).partition("=")
        if flag not in _FIELDS or (equals and not flag.startswith("--")) or not (equals or options):
            return None
        values[_FIELDS[flag]] = value if equals else options.pop(0)
    return Wrapped(command, **values) if command else None


def wrap(wrapped: Wrapped) -> int:
    """Run the server in our place and return its exit code. When a signal ended it, the same signal ends us."""
    if wrapped.link is None and wrapped.output is None and (link := os.environ.get(VARIABLE)):
        wrapped.link = link
    if wrapped.replay is not None:
        from .link import to_stderr
        from .own_player import player_of

        try:
            wrapped.play = player_of(wrapped.replay)
        except OSError as exc:
            to_stderr(str(exc))
            return USAGE
    if os.name == "posix":
        from .posix_session import run
    else:
        from .threaded_relay import run
    return run(wrapped)
