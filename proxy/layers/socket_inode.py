"""The inode of a TCP socket of this machine, which Linux knows as long as a process holds the socket.

The kernel looks up the one connection. Where it does not do that, as in some sandboxes, its table of all
connections is read, which takes milliseconds.
"""

import ipaddress
import socket
import struct
from pathlib import Path

# struct nlmsghdr, inet_diag_sockid and the others: sock_diag(7) and linux/inet_diag.h, read 2026-11-30.
_HEAD, _SOCK_DIAG, _BY_FAMILY, _REQUEST, _ERROR = struct.Struct("=IHHII"), 4, 20, 1, 2
_ASKED = struct.Struct("=BBBBI")
_ANY = (1 << 32) - 1
"""Of states and of cookies."""
_ANSWER = struct.Struct("=I")
_INODE = _HEAD.size + 4 + 48 + 16
"""Where the inode is in an answer: after the head, four bytes, the addresses and four numbers."""
_NOT_THERE = -2
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")

type Place = tuple[object, ...]
"""Address and port, and what else Python says of a socket's name."""


def inode(one: Place, other: Place) -> int:
    """The inode of the socket at `one` that is connected to `other`; 0 when no process of this machine holds it."""
    try:
        found = _asked(one, other)
        # A kernel that cannot do it answers as for a connection that there is not. So the other end is looked up too.
        if found is not None or _asked(other, one) is not None:
            return found or 0
    except (AttributeError, OSError, struct.error):
        pass
    return _in_tables(one, other)


def _asked(one: Place, other: Place) -> int | None:
    """The inode that the kernel names, 0 for none; None when it does not find the connection."""
    address, peer = (ipaddress.ip_address(str(place[0])).packed for place in (one, other))
    family = socket.AF_INET6 if len(address) > 4 else socket.AF_INET
    ports = int(str(one[1])).to_bytes(2) + int(str(other[1])).to_bytes(2)
    names = ports + address.ljust(16, b"\0") + peer.ljust(16, b"\0") + struct.pack("=III", 0, _ANY, _ANY)
    request = _ASKED.pack(family, socket.IPPROTO_TCP, 0, 0, _ANY) + names
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _SOCK_DIAG) as asking:
        asking.sendto(_HEAD.pack(_HEAD.size + len(request), _BY_FAMILY, _REQUEST, 1, 0) + request, (0, 0))
        answer = asking.recv(4096, socket.MSG_DONTWAIT)  # it is there when the request was sent
    if _HEAD.unpack_from(answer)[1] != _ERROR:
        return _ANSWER.unpack_from(answer, _INODE)[0]
    code: int = struct.unpack_from("=i", answer, _HEAD.size)[0]
    if code == _NOT_THERE:
        return None
    raise OSError(-code, "the kernel does not say who holds a socket")


def _in_tables(one: Place, other: Place) -> int:
    wanted = f": {_hex(one)} {_hex(other)} "
    for table in _TABLES:
        try:
            text = Path(table).read_text(encoding="ascii")
        except OSError:
            continue
        # Fields: sl local_address rem_address st tx:rx tr:tm retrnsmt uid timeout inode (proc(5), read 2026-11-22).
        _, found, rest = text.partition(wanted)  # there may be thousands of lines
        if found:
            return int(rest.split(maxsplit=7)[6])
    return 0


def _hex(place: Place) -> str:
    """An address as the table writes it: each four bytes as a number of this machine, in hexadecimal."""
    data = ipaddress.ip_address(str(place[0])).packed
    words = struct.unpack(f"={len(data) // 4}I", data)
    return "".join(f"{word:08X}" for word in words) + f":{int(str(place[1])):04X}"
