"""Writes cassettes: one thread per file, append-only, and one more that syncs what was written.

`write` only numbers a round trip and puts it into a queue; the thread redacts, encodes, compresses and writes it.
An error there is said at once, the first one is kept in `problem`, and none reaches the caller: recording must not harm
the traffic. What other programs do to the file is noticed within a second. The queue is bounded in bytes: when the disk
blocks for long, `write` waits too, and nothing is lost. The queue is not moved to another file, since what is in it
still has its secrets.
"""

import logging
import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from time import time
from types import TracebackType
from typing import Self, cast

import orjson

from ..redaction.redactor import Redactor
from ..tape.carried import carried, continued_line
from ..tape.command_end import CommandEnd, command_end_line
from ..tape.delta import Window
from ..tape.format import header_line, label_line, round_trip_line, tool_exchange_line
from ..tape.model import RoundTrip, ToolServer
from ..tape.tool_servers import end_line, start_line, stderr_line
from .held_bytes import PER_ITEM, held_bytes, unloaded_bytes
from .loss import Loss
from .running_session import Again
from .tape_file import TapeFile
from .write_queue import WAITING_BYTES, Waiting, WriteQueue

log = logging.getLogger(__name__)


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
        self._file = TapeFile(self.path, self._loss, append=append, durable=durable)
        earlier = self._file.earlier
        self.count = self._first = earlier.following if earlier else 0
        """The number of the next round trip; those of an earlier recording in the file count."""
        redactor = redactor or Redactor()
        self._redactor = redactor if earlier is None or earlier.salt is None else redactor.with_salt(earlier.salt)
        head = header_line(tool or "turntape", clock(), self._redactor.salt)
        self._header = earlier.header if earlier else cast(dict[str, object], orjson.loads(head))
        self._file.begin(head)
        self._begin_windows()
        self._thread = threading.Thread(target=self._run, name=f"turntape recorder {self.path.name}", daemon=True)
        self._queue = WriteQueue(self._thread, waiting_bytes)
        self._thread.start()

    def _begin_windows(self) -> None:
        """From here on, nothing that is written refers to what is before it."""
        self._requests = Window()
        """The last bodies of requests, to which later ones can refer."""
        self._answers = Window()
        """The last answers of tool servers."""

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
        return self._loss.count

    @property
    def loss(self) -> str | None:
        """How many round trips are not in the file, in one sentence; None when all are."""
        return self._loss.sentence

    @property
    def own(self) -> int:
        """How many round trips were handed in to this recorder, without carried ones."""
        return self._loss.handed_in

    @property
    def readable(self) -> int:
        """The number after the last round trip that can be read at the file's path."""
        return max(self._first, self._file.following) if self.is_in_place else 0

    @property
    def is_in_place(self) -> bool:
        """True while the file is at its path."""
        return self._file.is_in_place

    @property
    def is_refused(self) -> bool:
        """True when the disk refused the last line."""
        return self._file.is_refused

    @property
    def needs_another(self) -> bool:
        """True when only another file can take what follows: this one has left its place, or may not grow."""
        return self._file.may_not_grow or not self.is_in_place

    @property
    def header(self) -> dict[str, object]:
        """The fields of the file's first line."""
        return self._header

    @property
    def waiting(self) -> int:
        """About how many bytes were handed in and are not yet written."""
        return self._queue.size

    def flush(self, waiting: Callable[[int], object] = lambda left: None) -> None:
        """Wait until everything that was handed in so far is written.

        While that takes long, `waiting` is called about once a second with how many bytes are left.
        """
        self._queue.flush(waiting)

    def give_up(self) -> None:
        """Wait for no search of a long body any more: it is withheld, and this is reported. Any thread may call it."""
        self._redactor.give_up()

    def write(self, round_trip: RoundTrip, *, clean: bool = False, on_done: Callable[[], object] | None = None) -> int:
        """Hand in a round trip that has ended; returns its number in the file. Thread-safe.

        `clean`: a redactor with the salt of this file has replaced its secrets already. `on_done` is called, by any
        thread, when the round trip is in the file or counted as lost.
        """
        size, unloaded = held_bytes(round_trip), unloaded_bytes(round_trip)
        counts = carried(round_trip) is None
        with self._queue.room(size) as is_open:
            number = self.count
            self.count += 1
            self._loss.handed_in += counts
            if is_open:
                self._queue.add(Waiting(number, round_trip, size, unloaded, clean, on_done))
        if not is_open:
            self._came_late("a round trip")
            self._loss.add(counts)
            if on_done is not None:
                on_done()
        return number

    def label(self, index: int, label: dict[str, object]) -> None:
        """Hand in the label of a round trip: what it was read as. A later label for the same number replaces it."""
        self.label_line(index, orjson.dumps(label))

    def label_line(self, index: int, json_object: bytes) -> None:
        """As `label`, for an object that is already JSON."""
        line = label_line(index, json_object)
        if not self._hand_in(line, len(line), for_label=True):
            self._came_late(f"a label of round trip {index}")

    def continued(self, numbers: Iterable[int], segment: str) -> None:
        """Hand in the last line: the recording continues in the file `segment`, which carries these round trips."""
        self._line(continued_line(numbers, segment))

    def tool_server(self, server: ToolServer) -> None:
        """Hand in the start of a tool server."""
        self._line(start_line(replace(server, command=self._redactor.command(server.command))))

    def tool_server_stderr(self, session: str, at: int, data: bytes) -> None:
        """Hand in what a tool server wrote to stderr, `at` microseconds after its start."""
        self._line(stderr_line(session, at, data))

    def tool_server_end(self, server: ToolServer) -> None:
        """Hand in how a tool server ended."""
        self._line(end_line(server))

    def command_ended(self, end: CommandEnd) -> None:
        """Hand in how the recorded command ended."""
        self._line(command_end_line(end))

    def line(self, make: Callable[[Redactor], bytes], size: int) -> None:
        """Hand in a line that the writing thread makes, of about `size` bytes."""
        if not self._hand_in(make, PER_ITEM + size):
            self._came_late("a line")

    def session(self, name: str, again: Again | None) -> None:
        """A WebSocket session runs, or has ended: there is no other file that must know it."""

    def _line(self, line: bytes) -> None:
        if not self._hand_in(line, len(line)):
            self._came_late("a line")

    def _hand_in(self, line: bytes | Callable[[Redactor], bytes], size: int, *, for_label: bool = False) -> bool:
        """False after `close`."""
        with self._queue.room(size, for_label=for_label) as is_open:
            if is_open:
                self._queue.add(Waiting(self.count, line, size))
        return is_open

    def _came_late(self, what: str) -> None:
        self._loss.complain(f"{what} came after {str(self.path)!r} was closed and is not in it")

    def close(self) -> None:
        """Write what is left and close the file. Can be called more than once."""
        self._queue.close()
        self._thread.join()

    def _run(self) -> None:
        while True:
            self._queue.collect()
            self._file.look(self._begin_windows)
            if self._queue.drain(self._write):
                self._file.sync()
            if self._queue.has_ended():
                break
        self._file.close()

    def _write(self, waiting: Waiting) -> None:
        item = waiting.item
        try:
            if self._file.is_gone:
                self._lose(waiting)
            elif isinstance(item, RoundTrip):
                if not self._record(waiting.number, item if waiting.is_clean else self._redacted(waiting.number, item)):
                    self._lose(waiting)
            else:
                self._file.put(self._redactor.body(item) if isinstance(item, bytes) else item(self._redactor))
        except Exception as exc:  # noqa: BLE001 - our fault must not end the recording of the rest
            what = f"round trip {waiting.number}" if isinstance(item, RoundTrip) else "a line"
            self._loss.complain(f"{what} could not be recorded: {exc}")
            self._lose(waiting)
        if waiting.on_done is not None:
            waiting.on_done()

    def _redacted(self, number: int, trip: RoundTrip) -> RoundTrip:
        clean = self._redactor.round_trip(trip)
        for fault in clean.faults[len(trip.faults) :]:
            self._loss.complain(f"round trip {number} is not whole: {fault}")
        return clean

    def _record(self, number: int, trip: RoundTrip) -> bool:
        """True when it is in the file."""
        if wire := trip.tool_wire:
            body = trip.response.body if trip.response else b""
            window = self._answers
            line = tool_exchange_line(number, trip, wire, body, window.shorten(body))
        else:
            body = trip.request.body
            window = self._requests
            line = round_trip_line(number, trip, body, window.shorten(body))
        counts = carried(trip) is None
        del trip  # its bodies are in the line
        is_kept = self._file.put_round_trip(number, line, counts=counts)
        if is_kept:  # a later body can refer to this one
            window.add(number, body)
        return is_kept

    def _lose(self, waiting: Waiting) -> None:
        """Report to the owner that a round trip is not in the file."""
        if not isinstance(waiting.item, RoundTrip) or carried(waiting.item) is not None:
            return  # a label, or a round trip that is counted where it was recorded
        self._loss.add(1)
        try:
            self.on_lost(waiting.number)
        except Exception:  # the rest must be recorded
            log.exception("fault in on_lost")
