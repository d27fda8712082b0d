"""An upstream that resets its connection resets that of its client, in place of a close in order.

asyncio reports a reset as an error of the read, and mitmproxy takes it for the end.
"""

import asyncio
import os
import socket
import struct

from mitmproxy.connection import Connection

_RESET = "turntape_reset"
_AT_ONCE = struct.pack("hh" if os.name == "nt" else "ii", 1, 0)
"""SO_LINGER with no time: closing sends a reset."""


def note_reset(connection: Connection, why: str = "the server reset the connection") -> None:
    """This connection was reset by its peer, or is to be reset when it is closed."""
    setattr(connection, _RESET, why)


def was_reset(connection: Connection) -> bool:
    """True when `note_reset` was called."""
    return reset_words(connection) is not None


def reset_words(connection: Connection) -> str | None:
    """Why this connection was reset, in one sentence; None when it was not."""
    return getattr(connection, _RESET, None)


def reset(writer: asyncio.StreamWriter) -> None:
    """Let a connection end with a reset, unless something still waits to be sent: that would be lost."""
    sock: socket.socket | None = writer.get_extra_info("socket")
    if sock is not None and not writer.transport.get_write_buffer_size() and not _on_the_way(sock):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)


def _on_the_way(sock: socket.socket) -> bool:
    """Whether the system still holds bytes that the peer has not taken; False where it does not say."""
    try:
        import fcntl
        import termios

        count = fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, b"\0" * 4)
    except (ImportError, OSError):
        return False
    return count != b"\0" * 4
