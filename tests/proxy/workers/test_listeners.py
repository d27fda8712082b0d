"""One port for several processes, which no other program shares."""

import socket
import sys

import pytest

from turntape.proxy.workers.listeners import listeners


def closed(opened: list[list[socket.socket]]) -> None:
    for sockets in opened:
        for one in sockets:
            one.close()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere all share one socket")
def test_each_worker_has_its_own_socket_on_the_same_port() -> None:
    opened = listeners("127.0.0.1", 0, 3)

    ports = {one.getsockname() for sockets in opened for one in sockets}
    numbers = {one.fileno() for sockets in opened for one in sockets}
    closed(opened)

    assert len(ports) == 1 and len(numbers) == 3


def test_a_port_that_is_taken_is_not_shared() -> None:
    first = listeners("127.0.0.1", 0, 2)
    port = first[0][0].getsockname()[1]

    with pytest.raises(OSError, match="in use"):
        closed(listeners("127.0.0.1", port, 2))

    closed(first)
    closed(listeners("127.0.0.1", port, 2))
