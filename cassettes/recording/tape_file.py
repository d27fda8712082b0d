"""The file of a recording that is being written: append-only, and always whole up to its last line."""

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ..errors import CassetteError
from ..redaction.prose_of_tape import has_prose
from ..tape.compression import FRAME_END, MAGIC, Decompression
from ..tape.reader import Cassette
from .disk_sync import DiskSync
from .exclusive_file import open_exclusively
from .frames import Frames
from .loss import Loss, WrittenFile, refused


class TapeFile:
    """Puts lines into the file, plain or compressed. One thread writes; problems are reported to `loss`.

    A line that the disk refuses is taken back, so that the file ends where it ended before.
    The suffix decides the form of a new file, and the content that of an old one.
    Raises CassetteError when the file cannot be created, exists already (unless `append`), is being written by another
    recorder, or cannot be appended to.
    """

    def __init__(self, path: Path, loss: Loss, *, append: bool, durable: bool) -> None:
        self._path = path
        self._loss = loss
        self._file = open_exclusively(path, append)
        try:
            # Under the lock: another recorder has written everything by now.
            self._end = os.fstat(self._file).st_size
            compressed = self._end_what_is_open() if self._end else path.suffix == ".zst"
            self.earlier = Cassette.load(path) if self._end else None
            """What the file holds already; None for a new one."""
            if self.earlier and not has_prose(self.earlier.header):
                raise CassetteError(
                    f"the prose of {str(path)!r} was removed, so nothing can be added to it; record another file"
                )
            self._written = WrittenFile(path, self._file)
            thread = f"turntape recorder sync {path.name}"
            self._sync = DiskSync(self._file, thread, self._not_synced) if durable else None
        except BaseException:
            os.close(self._file)
            raise
        self._refused: int | None = None
        """The number of the error with which the disk refused the last line; None when it took it."""
        self._frames = Frames() if compressed else None
        self._owed = b""
        """A header that the disk refused, or the end of a cut line; it is written before the next line."""
        self._head = b""
        self._head_end = 1
        """Where the header ends; 1 for an earlier recording, where nobody needs to know."""

    def _end_what_is_open(self) -> bool:
        """End what a crash left open in a file to append to. True when the file is compressed, whatever its name is."""
        data = self._path.read_bytes()
        if not data.startswith(MAGIC):
            return False
        stream = Decompression()
        _, whole = stream.feed(data, final=True)
        if stream.inside and stream.checksum:
            raise CassetteError(
                f"{str(self._path)!r} ends in the middle of a frame with a checksum; decompress it before appending"
            )
        os.ftruncate(self._file, whole)
        if stream.inside:
            os.write(self._file, FRAME_END)
        self._end = os.fstat(self._file).st_size
        return True

    def begin(self, head: bytes) -> None:
        """Put the header into a new file; end the torn line of an earlier recording."""
        self._head = head
        if self.earlier is None:
            if not self.put(head):
                self._owed = head
            self._head_end = max(self._end, 1)
        elif self.earlier.torn:
            self.put(b"\n")

    @property
    def following(self) -> int:
        """The number after the last round trip that was written; 0 when there is none."""
        return self._written.following

    @property
    def is_in_place(self) -> bool:
        """True while the file is at its path."""
        return not self._loss.elsewhere and self._written.problem_of_place() is None

    @property
    def is_gone(self) -> bool:
        """True when it was noticed that no path leads to the file any more."""
        return self._loss.elsewhere and self._written.is_removed

    @property
    def is_refused(self) -> bool:
        """True when the disk refused the last line."""
        return self._refused is not None

    @property
    def may_not_grow(self) -> bool:
        """True when the file holds round trips and has reached the limit on the size of files."""
        return self._refused == errno.EFBIG and self._written.own > 0

    def put(self, line: bytes) -> bool:
        """True when the line is in the file. When the disk refuses it, the file ends where it ended before."""
        text = self._owed + line
        if self._frames is None:
            done = self._write(text)
        else:
            done = self._write(self._frames.block(text))
            if done:
                self._frames.written()
            else:
                self._frames.refused()
        if done:
            self._owed = b""
        return done

    def put_round_trip(self, number: int, line: bytes, *, counts: bool) -> bool:
        """As `put`, for the line of a round trip. One that does not count belongs to an earlier file."""
        if not self.put(line):
            return False
        self._written.holds(number, self._end, counts=counts)
        if self._refused is not None:
            self._refused = None
            self._loss.ended()
        return True

    def _write(self, data: bytes) -> bool:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._file, view) :]
        except OSError as exc:
            with suppress(OSError):  # a device cannot be cut; readers skip the torn line
                if os.fstat(self._file).st_size > self._end:
                    os.ftruncate(self._file, self._end)
            self._refused = exc.errno or errno.EIO
            self._loss.complain(refused(self._path, exc))
            return False
        self._end += len(data)
        return True

    def look(self, on_cut: Callable[[], object] = lambda: None) -> None:
        """Report that another program removed, renamed or cut the file.

        `on_cut` is called when it was cut: what follows must not refer to what is lost.
        """
        try:
            size = self._written.size_if_cut(self._end)
            if size is not None:
                on_cut()
                self._continue_at(size)
            if not self._loss.elsewhere and (sentence := self._written.problem_of_place()):
                self._loss.elsewhere = True
                self._loss.complain(f"{sentence} ({self._loss.sentence or 'nothing was recorded yet'})")
        except OSError as exc:
            self._loss.complain(f"cannot look at {str(self._path)!r}: {exc.strerror}")

    def _continue_at(self, size: int) -> None:
        lost = self._written.cut_at(size)
        self._loss.add(lost)
        self._loss.complain(
            f"{str(self._path)!r} was cut from {self._end:,} to {size:,} bytes while it was being written; "
            f"{lost:,} round {'trip is' if lost == 1 else 'trips are'} lost"
        )
        if size < self._head_end:
            os.ftruncate(self._file, 0)
            self._end, self._owed = 0, self._head
        else:
            self._end, self._owed = size, b"\n"
        if self._frames is not None:
            self._frames = Frames()
            if self._end:
                self._end_what_is_open()

    def sync(self) -> None:
        """Let what was written reach the disk soon, where the recording is to be durable."""
        if self._sync is not None:
            self._sync.wanted()

    def _not_synced(self, error: OSError) -> None:
        self._loss.complain(f"cannot sync {str(self._path)!r}: {error.strerror}")

    def close(self) -> None:
        """End the last frame, sync, and give the file free."""
        if self._frames is not None:
            self._write(self._frames.end())
        self.look()
        if self._sync is not None:
            self._sync.close()
        os.close(self._file)
