"""The names and addresses of this machine."""

import socket

import pytest

from turntape.cassettes.routes import own_addresses
from turntape.cassettes.routes.own_addresses import address, is_loopback, machine_addresses, machine_names


@pytest.mark.parametrize(
    ("host", "ours"),
    [
        ("localhost", True),
        ("LocalHost.", True),
        ("agent.localhost", True),
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("127.1", True),
        ("2130706433", True),
        ("0.0.0.0", True),
        ("::1", True),
        ("[::1]", True),
        ("::", True),
        ("10.1", False),
        ("192.0.2.1", False),
        ("localhost.example.com", False),
        ("127.example.com", False),
        ("deadbeef", False),
        ("", False),
    ],
)
def test_a_loopback_host_is_known_in_every_spelling(host: str, ours: bool) -> None:
    assert is_loopback(host) is ours


@pytest.mark.parametrize(
    ("host", "found"),
    [
        ("10.1", "10.0.0.1"),
        ("0x7f.1", "127.0.0.1"),
        ("[::ffff:10.0.0.1]", "10.0.0.1"),
        ("fe80::1%eth0", "fe80::1"),
        ("a.example", "None"),
        ("deadbeef", "None"),
        ("1.2.3.4.5", "None"),
        ("", "None"),
    ],
)
def test_an_address_is_read_as_the_system_reads_it(host: str, found: str) -> None:
    assert str(address(host)) == found


def test_this_machine_is_known_by_its_name_and_by_what_containers_call_it(monkeypatch: pytest.MonkeyPatch) -> None:
    machine_names.cache_clear()
    monkeypatch.setattr(socket, "gethostname", lambda: "PC.Example.org")
    names = machine_names()
    machine_names.cache_clear()

    assert {"pc.example.org", "pc.local", "host.docker.internal"} <= names
    assert "example.org" not in names


def test_addresses_for_others_are_neither_loopback_nor_of_the_link(monkeypatch: pytest.MonkeyPatch) -> None:
    interfaces = ["127.0.0.1", "10.0.0.5", "169.254.1.1", "10.0.0.5"]
    monkeypatch.setattr(own_addresses, "_interfaces", lambda: interfaces)
    monkeypatch.setattr(own_addresses, "_interfaces_of_ipv6", lambda: ["::1", "fe80::1%eth0", "2001:db8::5"])

    found = machine_addresses()

    assert [one for one in found if one in ("10.0.0.5", "2001:db8::5")] == ["10.0.0.5", "2001:db8::5"]
    for one in map(address, found):
        assert one is not None and not one.is_loopback and not one.is_link_local
