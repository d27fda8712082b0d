"""The recorder of a wrapper that belongs to no run: a process that outlives the wrapper and writes a cassette."""

import os
import socket
import sys


def start_recorder(output: str | None) -> socket.socket:
    """Start the process; returns our end of its link, which does not block. Raises OSError."""
    if os.name != "posix":
        raise OSError("on this system the wrapper needs `turntape record` and --link")
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-P", "-m", "turntape.proxy.tool_wire.recorder_process", *([output] if output else [])]
    files = (
        (os.POSIX_SPAWN_DUP2, theirs.fileno(), 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    )
    with theirs:
        try:
            # Its own session: a client that ends our process group must not end the recorder in the middle of a line.
            os.posix_spawn(command[0], command, os.environ, file_actions=files, setsid=True, setsigmask=())
        except NotImplementedError:  # the C library has no such flag
            os.posix_spawn(command[0], command, os.environ, file_actions=files, setsigmask=())
    ours.setblocking(False)
    return ours
