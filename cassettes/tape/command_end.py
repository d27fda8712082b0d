"""The line that says how the command of a recording ended: `turntape run` writes one when its command is over.

A recording that a command appends to has one for each command; the last one counts.
"""

from ..frozen import frozen
from .format import a_time, dumped, stamp
from .json_fields import Json, a_text, an_integer, an_object, optional

FIELD = "command_ended"
"""The kind of the line."""


@frozen
class CommandEnd:
    """How a recorded command ended."""

    at: float
    """When, in seconds since the epoch."""
    exit: int | None = None
    """The exit code; None when a signal ended it."""
    signal: str | None = None
    """The name of the signal that ended it, such as `SIGKILL`."""

    @property
    def failed(self) -> bool:
        """False for exit code 0."""
        return self.exit != 0


def command_end_line(end: CommandEnd) -> bytes:
    """The line of a command's end."""
    fields: Json = {"at": stamp(end.at), "exit": end.exit, "signal": end.signal}
    return dumped({FIELD: {key: value for key, value in fields.items() if value is not None}})


def read_command_end(line: Json) -> CommandEnd:
    """What such a line says. Raises ValueError, which names the field, where it breaks the format."""
    fields = an_object(line[FIELD], FIELD)
    end = CommandEnd(
        optional(fields, "at", a_time, 0.0),
        optional(fields, "exit", an_integer, None),
        optional(fields, "signal", a_text, None),
    )
    if end.exit is None and end.signal is None:
        raise ValueError(f"its {FIELD} has neither exit nor signal")
    return end
