"""Addresses of this machine where nothing listens and of which nothing is recorded.

In a replay a request to one is sent on. The network refuses it, and the client raises the error that it raises without
a cassette: a test may be about that.
"""

import errno
import socket
from collections.abc import Iterator

from ..routes.own_addresses import address, is_loopback
from .recorded_places import RecordedPlaces

_PATIENCE = 2.5
"""Seconds. Some systems try again before they refuse a connection."""
_LOCALHOST = ("127.0.0.1", "::1")


def is_empty(places: RecordedPlaces, host: str, port: int | None, path: str, *, of_any_host: bool = True) -> bool:
    """True when nothing listens at this address of this machine, and no recording is of it. With `of_any_host`, a
    recording of the same endpoint at another address may answer too."""
    if not is_loopback(host) or places.may_answer(port, path, of_any_host=of_any_host):
        return False
    ports = (port,) if port else (80, 443)
    return all(_refuses(one, at) for one in _addresses(host) for at in ports)


def _addresses(host: str) -> Iterator[str]:
    found = address(host)
    yield from _LOCALHOST if found is None else (str(found),)


def _refuses(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        # Not `socket.socket`: a replay watches its connections, and some plugins of pytest replace it.
        with_address = socket.SocketType(family, socket.SOCK_STREAM)
    except OSError:  # a system without this family
        return True
    try:
        with_address.settimeout(_PATIENCE)
        with_address.connect((host, port))
    except OSError as exc:
        return exc.errno in (errno.ECONNREFUSED, errno.EADDRNOTAVAIL, errno.ENETUNREACH)
    finally:
        with_address.close()
    return False


def refusal(addresses: list[str]) -> str:
    """What a failed test says of requests to these."""
    asked = " and ".join(dict.fromkeys(addresses))
    return (
        f"nothing is recorded of {asked}, and nothing listens there: the network refused the request; to record it, "
        "start the server and add --turntape-mode=new"
    )
