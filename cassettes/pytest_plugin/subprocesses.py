"""Closes the network for processes that a test starts: they get a proxy that refuses everything.

Programs that follow the usual proxy variables fail at once, and the test's message names the host that they wanted. A
program that ignores these variables is not held.
"""

import os
import socket
import subprocess
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
_DIRECT = ("NO_PROXY", "no_proxy")
_REFUSAL = (
    b"HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
    b"turntape: the network is closed for processes of a test that replays; start them with env=turntape_environment\n"
)
_PATIENCE = 5.0


class _RefusingProxy:
    """Listens on a port of this machine, in one thread for the whole process, and refuses every request."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.wanted: Callable[[str], object] = len
        """Gets the `host:port` of each refused request."""
        threading.Thread(target=self._serve, name="turntape closed network", daemon=True).start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            threading.Thread(target=self._refuse, args=(connection,), daemon=True).start()

    def _refuse(self, connection: socket.socket) -> None:
        try:
            with connection:
                connection.settimeout(_PATIENCE)
                words = connection.recv(65536).partition(b"\r\n")[0].decode("latin-1").split()
                if len(words) > 1:
                    self.wanted(words[1].removeprefix("http://").partition("/")[0])
                connection.sendall(_REFUSAL)
        except OSError:
            return


_proxy: _RefusingProxy | None = None


def close_network(allowed: list[str], wanted: Callable[[str], object], undo: ExitStack) -> None:
    """Until `undo`, start processes without a network, except for this machine and the `allowed` hosts.

    `wanted` gets the `host:port` of each request that was refused, in another thread. A variable that the test itself
    gives to a process stays.
    """
    global _proxy
    _proxy = _proxy or _RefusingProxy()
    proxy = _proxy
    before, proxy.wanted = proxy.wanted, wanted
    undo.callback(setattr, proxy, "wanted", before)
    original: Any = subprocess.Popen.__init__

    def started(self: Any, *args: Any, **kwargs: Any) -> None:
        given: Mapping[Any, Any] | None = kwargs.get("env")
        if given is None or all(isinstance(name, str) for name in given):
            kwargs["env"] = closed_environment(given, proxy.port, allowed)
        original(self, *args, **kwargs)

    undo.callback(setattr, subprocess.Popen, "__init__", original)
    subprocess.Popen.__init__ = started


def closed_environment(given: Mapping[str, str] | None, port: int, allowed: list[str]) -> dict[str, str]:
    """The environment of a process whose requests go to a proxy at `port`; `given` as for `subprocess.Popen`."""
    environ = dict(os.environ if given is None else given)
    direct = ",".join(("localhost", "127.0.0.1", "::1", *allowed))
    wanted = {**dict.fromkeys(_PROXIES, f"http://127.0.0.1:{port}"), **dict.fromkeys(_DIRECT, direct)}
    for name, value in wanted.items():
        if name not in environ or environ[name] == os.environ.get(name):
            environ[name] = value
    return environ
