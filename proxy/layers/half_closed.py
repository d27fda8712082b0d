"""Whether a client that sends nothing more still reads: it has closed one direction of its connection, not both.

Both look the same on the wire. On Linux, a client on this machine is in the kernel's table of connections, with an
inode as long as a process holds the socket. Elsewhere the answer is no, and the client counts as gone.
"""

import ipaddress
import struct
import sys
from pathlib import Path

from mitmproxy.connection import Connection, ConnectionState

from .resets import was_reset

SOON, LATER = 0.05, 1.0
"""Seconds until it is looked at again whether a client still reads."""
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LINUX = sys.platform == "linux"


def client_still_reads(client: Connection) -> bool:
    """True when a client that sends nothing more waits for what is still coming."""
    if client.tls or client.state is ConnectionState.CLOSED:  # closed by us, as when turntape stops
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
    if not _LINUX:
        return False
    wanted = f": {_hex(client)} {_hex(ours)} "
    for table in _TABLES:
        try:
            text = Path(table).read_text(encoding="ascii")
        except OSError:
            continue
        # Fields: sl local_address rem_address st tx:rx tr:tm retrnsmt uid timeout inode (proc(5), read 2026-11-22).
        _, found, rest = text.partition(wanted)  # there may be thousands of lines
        if found:
            return rest.split(maxsplit=7)[6] != "0"
    return False


def _hex(place: tuple[object, ...]) -> str:
    """An address as the table writes it: each four bytes as a number of this machine, in hexadecimal."""
    data = ipaddress.ip_address(str(place[0])).packed
    words = struct.unpack(f"={len(data) // 4}I", data)
    return "".join(f"{word:08X}" for word in words) + f":{int(str(place[1])):04X}"
