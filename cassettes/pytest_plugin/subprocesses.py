"""Closes the network for processes that a test starts in a replay, and notes where they connect in every mode.

Python and Node.js load a module of ours that refuses a connection (`closed_network`). Other programs get a proxy that
refuses everything: those that follow the usual proxy variables fail at once. A program that does neither, and
Python with `-I`, `-E` or `-S`, is not held. The test's message names the host that was wanted. Programs that are not
held, such as curl on this machine, are known by the URLs on their command line.
"""

import json
import os
import socket
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from ..apis.lookup import is_turn_path
from ..regex import regex
from .closed_network import VARIABLE
from .network import is_loopback

_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
_DIRECT = ("NO_PROXY", "no_proxy")
_REFUSAL = (
    b"HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
    b"turntape: the network is closed for processes of a test that replays; start them with env=turntape_environment\n"
)
_PATIENCE = 5.0
_ENV = 10
"""The place of `env` among the arguments of `subprocess.Popen`."""
_URL = regex(r"https?://[^\s'\"<>|;&()\[\]]+")


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


def report_from_fork(where: str) -> None:
    """In a process that a watched test has forked: `wanted` gets this `host:port` in the test's own process."""
    if _proxy is None:
        return
    # Not `socket.socket`: the test watches its connections, and some plugins of pytest replace it.
    with suppress(OSError), closing(socket.SocketType(socket.AF_INET, socket.SOCK_STREAM)) as line:
        line.settimeout(_PATIENCE)
        line.connect(("127.0.0.1", _proxy.port))
        line.sendall(f"CONNECT {where} HTTP/1.1\r\n\r\n".encode())
        line.recv(1)  # the answer comes after `wanted` was called


def watch_processes(
    wanted: Callable[[str], object],
    undo: ExitStack,
    *,
    closed: bool,
    allowed: Sequence[str] = (),
    apis: Sequence[str] = (),
) -> None:
    """Until `undo`, `wanted` gets the `host:port` of each connection of a process to another machine, or to one of
    `apis`, which are on this machine; it is called in another thread.

    `closed`: such a connection is refused, unless its host, or `host:port`, is `allowed`. A variable that the test
    itself gives to a process stays.
    """
    global _proxy
    _proxy = _proxy or _RefusingProxy()
    proxy = _proxy
    before, proxy.wanted = proxy.wanted, wanted
    undo.callback(setattr, proxy, "wanted", before)
    setting = json.dumps({"port": proxy.port, "closed": closed, "allowed": list(allowed), "refused": list(apis)})
    for name, value in _loading(os.environ, setting).items():
        undo.callback(_set, name, os.environ.get(name))
        os.environ[name] = value
    original: Any = subprocess.Popen.__init__

    def started(self: Any, *args: Any, **kwargs: Any) -> None:
        for where in _apis_named(kwargs.get("args", args[0] if args else ())):
            host = where.rpartition(":")[0]
            # What leaves this machine is refused by the proxy, which then says so.
            if not closed or (is_loopback(host) and not {host, where}.intersection(allowed)):
                wanted(where)
        by_place = len(args) > _ENV
        given: Mapping[Any, Any] | None = args[_ENV] if by_place else kwargs.get("env")
        if given is None or all(isinstance(name, str) for name in given):
            environ = dict(os.environ if given is None else given)
            environ |= _loading(environ, setting)
            environ = closed_environment(environ, proxy.port, allowed) if closed else environ
            if by_place:
                args = (*args[:_ENV], environ, *args[_ENV + 1 :])
            else:
                kwargs["env"] = environ
        original(self, *args, **kwargs)

    undo.callback(setattr, subprocess.Popen, "__init__", original)
    subprocess.Popen.__init__ = started


def _apis_named(command: object) -> list[str]:
    """The `host:port` of each generation endpoint in the words of a command."""
    words = cast("Sequence[object]", command) if isinstance(command, list | tuple) else (command,)
    found: list[str] = []
    for word in words:
        text = os.fsdecode(word) if isinstance(word, str | bytes) else ""
        for url in map(urlsplit, _URL.findall(text)):
            if url.hostname and is_turn_path(url.path.rstrip("/")):
                found.append(f"{url.hostname}:{_port(url.netloc) or (443 if url.scheme == 'https' else 80)}")
    return found


def _port(place: str) -> str:
    digits = place.rpartition(":")[2]
    return digits if digits.isdigit() else ""


def _set(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def _loading(environ: Mapping[str, str], setting: str) -> dict[str, str]:
    """The variables with which Python and Node.js load our modules; what `environ` has of them stays."""
    folder = Path(__file__).parent / "closed_network"
    paths = [path for path in environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != str(folder)]
    required, options = f'--require "{(folder / "closed_network.cjs").as_posix()}"', environ.get("NODE_OPTIONS", "")
    return {
        VARIABLE: setting,
        "PYTHONPATH": os.pathsep.join((str(folder), *paths)),
        "NODE_OPTIONS": options if required in options else f"{options} {required}".strip(),
    }


def closed_environment(given: Mapping[str, str], port: int, allowed: Sequence[str]) -> dict[str, str]:
    """The environment of a process whose requests go to a proxy at `port`."""
    environ = dict(given)
    direct = ",".join(("localhost", "127.0.0.1", "::1", *(name.partition(":")[0] for name in allowed)))
    wanted = {**dict.fromkeys(_PROXIES, f"http://127.0.0.1:{port}"), **dict.fromkeys(_DIRECT, direct)}
    for name, value in wanted.items():
        if name not in environ or environ[name] == os.environ.get(name):
            environ[name] = value
    return environ
