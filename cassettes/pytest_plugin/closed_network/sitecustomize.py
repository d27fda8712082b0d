"""Runs when a Python process starts whose PYTHONPATH begins with this folder: notes or refuses its connections."""

import importlib
import json
import os
import socket
import sys
from typing import Any

SENTENCE = (
    "turntape: the network is closed for processes of a test that replays, and this one connects to {}; start it with "
    "env=turntape_environment"
)


def is_here(host: str) -> bool:
    """True for this machine."""
    return host in ("", "::1", "::", "0.0.0.0", "localhost") or host.startswith("127.") or host.endswith(".localhost")


def close(setting: dict[str, Any]) -> None:
    """Note or refuse the connections of this process."""
    connect: Any = socket.socket.connect
    connect_ex: Any = socket.socket.connect_ex
    resolve: Any = socket.getaddrinfo
    addresses: set[str] = set()

    def report(where: str) -> None:
        try:
            with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as line:
                line.settimeout(2)
                connect(line, ("127.0.0.1", setting["port"]))
                line.sendall(f"CONNECT {where} HTTP/1.1\r\n\r\n".encode())
                line.recv(1)
        except OSError:
            return

    def check(host: object, port: object) -> None:
        name = host.decode("latin-1") if isinstance(host, bytes) else str(host or "")
        where = f"{name}:{port}"
        if name in addresses or name in setting["allowed"] or where in setting["allowed"] or "*" in setting["allowed"]:
            return
        if is_here(name) and where not in setting["refused"]:
            return
        report(where)
        if setting["closed"]:
            raise ConnectionRefusedError(SENTENCE.format(where))

    def address_of(sock: socket.socket, address: Any) -> None:
        if sock.family in (socket.AF_INET, socket.AF_INET6):
            check(address[0], address[1])

    def closed_connect(sock: socket.socket, address: Any) -> Any:
        address_of(sock, address)
        return connect(sock, address)

    def closed_connect_ex(sock: socket.socket, address: Any) -> Any:
        address_of(sock, address)
        return connect_ex(sock, address)

    def closed_resolve(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        check(host, port)
        found = resolve(host, port, *args, **kwargs)
        name = host.decode("latin-1") if isinstance(host, bytes) else str(host or "")
        if not is_here(name):
            addresses.update(str(entry[4][0]) for entry in found)
        return found

    # `socket.socket` inherits these; setting them on the class itself is what `del` would undo.
    socket.socket.connect = closed_connect
    socket.socket.connect_ex = closed_connect_ex
    socket.getaddrinfo = closed_resolve


def next_sitecustomize() -> None:
    """Run the module of this name that ours has hidden."""
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - nothing more is imported than must be
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder or ".") != here]  # noqa: PTH100
    ours = sys.modules.pop("sitecustomize")
    try:
        importlib.import_module("sitecustomize")
    except ModuleNotFoundError as missing:
        sys.modules["sitecustomize"] = ours  # the import that is under way needs it
        if missing.name != "sitecustomize":
            raise


if __name__ == "sitecustomize":
    if given := os.environ.get("TURNTAPE_CLOSED_NETWORK"):
        close(json.loads(given))
    next_sitecustomize()
