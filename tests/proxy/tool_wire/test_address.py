"""The address of a recorder as text."""

import socket

import pytest

from turntape.proxy.tool_wire.address import Address


@pytest.mark.parametrize("address", [Address(path="/tmp/a:b/link"), Address(port=4711, token="t0k")])
def test_an_address_is_read_back_from_its_text(address: Address) -> None:
    assert Address.parse(str(address)) == address


@pytest.mark.parametrize(
    "text", ["", "unix:", "/tmp/link", "tcp:127.0.0.1:80", "tcp:10.0.0.1:80:t", "tcp:127.0.0.1:x:t", "udp:1"]
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not the address of a recorder, such as unix:"):
        Address.parse(text)


def test_a_connection_to_a_port_does_not_block() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        connected = Address(port=server.getsockname()[1], token="t").connect()

        with connected, pytest.raises(BlockingIOError):
            connected.recv(1)


def test_nobody_there_is_an_error() -> None:
    with pytest.raises(OSError):
        Address(path="/nowhere/link").connect()
