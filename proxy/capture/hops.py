"""Marks requests from one recorder of this machine to another, so that recorders that lead to each other are noticed.

A recorder holds a socket whose name has its port. Before a request goes to a port of this machine, it is asked whether
a recorder holds the socket for it; only then does the request get the header `x-turntape-hops` with the ports of the
recorders that it came through. A recorder takes the header off. So no API and no other program ever sees it, and it is
on no tape.
"""

import os
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from turntape.cassettes.whole_number import whole_number

HEADER = "x-turntape-hops"
_MOST = 100
"""How many hops and ports are kept."""
_FRESH = 0.05
"""Seconds: a recorder that has just started is noticed before a request has gone round many times."""


class Sign:
    """Shows the other recorders of this machine that a recorder has `port`, until `close`."""

    def __init__(self, port: int) -> None:
        self._socket: socket.socket | None = None
        self._path: str | None = None
        if not hasattr(socket, "AF_UNIX"):
            return  # on Windows, recorders do not know each other
        place = _place(port)
        made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            if isinstance(place, str) and not is_recorder(port):
                Path(place).unlink(missing_ok=True)  # of one that was killed
            made.bind(place)
        except OSError:
            made.close()  # another one has it, for the same port on another address
        else:
            self._socket = made
            self._path = place if isinstance(place, str) else None

    def close(self) -> None:
        """The port is closed. The second call has no effect."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
            if self._path is not None:
                with suppress(OSError):
                    os.unlink(self._path)  # noqa: PTH108 - a socket


def is_recorder(port: int) -> bool:
    """Whether a recorder listens on this port of this machine."""
    if not hasattr(socket, "AF_UNIX"):
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_place(port))
        except OSError:
            return False
    return True


class Recorders:
    """Which ports of this machine have a recorder, asked again after a while: a client may ask 1,000 times a second."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[int, tuple[float, bool]] = {}

    def have(self, port: int) -> bool:
        """Whether a recorder listens on this port, as of `_FRESH` seconds ago or later."""
        now = self._clock()
        known = self._known.get(port)
        if known is None or now - known[0] >= _FRESH:
            if len(self._known) >= _MOST:
                self._known.clear()
            known = self._known[port] = now, is_recorder(port)
        return known[1]


def hops_in(value: str) -> tuple[int, ...]:
    """The ports that a header names."""
    numbers = (whole_number(part.strip()) for part in value.split(",")[:_MOST])
    return tuple(number for number in numbers if number is not None)


def header(hops: tuple[int, ...], port: int) -> str:
    """The header of a request that came through these recorders, and now leaves the one on `port`."""
    return ", ".join(map(str, (*hops, port)))


def _place(port: int) -> str | bytes:
    """The name of the socket: on Linux in no folder, so that it is gone with its process, whoever runs it."""
    name = f"turntape-recorder-{port}"
    if sys.platform == "linux":
        return b"\0" + name.encode()
    from tempfile import gettempdir

    return str(Path(gettempdir()) / name)
