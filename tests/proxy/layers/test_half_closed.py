"""A client that has closed one direction still reads; one that has closed its socket does not."""

import socket
import sys

import pytest
from mitmproxy.connection import Client, ConnectionState, Server

from turntape.proxy.layers import half_closed
from turntape.proxy.layers.half_closed import client_still_reads, passes_half_close, still_reads
from turntape.proxy.layers.resets import note_reset


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


def session() -> tuple[Client, Server]:
    client = Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2), state=ConnectionState.OPEN)
    server = Server(address=("127.0.0.1", 3))
    server.state = ConnectionState.OPEN
    return client, server


@pytest.mark.parametrize("reads", [True, False])
def test_the_end_of_what_a_client_sends_is_passed_on_when_it_still_reads(
    reads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, server = session()
    monkeypatch.setattr(half_closed, "still_reads", lambda *place: reads)
    client.state = ConnectionState.CAN_WRITE

    assert passes_half_close(client, client, server) is reads


def test_the_end_of_what_a_server_sends_is_passed_on_but_not_over_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    client, server = session()
    monkeypatch.setattr(half_closed, "still_reads", lambda *place: pytest.fail("nobody asks for a server"))
    server.state = ConnectionState.CAN_WRITE

    assert passes_half_close(server, client, client)
    for one in (client, server):
        one.tls = True
        assert not passes_half_close(server, client, client)
        one.tls = False


@pytest.mark.parametrize("state", [ConnectionState.CAN_READ, ConnectionState.CLOSED])
def test_a_side_to_which_nothing_can_be_sent_ends_both_directions(state: ConnectionState) -> None:
    client, server = session()
    server.state = state
    assert not passes_half_close(server, client, client)


def test_nobody_asks_who_holds_the_socket_of_a_client_that_reset_it(monkeypatch: pytest.MonkeyPatch) -> None:
    client, _ = session()
    monkeypatch.setattr(half_closed, "still_reads", lambda *place: pytest.fail("it is gone"))
    note_reset(client)
    assert not client_still_reads(client)


def test_a_reset_and_the_end_of_the_second_direction_end_both() -> None:
    client, server = session()
    server.state = ConnectionState.CAN_WRITE
    client.state = ConnectionState.CAN_WRITE
    assert not passes_half_close(server, client, client)
    client.state = ConnectionState.OPEN
    note_reset(server)
    assert not passes_half_close(server, client, client)
