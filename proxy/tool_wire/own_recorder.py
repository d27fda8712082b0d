"""The recorder of a wrapper that belongs to no run: a process that outlives the wrapper and writes a cassette."""

import os
import socket

from .own_process import start_own_process


def start_recorder(output: str | None) -> socket.socket:
    """Start the process; returns our end of its link, which does not block. Raises OSError."""
    if os.name != "posix":
        raise OSError("on this system the wrapper needs `turntape record` and --link")
    ours, theirs = socket.socketpair()
    files = (
        (os.POSIX_SPAWN_DUP2, theirs.fileno(), 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    )
    with theirs:
        start_own_process("turntape.proxy.tool_wire.recorder_process", [output] if output else [], files)
    ours.setblocking(False)
    return ours
