"""The names and addresses of this machine, and whether a host is one of them."""

import ipaddress
import socket
import struct
import sys
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path

CONTAINER_HOSTS = frozenset({"host.docker.internal", "gateway.docker.internal", "host.containers.internal"})
"""What containers call the machine that they run on. `.internal` is reserved, so nobody else can own these names."""
_SIOCGIFADDR = 0x8915
"""The request for the address of an interface, of `linux/sockios.h`."""


def is_loopback(host: str) -> bool:
    """True for `localhost`, names below it, and addresses of this machine alone, however they are spelled."""
    name = host.lower().removesuffix(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    found = address(name)
    return found is not None and (found.is_loopback or found.is_unspecified)


@lru_cache(1024)
def address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a host is, by the rules of the system's resolver; None for a name.

    `127.1`, `2130706433` and `0x7f.1` are addresses too; an IPv4 address within IPv6 is the IPv4 address.
    """
    name = host.strip("[]").partition("%")[0].removesuffix(".")
    try:
        found = ipaddress.ip_address(name)
    except ValueError:
        if not name[:1].isdigit():
            return None
        try:
            return ipaddress.IPv4Address(socket.inet_aton(name))
        except OSError:
            return None
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return mapped or found


@cache
def machine_names() -> frozenset[str]:
    """What this machine is called, in lower case, and what containers on it call it."""
    name = socket.gethostname().lower().removesuffix(".")
    return CONTAINER_HOSTS | ({name, f"{name.partition('.')[0]}.local"} if name else frozenset[str]())


def machine_addresses() -> tuple[str, ...]:
    """The addresses that others may reach this machine by; those of loopback are left out. Nothing is sent."""
    found: dict[str, None] = {}
    for family, far in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((far, 9))  # of a datagram socket: only a route is chosen
            found.setdefault(str(probe.getsockname()[0]))
    if sys.platform != "linux":  # on Linux the interfaces are read: a name server may be slow
        with suppress(OSError):
            for entry in socket.getaddrinfo(socket.gethostname(), None, type=socket.SOCK_STREAM):
                found.setdefault(str(entry[4][0]))
    for one in (*_interfaces(), *_interfaces_of_ipv6()):
        found.setdefault(one)
    reachable = {one: address(one) for one in found}
    return tuple(name for name, one in reachable.items() if one and not (one.is_loopback or one.is_link_local))


def _interfaces() -> list[str]:
    """The IPv4 address of each interface, on Linux."""
    if sys.platform != "linux":
        return []
    import fcntl

    found: list[str] = []
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            with suppress(OSError):  # an interface without an address
                answer = fcntl.ioctl(probe.fileno(), _SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
                found.append(socket.inet_ntoa(answer[20:24]))
    return found


def _interfaces_of_ipv6() -> list[str]:
    try:
        lines = Path("/proc/net/if_inet6").read_text().splitlines()
    except OSError:
        return []
    return [str(ipaddress.IPv6Address(int(line.split()[0], 16))) for line in lines]
