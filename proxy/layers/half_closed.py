"""Whether a client that sends nothing more still reads: it has closed one direction of its connection, not both.

Both look the same on the wire. On Linux, the socket of a client on this machine has an inode as long as a process holds
it. Elsewhere the answer is no, and the client counts as gone.
"""

import sys

from mitmproxy.connection import Connection, ConnectionState

from .resets import was_reset
from .socket_inode import inode

SOON, LATER = 0.05, 1.0
"""Seconds until it is looked at again whether a client still reads."""
_LINUX = sys.platform == "linux"


def client_still_reads(client: Connection) -> bool:
    """True when a client that sends nothing more waits for what is still coming."""
    if client.tls or was_reset(client) or client.state is ConnectionState.CLOSED:  # or by us, as when turntape stops
        return False
    there, here = client.peername, client.sockname
    return there is not None and here is not None and still_reads(there, here)


def passes_half_close(closed: Connection, client: Connection, other: Connection) -> bool:
    """True when the end of what `closed` sends, in a session of both directions, is passed to `other` alone.

    Otherwise the end of one direction ends both, as for a connection with TLS, which has no such state in practice.
    """
    may_read, may_send = closed.state & ConnectionState.CAN_WRITE, other.state & ConnectionState.CAN_READ
    if was_reset(closed) or closed.tls or not may_read or not may_send:
        return False
    return client_still_reads(client) if closed is client else not client.tls


def still_reads(client: tuple[object, ...], ours: tuple[object, ...]) -> bool:
    """True when a process of this machine holds the other end of the connection from `client` to `ours`."""
    return _LINUX and bool(inode(client, ours))
