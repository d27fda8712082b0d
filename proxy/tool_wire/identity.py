"""What a wrapper says about its server when it connects to a recorder."""

import json
import os
from collections.abc import Sequence
from typing import TypedDict

from .server_name import server_name

VERSION = 1
"""The version of the link's frames."""


class StartFields(TypedDict):
    """The JSON object of a `START` frame."""

    version: int
    name: str
    """The server's name on the tape."""
    command: list[str]
    cwd: str | None
    pid: int | None
    """None when the server could not be started."""
    run: str | None
    token: str
    """What the address asks for; empty for a unix socket."""


class EndFields(TypedDict):
    """The JSON object of an `END` frame."""

    exit: int | None
    signal: str | None
    closed_first: str | None
    """`client` or `server`; None when neither stream had ended."""


def start_fields(command: Sequence[str], name: str | None, run: str | None, pid: int | None, token: str) -> bytes:
    """A `START` frame's payload."""
    try:
        cwd = os.getcwd()  # noqa: PTH109 - pathlib takes time to import
    except OSError:  # it was removed
        cwd = None
    fields = StartFields(
        version=VERSION,
        name=name or server_name(command),
        command=list(command),
        cwd=cwd,
        pid=pid,
        run=run,
        token=token,
    )
    return json.dumps(fields).encode()


def end_fields(exit_code: int | None, signal: str | None, closed_first: str | None) -> bytes:
    """An `END` frame's payload."""
    return json.dumps(EndFields(exit=exit_code, signal=signal, closed_first=closed_first)).encode()
