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
from contextlib import suppress
from pathlib import Path
from time import time
from types import TracebackType
from typing import Self

import orjson

from .compression import FRAME_END, MAGIC, Decompression, compressor
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
        self._file = self._open(append)
        try:
            # Under the lock: what another recorder wrote until now is there to be read.
            self._end = os.fstat(self._file).st_size
            compressed = self._mended() if self._end else self.path.suffix == ".zst"
            earlier = Cassette.load(self.path) if self._end else None
        except BaseException:
            os.close(self._file)
            raise
        self.count = earlier.following if earlier else 0
        """The number that the next round trip gets: those of an earlier recording are counted."""
        salt = earlier.salt if earlier else None
        redactor = redactor or Redactor(salt=salt)
        self._redactor = redactor if salt is None else redactor.with_salt(salt)
        self._compressor = compressor() if compressed else None
        self._owed_text = b""
        """A header that the disk refused; it goes before the next line."""
        self._in_frame = False
        """True when the file holds the beginning of the compressor's frame."""
        self._owed_end = False
        """True when a frame must be ended before the next one begins, since a block of it was refused."""
        if earlier is None:
            head = header_line(tool or "turntape", clock(), self._redactor.salt)
            if not self._put(head):
                self._owed_text = head
        elif earlier.torn:
            self._put(b"\n")
        self._queue: deque[tuple[int, RoundTrip | bytes]] = deque()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name=f"turntape recorder {self.path.name}", daemon=True)
        self._thread.start()

    def _mended(self) -> bool:
        """End what a crash left open of a file that is appended to; True when it is compressed, whatever its name."""
        data = self.path.read_bytes()
        if not data.startswith(MAGIC):
            return False
        stream = Decompression()
        _, whole = stream.feed(data, final=True)
        if stream.inside and stream.checksum:
            raise CassetteError(
                f"{str(self.path)!r} ends in the middle of a frame with a checksum; decompress it before appending"
            )
        if whole < len(data):
            os.ftruncate(self._file, whole)
        if stream.inside:
            os.write(self._file, FRAME_END)
        self._end = os.fstat(self._file).st_size
        return True

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
        if self._closing:
            self._complain(f"a round trip came after {str(self.path)!r} was closed and is not in it")
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
        if self._owed_end:
            self._write(FRAME_END)
        elif self._compressor and self._in_frame:
            self._write(self._compressor.flush(self._compressor.FLUSH_FRAME))
        os.close(self._file)

    def _drain(self) -> None:
        wrote = False
        while self._queue:
            number, item = self._queue.popleft()
            try:
                if isinstance(item, bytes):
                    self._put(self._redactor.body(item))
                else:
                    self._record(number, item)
            except Exception as exc:  # noqa: BLE001 - our fault must not end the recording of the rest
                self._complain(f"round trip {number} could not be recorded: {exc}")
            wrote = True
        if wrote and self._durable:
            try:
                os.fdatasync(self._file)
            except OSError as exc:
                self._complain(f"cannot sync {str(self.path)!r}: {exc.strerror}")

    def _record(self, number: int, trip: RoundTrip) -> None:
        trip = self._redactor.round_trip(trip)
        body = trip.request.body
        # A later body may refer to this one only when it is in the file.
        if self._put(round_trip_line(number, trip, body, self._window.shorten(body))):
            self._window.add(number, body)

    def _put(self, line: bytes) -> bool:
        """True when the line is in the file. When the disk refuses it, the file ends where it ended before."""
        text = self._owed_text + line
        if self._compressor is None:
            done = self._write(text)
        else:
            ended = FRAME_END if self._owed_end else b""
            block = self._compressor.compress(text) + self._compressor.flush(self._compressor.FLUSH_BLOCK)
            done = self._write(ended + block)
            if not done:
                # The compressor refers to what was refused from now on: go on with a new frame.
                self._compressor = compressor()
            self._owed_end = not done and (self._owed_end or self._in_frame)
            self._in_frame = done
        if done:
            self._owed_text = b""
        return done

    def _write(self, data: bytes) -> bool:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._file, view) :]
        except OSError as exc:
            with suppress(OSError):  # what is no file cannot be cut; readers skip the torn line
                os.ftruncate(self._file, self._end)
            self._complain(
                f"cannot write to {str(self.path)!r}: {exc.strerror}; what was recorded so far is kept, free some space"
            )
            return False
        self._end += len(data)
        return True

    def _complain(self, sentence: str) -> None:
        if self.problem is None:
            self.problem = sentence
            log.error("%s", sentence)
