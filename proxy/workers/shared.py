"""What the workers of one recording know of each other: a small file that all of them have in memory.

Each number is written by one process alone, and read by the others as it is.
"""

import base64
import mmap
import os
import pickle
from pathlib import Path
from tempfile import TemporaryFile
from typing import override

from turntape.cassettes.routes.upstreams import Location

from ..capture.named_places import NamedPlaces
from ..capture.own_connections import OwnConnections, Place

_NUMBERS = 5
_WORD = 8
_PORTS = 1 << 16
_TABLE = 256 * _NUMBERS * _WORD
"""Where the table of ports begins: there is room for the numbers of 255 workers."""
_PATH = _TABLE + _PORTS
"""Where the path of the file begins, which ends with a zero."""
_LONGEST_PATH = 1 << 13
_SIZE = _PATH + _LONGEST_PATH


PENDING, ENDLESS, STREAMS, GIVEN, WRITTEN = range(_NUMBERS)
"""Of a worker: how many round trips run, how many of them only the client ends, how many are streams, how many it has
given away to be written, and how many of these are in the file or counted as lost."""


def make() -> int:
    """The descriptor of a new file for `Shared`; it is gone when the last process has closed it."""
    return _new_file(_SIZE)


class Shared:
    """The file, as one process has it in memory."""

    def __init__(self, descriptor: int) -> None:
        self._map = mmap.mmap(descriptor, _SIZE)
        self._numbers = memoryview(self._map)[:_TABLE].cast("q")

    def get(self, worker: int, what: int) -> int:
        """A number of a worker; worker 0 is the process that starts them."""
        return self._numbers[worker * _NUMBERS + what]

    def put(self, worker: int, what: int, value: int) -> None:
        self._numbers[worker * _NUMBERS + what] = value

    def forget(self, worker: int) -> None:
        """A worker has ended: its numbers are 0, and no connection is its own."""
        for what in range(_NUMBERS):
            self.put(worker, what, 0)
        for port in range(_PORTS):
            if self._map[_TABLE + port] == worker:
                self._map[_TABLE + port] = 0

    def opened(self, port: int) -> int:
        """The worker that has opened a connection to our own port from this local port; 0 when none has."""
        return self._map[_TABLE + port]

    def open(self, port: int, worker: int) -> None:
        self._map[_TABLE + port] = worker

    @property
    def path(self) -> Path:
        """The file that is being written."""
        return Path(os.fsdecode(self._map[_PATH:].partition(b"\0")[0]))

    @path.setter
    def path(self, path: Path) -> None:
        data = os.fsencode(path.absolute())[: _LONGEST_PATH - 1] + b"\0"
        self._map[_PATH : _PATH + len(data)] = data


class SharedConnections(OwnConnections):
    """The connections that one of the workers has opened to the port of all of them."""

    def __init__(self, shared: Shared, worker: int, ours: int) -> None:
        super().__init__()
        self._shared = shared
        self._worker = worker
        self._ours = ours

    @override
    def add(self, local: Place, remote: int) -> None:
        if remote == self._ours:
            self._shared.open(local[1], self._worker)

    @override
    def discard(self, local: Place, remote: int) -> None:
        if remote == self._ours and self._shared.opened(local[1]) == self._worker:
            self._shared.open(local[1], 0)

    @override
    def has(self, local: Place, remote: int) -> bool:
        return remote == self._ours and self._shared.opened(local[1]) != 0


def make_places() -> int:
    """The descriptor of a new file for `SharedPlaces`: what any process writes is appended."""
    import fcntl

    descriptor = _new_file(0)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, fcntl.fcntl(descriptor, fcntl.F_GETFL) | os.O_APPEND)
    return descriptor


class SharedPlaces(NamedPlaces):
    """The URLs that streams have named, to whichever worker: one line each, in a file that only grows."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._file = descriptor
        self._read = 0

    @override
    def add(self, url: str, place: Location) -> None:
        os.write(self._file, base64.b64encode(pickle.dumps((url, place))) + b"\n")
        super().add(url, place)

    @override
    def get(self, url: str) -> Location | None:
        if (size := os.fstat(self._file).st_size) > self._read:
            new = os.pread(self._file, size - self._read, self._read)
            whole = new[: new.rfind(b"\n") + 1]
            self._read += len(whole)
            for line in whole.splitlines():
                super().add(*pickle.loads(base64.b64decode(line)))
        return super().get(url)


def _new_file(size: int) -> int:
    with TemporaryFile(prefix="turntape-") as file:
        file.truncate(size)
        return os.dup(file.fileno())
