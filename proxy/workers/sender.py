"""The sink of a worker: what it records goes to the process that writes, in the order in which it was handed in.

Secrets are replaced here, by a thread: the process that writes has less to do, and gets none. A round trip is kept here
until it is in the file: when that process is killed, the worker adds what is missing.
"""

import threading
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection

from turntape.cassettes.recording.running_session import Again
from turntape.cassettes.recording.write_queue import WAITING_BYTES
from turntape.cassettes.redaction.redactor import Redactor
from turntape.cassettes.tape.model import RoundTrip

from .messages import Ended, Failed, Line, Message, SessionOver, packed, unpacked

_PER_ITEM = 1000
"""About how many bytes an item takes beside its bodies."""
_LOOK = 0.05
"""Seconds between two looks at how many round trips are in the file."""


class Sender:
    """Takes what an engine records, as a `Recorder` does. At most `most` bytes wait, as for the disk.

    `written` says how many of the round trips that were handed in are in the file, or counted as lost.
    """

    def __init__(
        self,
        connection: "Connection[Message, object]",
        redactor: Redactor,
        written: Callable[[], int],
        most: int = WAITING_BYTES,
    ) -> None:
        self.given = 0
        """Round trips that were handed in."""
        self.on_given: Callable[[], object] = lambda: None
        self._connection = connection
        self._redactor = redactor
        self._written = written
        self._most = most
        self._waiting = 0
        self._queue: deque[tuple[Callable[[], Message], int, int]] = deque()
        """What makes a message, its size, and how many round trips are lost when that fails."""
        self._sent = 0
        """Round trips that were sent, or failed."""
        self._kept: deque[tuple[int, int, Ended]] = deque()
        """What may not be in the file yet: which of the round trips that were sent it is, its size, and itself."""
        self._change = threading.Condition()
        self._ending = False
        self._alone = False
        self._thread = threading.Thread(target=self._run, name="turntape sender", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """As `Recorder.waiting`."""
        return self._waiting

    def write(self, round_trip: RoundTrip) -> int:
        """As `Recorder.write`, but its number in the file is not known here; returns how many came before it."""
        self.given += 1
        self.on_given()
        request, response = round_trip.request.content, round_trip.response.content if round_trip.response else b""
        size = sum(len(content) for content in (request, response) if isinstance(content, bytes))
        size += sum(len(frame.data) for frame in round_trip.frames)
        self.send(lambda: packed(self._redactor.round_trip(round_trip)), size, round_trips=1)
        return self.given - 1

    def line(self, make: Callable[[Redactor], bytes], size: int) -> None:
        """As `Recorder.line`."""
        self.send(lambda: _line(make(self._redactor)), size)

    def session(self, name: str, again: Again | None) -> None:
        """A session runs, or has ended. The process that writes keeps its lines meanwhile."""
        if again is None:
            self.send(lambda: SessionOver(name))

    def send(self, make: Callable[[], Message], size: int = 0, *, round_trips: int = 0) -> None:
        """Send what `make` makes, which takes about `size` bytes until then. Waits while too much waits."""
        size += _PER_ITEM
        with self._change:
            while self._waiting and self._waiting + size > self._most and not self._alone and self._thread.is_alive():
                self._change.wait(1.0)
            self._waiting += size
            self._queue.append((make, size, round_trips))
            self._change.notify_all()

    @property
    def is_alone(self) -> bool:
        """True when the process that writes has ended on its own."""
        return self._alone

    def leave_alone(self) -> None:
        """The process that writes has ended on its own: nobody takes what is sent."""
        with self._change:
            self._alone = True
            self._change.notify_all()

    def close(self) -> list[RoundTrip]:
        """Send what is left, and wait until it is in the file. Returns the round trips that nobody has written."""
        with self._change:
            self._ending = True
            self._change.notify_all()
        self._thread.join()
        return [unpacked(ended) for _, _, ended in self._kept]

    def _run(self) -> None:
        while self._next():
            make, size, round_trips = self._queue.popleft()
            try:
                message = make()
            except Exception as exc:  # noqa: BLE001 - our fault must not end the recording of the rest
                message = Failed(str(exc), round_trips)
            self._sent += round_trips
            if isinstance(message, Ended):
                self._kept.append((self._sent, size, message))
            if not self._alone:
                try:
                    self._connection.send(message)
                except OSError:
                    self.leave_alone()
            if not isinstance(message, Ended):
                self._free(size)

    def _next(self) -> bool:
        """Wait for something to send. False when there is no more, and nothing that another process still writes."""
        while True:
            self._forget_written()
            with self._change:
                if self._queue:
                    return True
                if self._ending and (self._alone or not self._kept):
                    return False
                self._change.wait(_LOOK if self._kept and not self._alone else None)

    def _forget_written(self) -> None:
        if not self._kept or self._kept[0][0] > (written := self._written()):
            return
        size = 0
        while self._kept and self._kept[0][0] <= written:
            size += self._kept.popleft()[1]
        self._free(size)

    def _free(self, size: int) -> None:
        with self._change:
            self._waiting -= size
            self._change.notify_all()


def _line(data: bytes) -> Line:
    return Line(data.split(b'"', 4)[3].decode(), data)
