"""What waits for the thread that writes a recording: bounded in bytes, collected into batches, taken with pauses."""

import threading
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter, sleep

from ..redaction.redactor import Redactor
from ..redaction.search_process import LEAST
from ..tape.bounds import MOST_IN_TOTAL
from ..tape.model import RoundTrip

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
LABELS_WAITING = 8 << 20
"""The same for a label: no traffic waits with it."""
LOOK = 1.0
"""Seconds after which a waiting caller checks that the thread is alive: a forked process has none. The thread looks at
its file as often."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A round trip, a line, or a function that makes one, which waits for the disk."""

    number: int
    """That of the round trip; for a line, that of the next one."""
    item: RoundTrip | bytes | Callable[[Redactor], bytes]
    size: int
    """About how many bytes of memory it takes."""
    unloaded: int = 0
    """How many bytes of it are not in memory."""
    is_clean: bool = False
    """True when its secrets are replaced already."""
    on_done: Callable[[], object] | None = None
    """Called when it is in the file, or counted as lost."""


class WriteQueue:
    """Many threads hand in, and `thread` takes.

    At most `most` bytes wait, or one item that is larger. An item of more than 4 MB that is being written does not
    count: that takes seconds, in which no caller waits for it.
    """

    def __init__(self, thread: threading.Thread, most: int) -> None:
        self._thread = thread
        self._most = most
        self._items: deque[Waiting] = deque()
        self._size = self._unloaded = 0
        self._handed_in = self._done = 0
        """How many items came into the queue, and how many of these are written."""
        self._aside = 0
        """The size of a long item that is being written."""
        self._blocked = 0
        """Callers that wait for room; what they hand in is written before the end."""
        self._room = threading.Condition()
        """Guards all of the above and `_closing`; notified after each item."""
        self._wake = threading.Event()
        self._hurry = threading.Event()
        """Set when a caller waits for the disk; then no larger batch is collected."""
        self._closing = False

    @property
    def size(self) -> int:
        """About how many bytes of memory wait."""
        return self._size

    @contextmanager
    def room(self, size: int, *, for_label: bool = False) -> Generator[bool]:
        """Wait until `size` bytes have room; inside, nobody else hands in. False after `close`: nothing is taken."""
        with self._room:
            is_open = not self._closing
            if is_open:
                self._wait_for_room(size, min(self._most, LABELS_WAITING) if for_label else self._most)
            yield is_open
        self._wake.set()

    def _wait_for_room(self, size: int, most: int) -> None:
        self._blocked += 1
        try:
            while (waiting := self._size - self._aside) and waiting + size > most and self._thread.is_alive():
                self._hurry.set()
                self._wake.set()
                self._room.wait(LOOK)
        finally:
            self._blocked -= 1

    def add(self, waiting: Waiting) -> None:
        """Hand in what has got its `room`."""
        self._size += waiting.size
        self._unloaded += waiting.unloaded
        self._handed_in += 1
        self._items.append(waiting)

    def flush(self, waiting: Callable[[int], object]) -> None:
        """Wait until everything that was handed in so far is written; `waiting` gets how many bytes are left."""
        with self._room:
            last = self._handed_in
            while self._done < last and self._thread.is_alive():
                self._hurry.set()
                self._wake.set()
                if not self._room.wait_for(lambda: self._done >= last, LOOK):
                    waiting(self._size + self._unloaded)

    def close(self) -> None:
        """Take nothing more. What is in the queue is still written."""
        with self._room:
            self._closing = True
        self._hurry.set()
        self._wake.set()

    # The thread that writes calls what follows.

    def collect(self) -> None:
        """Wait for items, and a moment for more of them. Returns without any after about a second."""
        if not self._wake.wait(LOOK):
            return
        self._wake.clear()
        if not self._hurry.wait(BATCH_SECONDS) and self._wake.is_set():
            self._hurry.wait(BUSY_SECONDS)
            self._wake.clear()

    def drain(self, write: Callable[[Waiting], object]) -> bool:
        """Write what is in the queue now, and count it as done; what is handed in meanwhile is the next batch.

        True when there was something.
        """
        batch = len(self._items)
        begun = perf_counter()
        hurries_at = begun + _UNHURRIED
        for _ in range(batch):
            self._write_first(write)
            if (now := perf_counter()) - begun > RUN_SECONDS:
                at_ease = now < hurries_at and self._size < _AT_EASE and not self._hurry.is_set()
                if at_ease and self._items:
                    sleep(PAUSE_SECONDS)
                begun = perf_counter()
        return batch > 0

    def _write_first(self, write: Callable[[Waiting], object]) -> None:
        waiting = self._items.popleft()
        if waiting.size >= LEAST:
            with self._room:
                self._aside = waiting.size
                self._room.notify_all()
        write(waiting)
        size, unloaded = waiting.size, waiting.unloaded
        # Whoever waits for room may have its memory.
        del waiting
        with self._room:
            self._size -= size
            self._unloaded -= unloaded
            self._done += 1
            self._aside = 0
            self._room.notify_all()

    def has_ended(self) -> bool:
        """True when everything is written and nothing can follow; else larger batches may be collected again."""
        with self._room:
            if self._closing:
                return not self._items and not self._blocked
            self._hurry.clear()
            return False
