"""Bodies that are running, on the disk instead of in memory, until they are written to the recording.

What is on the disk is encrypted with a key that only this process has, since its secrets are not replaced yet. The
files have no name: they are gone when the process has ended, however it ended.
"""

import logging
import os
import secrets
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from turntape.cassettes.tape.bounds import Memory
from turntape.cassettes.tape.large_blocks import give_back_large_blocks

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import CipherContext

log = logging.getLogger(__name__)

FROM = 48 << 20
"""How many bytes the bodies of answers may take in memory, with what waits to be written, before they are spooled."""
STEP = 256 << 10
"""How many bytes of a body are written to its file at once; one that is shorter stays in memory."""
_MOST_ON_THE_WAY = 16 << 20
"""How many bytes may wait for the spool's disk. Then the traffic waits too, as it does for the recording's."""
_FULL = 64 << 20
"""The size of a file after which the next bodies go to another one. Each is a descriptor, which traffic needs too."""
_LOOK = 1.0
"""Seconds after which a waiting caller checks that the disk is still asked."""


class Spool:
    """Where the bodies of one recording go. `waiting` gives how many bytes in memory wait to be written."""

    def __init__(self, folder: Path, memory: Memory, waiting: Callable[[], int] = lambda: 0) -> None:
        self._folder = folder
        self.memory = memory
        self._waiting = waiting
        self._queue: SimpleQueue[tuple[SpooledBody, bytes]] = SimpleQueue()
        self._change = threading.Condition()
        self._on_the_way = 0
        self._thread: threading.Thread | None = None
        self._file: SpoolFile | None = None

    @property
    def is_due(self) -> bool:
        """True when the bodies in memory take too much."""
        return self.memory.taken + self._waiting() > FROM

    def add(self, body: "SpooledBody", data: bytes) -> None:
        """Append to a body, which `memory` has counted so far. Waits while too much is on the way."""
        if self._thread is None:
            give_back_large_blocks()
            self._thread = threading.Thread(target=self._run, name="turntape spool", daemon=True)
            self._thread.start()
        with self._change:
            while self._on_the_way > _MOST_ON_THE_WAY and self._thread.is_alive():
                self._change.wait(_LOOK)
            self._on_the_way += len(data)
        body.size += len(data)
        self._queue.put((body, data))

    def _current(self) -> "SpoolFile":
        """The file that is being filled. Raises OSError when there can be none."""
        if self._file is None or self._file.size > _FULL:
            try:
                self._file = SpoolFile(_new_file(self._folder))
            except OSError:
                self._file = SpoolFile(_new_file(None))
        return self._file

    def wait_for(self, body: "SpooledBody") -> None:
        """Wait until all of a body is where it will be."""
        with self._change:
            while body.stored < body.size:
                if self._thread is None or not self._thread.is_alive():
                    raise OSError("a body did not come to the disk")
                self._change.wait(_LOOK)

    def _run(self) -> None:
        while True:
            body, data = self._queue.get()
            if body.put(data, self._current):
                self.memory.free(len(data))
            size = len(data)
            del body, data  # the file of a body is closed with its last user
            with self._change:
                self._on_the_way -= size
                self._change.notify_all()


class SpoolFile:
    """A file that parts of several bodies are in. It is closed with the last of them."""

    def __init__(self, file: int) -> None:
        self.file = file
        self.size = 0

    def __del__(self) -> None:
        os.close(self.file)

    def append(self, data: bytes) -> int:
        """Write at the end; returns where that was. Raises OSError."""
        view, start = memoryview(data), self.size
        at = start
        while view:
            done = os.pwrite(self.file, view, at)
            view, at = view[done:], at + done
        self.size = at
        return start

    def read(self, at: int, size: int) -> bytes:
        data = os.pread(self.file, size, at)
        if len(data) < size:
            raise OSError("a body on the disk is shorter than it was")
        return data


class SpooledBody:
    """The first part of a body; an iteration gives all of it, in pieces."""

    def __init__(self, spool: Spool) -> None:
        self.size = 0
        """How many bytes were given away."""
        self.stored = 0
        """How many of them are in files, or refused and in `_rest`."""
        self._spool = spool
        self._key, self._nonce = secrets.token_bytes(32), secrets.token_bytes(16)
        self._encryptor = self._cipher()
        self._places: list[tuple[SpoolFile, int, int]] = []
        """Where its parts are, and their sizes."""
        self._rest: list[bytes] = []
        """What the disk refused, and all after it."""

    def __del__(self) -> None:
        self._spool.memory.free(sum(map(len, self._rest)))

    def _cipher(self) -> "CipherContext":
        from cryptography.hazmat.primitives.ciphers import Cipher
        from cryptography.hazmat.primitives.ciphers.algorithms import AES
        from cryptography.hazmat.primitives.ciphers.modes import CTR

        return Cipher(AES(self._key), CTR(self._nonce)).encryptor()  # which decrypts as well

    def put(self, data: bytes, current: Callable[[], SpoolFile]) -> bool:
        """Write to the file; False when that is refused, and the bytes stay in memory. For the spool's thread."""
        done = not self._rest
        if done:
            try:
                file = current()
                self._places.append((file, file.append(self._encryptor.update(data)), len(data)))
            except OSError as exc:
                log.debug("a body stays in memory: %s", exc)
                done = False
        if not done:
            self._rest.append(data)
        self.stored += len(data)
        return done

    def __iter__(self) -> Iterator[bytes]:
        self._spool.wait_for(self)
        cipher = self._cipher()
        for file, at, size in self._places:
            yield cipher.update(file.read(at, size))
        yield from self._rest


def _new_file(folder: Path | None) -> int:
    """The descriptor of a file without a name, for this user alone."""
    with TemporaryFile(prefix="turntape-", dir=folder) as file:
        return os.dup(file.fileno())
