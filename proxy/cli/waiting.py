"""A line on the terminal's stderr for what takes longer than a second."""

import sys
import threading
import time
from collections.abc import Callable
from typing import Self

AFTER = 1.0
"""Seconds until the line is shown."""
EVERY = 0.5


class Waiting:
    """A context manager: `Waiting("asking")`. `fetched` adds bytes, `say` replaces the words; no terminal, no line."""

    def __init__(self, words: str, *, clock: Callable[[], float] = time.monotonic, after: float = AFTER) -> None:
        self._words, self._bytes = words, 0
        self._clock, self._after = clock, after
        self._begun = clock()
        self._ended = threading.Event()
        self._shown = False
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)

    def fetched(self, size: int) -> None:
        """So many more bytes are here."""
        self._bytes += size

    def say(self, words: str) -> None:
        """What is being done now."""
        self._words = words

    def line(self) -> str:
        """The line as it is now."""
        from .ship_text import size_text

        bytes_ = f" · {size_text(self._bytes)} fetched" if self._bytes else ""
        return f"{self._words} · {self._clock() - self._begun:.0f} s{bytes_}"

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _run(self) -> None:
        pause = self._after
        while not self._ended.wait(pause):
            self._shown, pause = True, EVERY
            sys.stderr.write(f"\r\x1b[K{self.line()}")
            sys.stderr.flush()
