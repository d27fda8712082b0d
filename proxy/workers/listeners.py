"""The sockets of one port, for each process that has the proxy.

The process that starts the workers keeps all of them open. So connections that come while a worker is started again
wait in the backlog, and none is refused.
"""

import socket
import sys

_BACKLOG = 2048


def listeners(host: str, port: int, count: int) -> list[list[socket.socket]]:
    """The sockets that listen on each address of `host`, for each of `count` processes; port 0 is any free port.

    On Linux each of several has its own sockets, and the kernel spreads the connections over them. Elsewhere all share
    the same. Raises OSError when the port is taken, also by a process whose own sockets would share it.
    """
    opened: list[list[socket.socket]] = [[] for _ in range(count)]
    spread = sys.platform == "linux" and count > 1
    try:
        for family, address in _addresses(host, port):
            probe = _listening(family, (address, port), shared=False)
            port = probe.getsockname()[1]
            if spread:
                probe.close()
            one = None if spread else probe
            for sockets in opened:
                sockets.append(one or _listening(family, (address, port), shared=True))
    except BaseException:
        for sockets in opened:
            for each in sockets:
                each.close()
        raise
    return opened


def _addresses(host: str, port: int) -> list[tuple[socket.AddressFamily, str]]:
    found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return list(dict.fromkeys((family, str(place[0])) for family, *_, place in found))


def _listening(family: socket.AddressFamily, place: tuple[str, int], *, shared: bool) -> socket.socket:
    # The socket names TCP explicitly; otherwise asyncio keeps Nagle's algorithm, and each answer waits 40 ms.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind(place)
        made.listen(_BACKLOG)
    except BaseException:
        made.close()
        raise
    return made
