"""A client that has closed one direction still reads; one that has closed its socket does not."""

import socket
import sys

import pytest

from turntape.proxy.layers import half_closed
from turntape.proxy.layers.half_closed import still_reads


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says who holds a socket")
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_socket_is_held_until_it_is_closed(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as server:
        client = socket.create_connection(server.getsockname()[:2])
        ours, peer = server.accept()
        with ours:
            client.shutdown(socket.SHUT_WR)
            assert ours.recv(1) == b""
            assert still_reads(peer, ours.getsockname())
            client.close()
            assert not still_reads(peer, ours.getsockname())


def test_elsewhere_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(half_closed, "_LINUX", False)
    assert not still_reads(("127.0.0.1", 1), ("127.0.0.1", 2))


def test_a_client_of_another_machine_is_not_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not still_reads(("192.0.2.1", 1), ("192.0.2.2", 2))
    monkeypatch.setattr(half_closed, "_TABLES", ("/proc/net/nothing",))
    assert not still_reads(("127.0.0.1", 1), ("127.0.0.1", 2))
