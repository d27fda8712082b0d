"""The writer: one thread, append-only, a flush per record.

`write` only numbers and enqueues; encoding, redaction, compression and the disk are the thread's work. What
goes wrong there is said once in `problem` and never reaches the caller: recording must not harm the traffic.
"""

import fcntl
import logging
import os
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from time import time
from types import TracebackType
from typing import Self

import orjson

from .compression import compressor
from .delta import Window
from .errors import CassetteError
from .lines import header_line, label_line, round_trip_line
from .model import RoundTrip
from .reader import Cassette
from .redaction import Redactor

log = logging.getLogger(__name__)

BATCH_SECONDS = 0.05
"""How long finished round trips may wait for the disk."""


class Recorder:
    """`Recorder(path)` creates a cassette and writes round trips and labels to it until `close()`.

    The suffix decides the form: `.jsonl`, or `.jsonl.zst` for one zstd stream that is flushed with each batch.
    Raises CassetteError when the file cannot be created, exists already (unless `append`), or is being written by
    another recorder.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        redactor: Redactor | None = None,
        tool: str | None = None,
        append: bool = False,
        durable: bool = True,
        clock: Callable[[], float] = time,
    ) -> None:
        self.path = Path(path)
        self.problem: str | None = None
        """What the disk or our own code refused, in one sentence; None while all went well."""
        self._durable = durable
        self._window = Window()
        earlier = Cassette.load(self.path) if append and self._holds_something() else None
        self.count = len(earlier) if earlier else 0
        """How many round trips were handed in, those of an earlier recording included."""
        salt = earlier.salt if earlier else None
        redactor = redactor or Redactor(salt=salt)
        self._redactor = redactor if salt is None else redactor.with_salt(salt)
        self._file = self._open(append)
        self._compressor = compressor() if self.path.suffix == ".zst" else None
        if earlier is None:
            self._put(header_line(tool or "turntape", clock(), self._redactor.salt))
        elif earlier.torn:
            self._put(b"\n")
        self._queue: deque[tuple[int, RoundTrip | bytes]] = deque()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name=f"turntape recorder {self.path.name}", daemon=True)
        self._thread.start()

    def _holds_something(self) -> bool:
        return self.path.exists() and self.path.stat().st_size > 0

    def _open(self, append: bool) -> int:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | (0 if append else os.O_EXCL)
        try:
            file = os.open(self.path, flags, 0o600)
        except FileExistsError as exc:
            raise CassetteError(f"{str(self.path)!r} exists already; choose another file or remove it first") from exc
        except OSError as exc:
            raise CassetteError(
                f"cannot write the cassette {str(self.path)!r}: {exc.strerror}; choose another place with --out"
            ) from exc
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as exc:
            os.close(file)
            raise CassetteError(
                f"{str(self.path)!r} is being written by another recorder; give each its own file"
            ) from exc
        return file

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def write(self, round_trip: RoundTrip) -> int:
        """Hand in a round trip that has ended; returns its number in the file. Any thread may call this."""
        with self._lock:
            number = self.count
            self.count += 1
            self._queue.append((number, round_trip))
        self._wake.set()
        return number

    def label(self, index: int, label: dict[str, object]) -> None:
        """Hand in what a round trip was read as; a later label for the same number stands for the earlier one."""
        self.label_line(index, orjson.dumps(label))

    def label_line(self, index: int, json_object: bytes) -> None:
        """`label` for an object that is JSON already."""
        with self._lock:
            self._queue.append((index, label_line(index, json_object)))
        self._wake.set()

    def close(self) -> None:
        """Write what is left and close the file. May be called twice."""
        if self._closing:
            return
        self._closing = True
        self._wake.set()
        self._thread.join()

    def _run(self) -> None:
        pause = threading.Event()
        while True:
            self._wake.wait()
            self._wake.clear()
            if not self._closing:
                pause.wait(BATCH_SECONDS)
            self._drain()
            if self._closing and not self._queue:
                break
        if self._compressor:
            self._write(self._compressor.flush(self._compressor.FLUSH_FRAME))
        os.close(self._file)

    def _drain(self) -> None:
        wrote = False
        while self._queue:
            number, item = self._queue.popleft()
            try:
                self._put(item if isinstance(item, bytes) else self._line(number, item))
            except Exception as exc:  # noqa: BLE001 - our fault must not end the recording of the rest
                self._complain(f"round trip {number} could not be recorded: {exc}")
            wrote = True
        if wrote and self._durable:
            try:
                os.fdatasync(self._file)
            except OSError as exc:
                self._complain(f"cannot sync {str(self.path)!r}: {exc.strerror}")

    def _line(self, number: int, trip: RoundTrip) -> bytes:
        trip = self._redactor.round_trip(trip)
        body = trip.request.body
        line = round_trip_line(number, trip, body, self._window.shorten(body))
        self._window.add(number, body)
        return line

    def _put(self, line: bytes) -> None:
        if self._compressor:
            line = self._compressor.compress(line) + self._compressor.flush(self._compressor.FLUSH_BLOCK)
        self._write(line)

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._file, view) :]
        except OSError as exc:
            self._complain(
                f"cannot write to {str(self.path)!r}: {exc.strerror}; what was recorded so far is kept, free some space"
            )

    def _complain(self, sentence: str) -> None:
        if self.problem is None:
            self.problem = sentence
            log.error("%s", sentence)
