"""The network is blocked during a test but for this machine and what is allowed, and is as before afterwards."""

import socket
from typing import Any

import pytest

from turntape.cassettes.errors import NetworkBlocked
from turntape.cassettes.pytest_plugin.network import Network, is_loopback

ELSEWHERE = "192.0.2.7"
"""An address for documentation (RFC 5737), behind which there is no machine."""


@pytest.fixture(autouse=True)
def made(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The connections and look-ups that pass. No test needs a network."""
    passed: list[object] = []

    def connect(sock: socket.socket, address: Any) -> int:
        passed.append(address)
        return 0

    def resolve(host: Any, port: Any, *args: Any, **kwargs: Any) -> list[Any]:
        passed.append((host, port))
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ELSEWHERE, port))]

    monkeypatch.setattr(socket.socket, "connect", connect, raising=False)
    monkeypatch.setattr(socket.socket, "connect_ex", connect, raising=False)
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return passed


def connect(host: str, port: int = 443, how: str = "connect") -> None:
    with socket.socket() as sock:
        getattr(sock, how)((host, port))


@pytest.mark.parametrize(
    "host", [None, "", b"", "localhost", b"localhost", "a.localhost", "A.LOCALHOST", "127.0.0.1", "127.8.0.1", "::1",
             "0.0.0.0", "::", b"127.0.0.1", "::1%lo"],
)  # fmt: skip
def test_these_are_this_machine(host: object) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["example.com", "localhost.example.com", "10.0.0.1", "192.0.2.7", "fe80::1%eth0", b"a"]
)
def test_these_are_other_machines(host: object) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize("how", ["connect", "connect_ex"])
def test_a_connection_to_another_machine_is_refused_and_said_where_to_allow_it(how: str, made: list[object]) -> None:
    with Network() as network, socket.socket() as sock:
        with pytest.raises(NetworkBlocked) as refused:
            getattr(sock, how)((ELSEWHERE, 443))
        assert sock.fileno() == -1, "it is closed"

    assert "connects to 192.0.2.7:443, and the network is blocked in tests marked turntape" in str(refused.value)
    assert str(refused.value).endswith("to allow it: @pytest.mark.turntape(allow=['192.0.2.7'])")
    assert (network.blocked, network.reached, made) == (["192.0.2.7:443"], ["192.0.2.7:443"], [])


def test_the_words_of_another_plugin_are_its_own() -> None:
    with Network(of="this room", to_allow="say {!r}"), pytest.raises(NetworkBlocked, match="in this room; .*say '192"):
        connect(ELSEWHERE)


def test_a_name_is_refused_before_it_is_looked_up(made: list[object]) -> None:
    with Network() as network:
        for host in ("example.com", b"example.com"):
            with pytest.raises(NetworkBlocked):
                socket.getaddrinfo(host, 80)

    assert (network.blocked, made) == (["example.com:80"] * 2, [])


def test_an_address_is_looked_up_without_a_connection(made: list[object]) -> None:
    with Network() as network:
        socket.getaddrinfo(ELSEWHERE, 80)
        socket.getaddrinfo("fe80::1%eth0", 80)

    assert (network.reached, len(made)) == ([], 2)


def test_this_machine_is_noted_and_reached(made: list[object]) -> None:
    with Network() as network:
        connect("127.0.0.1", 8080)
        socket.getaddrinfo("localhost", 0)

    assert (network.reached, network.blocked) == (["127.0.0.1:8080", "localhost"], [])
    assert made == [("127.0.0.1", 8080), ("localhost", 0)]


@pytest.mark.parametrize(
    ("allowed", "port", "passes"),
    [("Example.com", 443, True), ("example.com:443", 443, True), ("example.com:443", 80, False), ("*", 80, True),
     ("example.org", 443, False), ("com", 443, False)],
)  # fmt: skip
def test_a_host_is_allowed_with_or_without_its_port(allowed: str, port: int, passes: bool) -> None:
    with Network((allowed,)) as network:
        if passes:
            socket.getaddrinfo("EXAMPLE.com", port)
        else:
            with pytest.raises(NetworkBlocked):
                socket.getaddrinfo("EXAMPLE.com", port)

    assert (network.reached == []) is passes and network.allows(b"example.com", port) is passes


def test_the_addresses_of_an_allowed_name_are_allowed_too() -> None:
    with Network(("example.com",)) as network:
        with pytest.raises(NetworkBlocked):
            connect(ELSEWHERE)
        socket.getaddrinfo("example.com", 443)
        connect(ELSEWHERE)

    assert network.blocked == ["192.0.2.7:443"]


def test_a_name_of_this_machine_allows_no_other_address() -> None:
    with Network() as network:
        socket.getaddrinfo("localhost", 80)
        with pytest.raises(NetworkBlocked):
            connect(ELSEWHERE)

    assert network.blocked


def test_a_host_may_be_allowed_later() -> None:
    with Network() as network:
        network.allow("EXAMPLE.com")
        socket.getaddrinfo("example.com", 443)

    assert network.reached == []


def test_while_a_test_is_recorded_connections_are_only_noted(made: list[object]) -> None:
    with Network(blocks=False) as network:
        socket.getaddrinfo("example.com", 443)
        connect(ELSEWHERE)

    assert network.reached == ["example.com:443", "192.0.2.7:443"] and network.blocked == [] and len(made) == 2


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="this system has no sockets in the file system")
def test_sockets_of_this_machine_without_an_address_pass(made: list[object]) -> None:
    with Network() as network, socket.socket(socket.AF_UNIX) as sock:
        sock.connect("/tmp/no-such-socket")

    assert (network.reached, made) == ([], ["/tmp/no-such-socket"])


def test_everything_is_as_before_afterwards() -> None:
    names = [(socket.socket, "connect"), (socket.socket, "connect_ex"), (socket, "getaddrinfo")]
    before = [(name in vars(owner), getattr(owner, name)) for owner, name in names]
    with Network():
        assert all(getattr(owner, name) is not was for (owner, name), (_, was) in zip(names, before, strict=True))

    assert [(name in vars(owner), getattr(owner, name)) for owner, name in names] == before
