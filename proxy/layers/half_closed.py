"""Whether a client that sends nothing more still reads: it has closed one direction of its connection, not both.

Both look the same on the wire. On Linux, a client on this machine is in the kernel's table of connections, with an
inode as long as a process holds the socket. Elsewhere the answer is no, and the client counts as gone.
"""

import ipaddress
import struct
import sys
from pathlib import Path

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LINUX = sys.platform == "linux"


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
