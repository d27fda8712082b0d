"""Blocks the network during a test: a connection to another machine is refused unless its host is allowed.

While a test is recorded, connections are only noted.
"""

import ipaddress
import socket
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from typing import Any

from ..errors import NetworkBlocked
from ..transports.curl_handles import watch_curl


def is_loopback(host: object) -> bool:
    """True for this machine: loopback addresses, the unspecified addresses `0.0.0.0` and `::`, and `localhost`."""
    if host is None or host in ("", b"", "localhost", b"localhost"):
        return True
    text = host.decode("latin-1") if isinstance(host, bytes) else str(host)
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return text.lower().endswith(".localhost")
    return address.is_loopback or address.is_unspecified


class Network:
    """`with Network(("api.example.com",)):` Hosts may have a port: `example.com:8080`.

    With `blocks=False`, every connection is made, and `reached` has it. The error says in which tests the network is
    blocked (`of`), and what allows a host (`to_allow`, with `{!r}` for the host).
    """

    def __init__(
        self,
        allowed: Iterable[str] = (),
        *,
        blocks: bool = True,
        of: str = "tests marked turntape",
        to_allow: str = "@pytest.mark.turntape(allow=[{!r}])",
    ) -> None:
        self.blocks = blocks
        self._of, self._to_allow = of, to_allow
        self._allowed = {name.lower() for name in allowed}
        self._addresses: set[str] = set()
        """The addresses of the allowed names."""
        self.blocked: list[str] = []
        """The refused connections, in order."""
        self.reached: list[str] = []
        """Connections that were made or refused, as `host:port`."""
        self._undo = ExitStack()

    def allow(self, host: str) -> None:
        """Let connections to this host pass from now on."""
        self._allowed.add(host.lower())

    def allows(self, host: object, port: object = None) -> bool:
        """True when the user has allowed this host, or this host and port."""
        text = (host.decode("latin-1") if isinstance(host, bytes) else str(host)).lower()
        return "*" in self._allowed or text in self._allowed or f"{text}:{port}" in self._allowed

    def _check(self, host: object, port: object) -> None:
        text = host.decode("latin-1") if isinstance(host, bytes) else str(host)
        where = f"{text}:{port}" if port else text
        if str(host) in self._addresses or self.allows(host, port):
            return
        self.reached.append(where)
        if is_loopback(host) or not self.blocks:
            return
        self.blocked.append(where)
        raise NetworkBlocked(
            f"the test connects to {where}, and the network is blocked in {self._of}; clients of httpx, "
            "httpx2, aiohttp, requests, urllib3, urllib and boto3 are replayed automatically, other clients with the "
            f"fixture turntape_server; to allow it: {self._to_allow.format(text)}"
        )

    def __enter__(self) -> "Network":
        connect: Any = socket.socket.connect
        connect_ex: Any = socket.socket.connect_ex
        resolve: Any = socket.getaddrinfo

        def checked(sock: socket.socket, address: Any) -> None:
            if sock.family not in (socket.AF_INET, socket.AF_INET6):
                return
            try:
                self._check(address[0], address[1])
            except NetworkBlocked:
                sock.close()  # the caller closes it for an OSError only, and this is none, or it would be retried
                raise

        def guarded_connect(sock: socket.socket, address: Any) -> Any:
            checked(sock, address)
            return connect(sock, address)

        def guarded_connect_ex(sock: socket.socket, address: Any) -> Any:
            checked(sock, address)
            return connect_ex(sock, address)

        def guarded_resolve(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
            is_address = False
            with suppress(ValueError):
                ipaddress.ip_address(host.decode() if isinstance(host, bytes) else str(host).partition("%")[0])
                is_address = True
            if not is_address:  # an address is checked when it is connected to
                self._check(host, port)
            found = resolve(host, port, *args, **kwargs)
            if self.blocks and not is_address and not is_loopback(host):
                self._addresses.update(str(entry[4][0]) for entry in found)
            return found

        with ExitStack() as undo:
            _set(undo, socket.socket, "connect", guarded_connect)
            _set(undo, socket.socket, "connect_ex", guarded_connect_ex)
            _set(undo, socket, "getaddrinfo", guarded_resolve)
            watch_curl(self._check, undo)
            self._undo = undo.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()


def _set(undo: ExitStack, owner: Any, name: str, value: object) -> None:
    """Set an attribute, and restore it at the end, also an inherited one."""
    if name in vars(owner):
        undo.callback(setattr, owner, name, getattr(owner, name))
    else:
        undo.callback(delattr, owner, name)
    setattr(owner, name, value)
