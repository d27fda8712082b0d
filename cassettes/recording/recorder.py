"""Writes cassettes: one thread per file, append-only, and one more that syncs what was written.

`write` only numbers a round trip and puts it into a queue; the thread redacts, encodes, compresses and writes it.
An error there is said at once, the first one is kept in `problem`, and none reaches the caller: recording must not harm
the traffic. What other programs do to the file is noticed within a second. The queue is bounded in bytes: when the disk
blocks for long, `write` waits too, and nothing is lost. The queue is not moved to another file, since what is in it
still has its secrets.
"""

import errno
import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import perf_counter, sleep, time
from types import TracebackType
from typing import Self, cast

import orjson

from ..errors import CassetteError
from ..redaction.prose_of_tape import has_prose
from ..redaction.redactor import Redactor
from ..redaction.search_process import LEAST
from ..tape.bounds import MOST_IN_TOTAL
from ..tape.carried import carried, continued_line
from ..tape.command_end import CommandEnd, command_end_line
from ..tape.compression import FRAME_END, MAGIC, Decompression
from ..tape.delta import Window
from ..tape.format import header_line, label_line, round_trip_line, tool_exchange_line
from ..tape.model import RoundTrip, ToolServer
from ..tape.reader import Cassette
from ..tape.tool_servers import end_line, start_line, stderr_line
from .disk_sync import DiskSync
from .exclusive_file import open_exclusively
from .frames import Frames
from .held_bytes import PER_ITEM, held_bytes, unloaded_bytes
from .loss import Loss, WrittenFile, refused
from .running_session import Again

log = logging.getLogger(__name__)

BATCH_SECONDS = 0.01
"""How long finished round trips are collected before they are written, since a thread takes a while to wake up."""
BUSY_SECONDS = 0.04
"""How much longer they are collected while more of them end. The thread that writes and the traffic share one
interpreter, and each start of the thread holds the traffic up."""
RUN_SECONDS, PAUSE_SECONDS = 0.0005, 0.001
"""How long lines of a batch are written without a pause, and how long a pause is: a request waits for a few lines then,
and not for all. The lock of the interpreter alone does not do it: a thread that writes a file gives it up and has it
back before another thread runs."""
_UNHURRIED = 0.012
"""Seconds of a batch in which there are pauses. On a busy machine a pause takes longer, and what waits must be on the
disk soon."""
_AT_EASE = 8 << 20
"""While no more bytes wait than this, there is time for pauses."""
WAITING_BYTES = MOST_IN_TOTAL
"""How many bytes may wait for the disk before `write` waits too, and with it all traffic of a proxy: minutes of a busy
agent, and four of the longest bodies, each of which is searched for seconds."""
_LABELS_WAITING = 8 << 20
"""The same for a label: no traffic waits with it."""
_LOOK = 1.0
"""Seconds after which a waiting caller checks that the thread is alive: a forked process has none."""


type Item = RoundTrip | bytes | Callable[[Redactor], bytes]
"""What waits for the disk: a round trip, a line, or a function that makes one."""


class Recorder:
    """`Recorder(path)` creates a cassette and writes round trips and labels to it until `close()`.

    The suffix decides the form: `.jsonl`, or `.jsonl.zst` for one zstd stream that is flushed with each batch.
    At most `waiting_bytes` wait for the disk, or one round trip that is larger; one of more than 4 MB does not count
    while it is being written.
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
        waiting_bytes: int = WAITING_BYTES,
        say: Callable[[str], object] | None = None,
    ) -> None:
        self.path = Path(path)
        self._loss = Loss(self.path)
        self._loss.say = say or self._loss.say
        self.on_lost: Callable[[int], object] = lambda number: None
        """Called with the number of a round trip that could not be written, by the thread that writes."""
        self._window = Window()
        self._answers = Window()
        """The last answers of tool servers."""
        self._file = open_exclusively(self.path, append)
        try:
            # Under the lock: another recorder has written everything by now.
            self._end = os.fstat(self._file).st_size
            compressed = self._end_what_is_open() if self._end else self.path.suffix == ".zst"
            earlier = Cassette.load(self.path) if self._end else None
            if earlier and not has_prose(earlier.header):
                raise CassetteError(
                    f"the prose of {str(self.path)!r} was removed, so nothing can be added to it; record another file"
                )
            self._written = WrittenFile(self.path, self._file)
            sync_name = f"turntape recorder sync {self.path.name}"
            self._sync = DiskSync(self._file, sync_name, self._not_synced) if durable else None
        except BaseException:
            os.close(self._file)
            raise
        self.count = self._first = earlier.following if earlier else 0
        """The number of the next round trip; those of an earlier recording in the file count."""
        self._carried = 0
        """Round trips that belong to an earlier file, which they are counted in."""
        self._refused: int | None = None
        """The number of the error with which the disk refused the last round trip; None when it took it."""
        salt = earlier.salt if earlier else None
        redactor = redactor or Redactor()
        self._redactor = redactor if salt is None else redactor.with_salt(salt)
        self._frames = Frames() if compressed else None
        self._owed_text = b""
        """A header that the disk refused; it is written before the next line."""
        self._head = header_line(tool or "turntape", clock(), self._redactor.salt)
        self._header = earlier.header if earlier else cast(dict[str, object], orjson.loads(self._head))
        self._head_end = 1
        """Where the header ends; 1 for an earlier recording, where nobody needs to know."""
        if earlier is None:
            if not self._put(self._head):
                self._owed_text = self._head
            self._head_end = max(self._end, 1)
        elif earlier.torn:
            self._put(b"\n")
        self._queue: deque[tuple[int, Item, int, bool]] = deque()
        """Number, round trip or line to write, its size, and whether its secrets are replaced already."""
        self._most = waiting_bytes
        self._waiting = self._unloaded = 0
        """How many bytes in memory wait, and how many elsewhere."""
        self._handed_in = self._done = 0
        """How many items came into the queue, and how many of these are written."""
        self._aside = 0
        """The size of a long round trip that is being written. It takes seconds, in which no caller waits for it."""
        self._blocked = 0
        """Callers that wait for room; their lines are written before the file is closed."""
        self._room = threading.Condition()
        """Guards the queue, its size, the count and `_closing`; notified after each write."""
        self._wake = threading.Event()
        self._hurry = threading.Event()
        """Set when a caller waits for the disk; then no larger batch is collected."""
        self._closing = False
        self._thread = threading.Thread(target=self._run, name=f"turntape recorder {self.path.name}", daemon=True)
        self._thread.start()

    def _end_what_is_open(self) -> bool:
        """End what a crash left open in a file to append to. True when the file is compressed, whatever its name is."""
        data = self.path.read_bytes()
        if not data.startswith(MAGIC):
            return False
        stream = Decompression()
        _, whole = stream.feed(data, final=True)
        if stream.inside and stream.checksum:
            raise CassetteError(
                f"{str(self.path)!r} ends in the middle of a frame with a checksum; decompress it before appending"
            )
        os.ftruncate(self._file, whole)
        if stream.inside:
            os.write(self._file, FRAME_END)
        self._end = os.fstat(self._file).st_size
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def on_problem(self, say: Callable[[str], object]) -> None:
        """Call `say` with each problem when it happens, from any thread. Without it, problems are logged."""
        self._loss.say = say

    @property
    def problem(self) -> str | None:
        """The first error of the disk or of our own code, in one sentence; None while there is none."""
        return self._loss.problem

    @property
    def lost(self) -> int:
        """How many round trips that were handed in are not in the file. Carried ones do not count."""
        return self._loss.of(self.own)

    @property
    def loss(self) -> str | None:
        """How many round trips are not in the file, in one sentence; None when all are."""
        return self._loss.sentence(self.own)

    @property
    def own(self) -> int:
        """How many round trips were handed in to this recorder, without carried ones."""
        return self.count - self._first - self._carried

    @property
    def readable(self) -> int:
        """The number after the last round trip that can be read at the file's path."""
        return max(self._first, self._written.following) if self.is_in_place else 0

    @property
    def is_in_place(self) -> bool:
        """True while the file is at its path."""
        return not self._loss.elsewhere and self._written.problem_of_place() is None

    @property
    def is_refused(self) -> bool:
        """True when the disk refused the last line."""
        return self._refused is not None

    @property
    def needs_another(self) -> bool:
        """True when only another file can take what follows: this one has left its place, or may not grow."""
        return self._refused == errno.EFBIG and self._written.own > 0 or not self.is_in_place

    @property
    def header(self) -> dict[str, object]:
        """The fields of the file's first line."""
        return self._header

    @property
    def waiting(self) -> int:
        """About how many bytes were handed in and are not yet written."""
        return self._waiting

    def flush(self, waiting: Callable[[int], object] = lambda left: None) -> None:
        """Wait until everything that was handed in so far is written.

        While that takes long, `waiting` is called about once a second with how many bytes are left.
        """
        with self._room:
            last = self._handed_in
            while self._done < last and self._thread.is_alive():
                self._hurry.set()
                self._wake.set()
                if not self._room.wait_for(lambda: self._done >= last, _LOOK):
                    waiting(self._waiting + self._unloaded)

    def give_up(self) -> None:
        """Wait for no search of a long body any more: it is withheld, and this is reported. Any thread may call it."""
        self._redactor.give_up()

    def write(self, round_trip: RoundTrip, *, clean: bool = False) -> int:
        """Hand in a round trip that has ended; returns its number in the file. Thread-safe.

        `clean`: a redactor with the salt of this file has replaced its secrets already.
        """
        return self._hand_in(round_trip, held_bytes(round_trip), None, clean)

    def label(self, index: int, label: dict[str, object]) -> None:
        """Hand in the label of a round trip: what it was read as. A later label for the same number replaces it."""
        self.label_line(index, orjson.dumps(label))

    def label_line(self, index: int, json_object: bytes) -> None:
        """As `label`, for an object that is already JSON."""
        line = label_line(index, json_object)
        self._hand_in(line, len(line), index)

    def continued(self, numbers: Iterable[int], segment: str) -> None:
        """Hand in the last line: the recording continues in the file `segment`, which carries these round trips."""
        line = continued_line(numbers, segment)
        self._hand_in(line, len(line), -1)

    def tool_server(self, server: ToolServer) -> None:
        """Hand in the start of a tool server."""
        self._tool_server_line(start_line(replace(server, command=self._redactor.command(server.command))))

    def tool_server_stderr(self, session: str, at: int, data: bytes) -> None:
        """Hand in what a tool server wrote to stderr, `at` microseconds after its start."""
        self._tool_server_line(stderr_line(session, at, data))

    def tool_server_end(self, server: ToolServer) -> None:
        """Hand in how a tool server ended."""
        self._tool_server_line(end_line(server))

    def command_ended(self, end: CommandEnd) -> None:
        """Hand in how the recorded command ended."""
        line = command_end_line(end)
        self._hand_in(line, len(line), None)

    def line(self, make: Callable[[Redactor], bytes], size: int) -> None:
        """Hand in a line that the writing thread makes, of about `size` bytes."""
        self._hand_in(make, PER_ITEM + size, None)

    def session(self, name: str, again: Again | None) -> None:
        """A WebSocket session runs, or has ended: there is no other file that must know it."""

    def _tool_server_line(self, line: bytes) -> None:
        self._hand_in(line, len(line), None)

    def _hand_in(self, item: Item, size: int, of: int | None, clean: bool = False) -> int:
        counts = isinstance(item, RoundTrip)
        with self._room:
            late = self._closing
            if not late:
                self._wait_for_room(size, self._most if of is None else min(self._most, _LABELS_WAITING))
            number = self.count if of is None else of
            self.count += counts
            self._carried += isinstance(item, RoundTrip) and carried(item) is not None
            if not late:
                self._waiting += size
                self._unloaded += unloaded_bytes(item) if isinstance(item, RoundTrip) else 0
                self._handed_in += 1
                self._queue.append((number, item, size, clean))
        if late:
            what = "a round trip" if counts else "a line" if of is None else f"a label of round trip {number}"
            self._complain(f"{what} came after {str(self.path)!r} was closed and is not in it")
            self._loss.add(counts)
        self._wake.set()
        return number

    def _wait_for_room(self, size: int, most: int) -> None:
        self._blocked += 1
        try:
            while (waiting := self._waiting - self._aside) and waiting + size > most and self._thread.is_alive():
                self._hurry.set()
                self._wake.set()
                self._room.wait(_LOOK)
        finally:
            self._blocked -= 1

    def close(self) -> None:
        """Write what is left and close the file. Can be called more than once."""
        with self._room:
            self._closing = True
        self._hurry.set()
        self._wake.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            if self._wake.wait(_LOOK):
                self._wake.clear()
                self._collect()
            self._look()
            self._drain()
            with self._room:
                if self._closing and not self._queue and not self._blocked:
                    break
                if not self._closing:
                    self._hurry.clear()
        if self._frames is not None:
            self._write(self._frames.end())
        self._look()
        if self._sync is not None:
            self._sync.close()
        os.close(self._file)

    def _collect(self) -> None:
        """Wait a moment for more round trips to write."""
        if not self._hurry.wait(BATCH_SECONDS) and self._wake.is_set():
            self._hurry.wait(BUSY_SECONDS)
            self._wake.clear()

    def _look(self) -> None:
        """Report that another program removed, renamed or cut the file."""
        try:
            size = self._written.size_if_cut(self._end)
            if size is not None:
                self._continue_at(size)
            if not self._loss.elsewhere and (sentence := self._written.problem_of_place()):
                self._loss.elsewhere = True
                self._complain(f"{sentence} ({self.loss or 'nothing was recorded yet'})")
        except OSError as exc:
            self._complain(f"cannot look at {str(self.path)!r}: {exc.strerror}")

    def _continue_at(self, size: int) -> None:
        """Another program has cut the file: what follows must not refer to what is lost."""
        lost = self._written.cut_at(size)
        self._loss.add(lost)
        self._complain(
            f"{str(self.path)!r} was cut from {self._end:,} to {size:,} bytes while it was being written; "
            f"{lost:,} round {'trip is' if lost == 1 else 'trips are'} lost"
        )
        self._window, self._answers = Window(), Window()
        if size < self._head_end:
            os.ftruncate(self._file, 0)
            self._end, self._owed_text = 0, self._head
        else:
            self._end, self._owed_text = size, b"\n"
        if self._frames is not None:
            self._frames = Frames()
            if self._end:
                self._end_what_is_open()

    def _drain(self) -> None:
        """Write what is in the queue now; what is handed in meanwhile is the next batch."""
        batch = len(self._queue)
        begun = perf_counter()
        hurries_at = begun + _UNHURRIED
        for _ in range(batch):
            number, item, size, clean = self._queue.popleft()
            if size >= LEAST:
                with self._room:
                    self._aside = size
                    self._room.notify_all()
            try:
                if self._loss.elsewhere and self._written.is_removed:
                    self._lose(number, item)
                elif isinstance(item, bytes):
                    self._put(self._redactor.body(item))
                elif isinstance(item, RoundTrip):
                    if not self._record(number, item if clean else self._redacted(number, item)):
                        self._lose(number, item)
                else:
                    self._put(item(self._redactor))
            except Exception as exc:  # noqa: BLE001 - our fault must not end the recording of the rest
                self._complain(f"round trip {number} could not be recorded: {exc}")
                self._lose(number, item)
            unloaded = unloaded_bytes(item) if isinstance(item, RoundTrip) else 0
            del item
            with self._room:
                self._waiting -= size
                self._unloaded -= unloaded
                self._done += 1
                self._aside = 0
                self._room.notify_all()
            if (now := perf_counter()) - begun > RUN_SECONDS:
                at_ease = now < hurries_at and self._waiting < _AT_EASE and not self._hurry.is_set()
                if at_ease and self._queue:
                    sleep(PAUSE_SECONDS)
                begun = perf_counter()
        if batch and self._sync is not None:
            self._sync.wanted()

    def _not_synced(self, error: OSError) -> None:
        self._complain(f"cannot sync {str(self.path)!r}: {error.strerror}")

    def _redacted(self, number: int, trip: RoundTrip) -> RoundTrip:
        clean = self._redactor.round_trip(trip)
        for fault in clean.faults[len(trip.faults) :]:
            self._complain(f"round trip {number} is not whole: {fault}")
        return clean

    def _record(self, number: int, trip: RoundTrip) -> bool:
        """True when it is in the file."""
        if wire := trip.tool_wire:
            body = trip.response.body if trip.response else b""
            window = self._answers
            line = tool_exchange_line(number, trip, wire, body, window.shorten(body))
        else:
            body = trip.request.body
            window = self._window
            line = round_trip_line(number, trip, body, window.shorten(body))
        counts = carried(trip) is None
        del trip  # its bodies are in the line
        # A later body can refer to this one only when it is in the file.
        if not self._put(line):
            return False
        window.add(number, body)
        self._written.holds(number, self._end, counts=counts)
        if self._refused is not None:
            self._refused = None
            self._loss.ended(self.own)
        return True

    def _lose(self, number: int, item: Item) -> None:
        """Report to the owner that a round trip is not in the file."""
        if not isinstance(item, RoundTrip):
            return  # a label
        if carried(item) is not None:
            return  # it is counted where it was recorded
        self._loss.add(1)
        try:
            self.on_lost(number)
        except Exception:  # the rest must be recorded
            log.exception("fault in on_lost")

    def _put(self, line: bytes) -> bool:
        """True when the line is in the file. When the disk refuses it, the file ends where it ended before."""
        text = self._owed_text + line
        if self._frames is None:
            done = self._write(text)
        else:
            done = self._write(self._frames.block(text))
            if done:
                self._frames.written()
            else:
                self._frames.refused()
        if done:
            self._owed_text = b""
        return done

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
            self._complain(refused(self.path, exc))
            return False
        self._end += len(data)
        return True

    def _complain(self, sentence: str) -> None:
        self._loss.complain(sentence)
