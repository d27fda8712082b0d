"""Puts what was written onto the disk, in a thread beside the one that writes.

A busy disk takes seconds for it. What is written meanwhile survives the end of the process, kill -9 included: only
a crash of the machine can lose what is not yet on the disk.
"""

import os
import threading
from collections.abc import Callable

PAUSE = 0.05
"""Seconds from one sync to the next, at least."""
_sync: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)


class DiskSync:
    """Syncs a file soon after each `wanted`, until `close`. `failed` gets an error of the disk, from another thread."""

    def __init__(self, file: int, name: str, failed: Callable[[OSError], object]) -> None:
        self._file = file
        self._name = name
        self._failed = failed
        self._wanted = threading.Event()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def wanted(self) -> None:
        """Something was written."""
        self._wanted.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Sync what was written, and end. The file stays open."""
        self._closing.set()
        self._wanted.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        ends = False
        while not ends:
            self._wanted.wait()
            # Before the look at `_closing`: what `close` sets after that look is still set at the next wait.
            self._wanted.clear()
            ends = self._closing.is_set()
            try:
                _sync(self._file)
            except OSError as exc:
                self._failed(exc)
            self._closing.wait(PAUSE)
