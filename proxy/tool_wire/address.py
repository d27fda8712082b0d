"""The address of a recorder: `unix:/path`, or `tcp:127.0.0.1:PORT:TOKEN` where there are no unix sockets.

A unix socket lies in a folder that only its owner can open. Any local user can connect to a port, so that a connection
to one must show the token.
"""

import os
import socket
from typing import NamedTuple, override

VARIABLE = "TURNTAPE_MCP_LINK"
"""The environment variable that holds the address, for clients that pass their environment on."""


class Address(NamedTuple):
    """Where a recorder listens: `path`, or `port` of 127.0.0.1 with its `token`."""

    path: str = ""
    port: int = 0
    token: str = ""

    @override
    def __str__(self) -> str:
        return f"unix:{self.path}" if self.path else f"tcp:127.0.0.1:{self.port}:{self.token}"

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Raises ValueError when `text` is not an address."""
        kind, _, rest = text.partition(":")
        if kind == "unix" and rest:
            return cls(path=rest)
        host, _, place = rest.partition(":")
        port, _, token = place.partition(":")
        if kind == "tcp" and host == "127.0.0.1" and port.isascii() and port.isdigit() and token:
            return cls(port=int(port), token=token)
        raise ValueError(f"{text!r} is not the address of a recorder, such as unix:/tmp/turntape-1/link")

    def connect(self) -> socket.socket:
        """A connected socket that does not block. Raises OSError when nobody listens."""
        family = socket.AF_UNIX if self.path else socket.AF_INET
        made = socket.socket(family, socket.SOCK_STREAM)
        try:
            made.settimeout(_PATIENCE)
            made.connect(self.path or ("127.0.0.1", self.port))
        except OSError:
            made.close()
            raise
        made.setblocking(False)
        return made


_PATIENCE = 0.2
"""Seconds; a loopback connection takes microseconds, whatever the recorder does."""
HAS_UNIX_SOCKETS = hasattr(socket, "AF_UNIX") and os.name == "posix"
