"""A socket has an inode as long as a process holds it, however Linux is asked."""

import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from turntape.proxy.layers import socket_inode
from turntape.proxy.layers.socket_inode import inode

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux says who holds a socket")

NO_SUCH = (("127.0.0.1", 1), ("127.0.0.1", 2))
type Prepare = Callable[[pytest.MonkeyPatch], None]


def refused(*_: object) -> int:
    raise OSError("not here")


def by_netlink(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_inode, "_TABLES", ())


def by_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a sandbox that has no netlink."""
    monkeypatch.setattr(socket_inode, "_asked", refused)


def by_table_without_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with a kernel that has netlink, but not for TCP: it finds no connection at all."""
    monkeypatch.setattr(socket_inode, "_asked", lambda *_: None)


def number(held: socket.socket) -> int:
    return int(Path(f"/proc/self/fd/{held.fileno()}").readlink().name.strip("socket:[]"))


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
@pytest.mark.parametrize("way", [by_netlink, by_table, by_table_without_the_module])
def test_a_socket_is_held_until_the_last_process_closes_it(
    way: Prepare, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    way(monkeypatch)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as server:
        client = socket.create_connection(server.getsockname()[:2])
        ours, peer = server.accept()
        with ours:
            assert inode(peer, ours.getsockname()) == number(client)
            client.shutdown(socket.SHUT_WR)
            second = os.dup(client.fileno())
            client.close()
            assert inode(peer, ours.getsockname())
            os.close(second)
            assert inode(peer, ours.getsockname()) == 0


def test_a_client_with_a_socket_for_both_versions_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of Java: its address is an IPv4 address within IPv6."""
    by_netlink(monkeypatch)
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_INET6) as client:
        client.connect(("::ffff:127.0.0.1", server.getsockname()[1]))
        ours, peer = server.accept()
        with ours:
            assert inode(peer, ours.getsockname()) == number(client)


@pytest.mark.parametrize("way", [by_netlink, by_table, by_table_without_the_module])
def test_a_connection_that_is_not_there_has_none(way: Prepare, monkeypatch: pytest.MonkeyPatch) -> None:
    way(monkeypatch)
    assert inode(*NO_SUCH) == 0


def test_without_any_source_nobody_holds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_inode, "_TABLES", ("/proc/net/nothing",))
    by_table(monkeypatch)
    assert inode(*NO_SUCH) == 0


def test_the_whole_table_is_not_read_for_one_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        ours, peer = server.accept()
        with ours:
            if socket_inode._asked(peer, ours.getsockname()) is None:
                pytest.skip("this kernel does not say it")
            monkeypatch.setattr(socket_inode, "_in_tables", lambda *_: pytest.fail("the table is read"))
            assert inode(peer, ours.getsockname()) == number(client)
            client.close()
            assert inode(peer, ours.getsockname()) == 0
