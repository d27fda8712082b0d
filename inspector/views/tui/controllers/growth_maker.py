"""The thread that makes the growth strip. It always makes the strip that was requested last."""

import threading
import time
from collections.abc import Callable, Sequence

from turntape.cassettes.frozen import frozen

from ....ledger import Ledger
from ....run.row import Row
from ....run.strip import Strip, strip_of
from .page_maker import Failure

REST = 20
"""While a file is read, the thread rests this many times as long as the processor took to make the strip."""
LONGEST = 2.0
"""But no more than so many seconds."""


@frozen
class _Request:
    rows: Sequence[Row]
    ledger: Ledger | None
    final: bool


class GrowthMaker(threading.Thread):
    """Makes the strip of the rows that were requested last. A request that is followed by another is dropped."""

    def __init__(self, done: Callable[[Strip | Failure], None]) -> None:
        super().__init__(name="turntape-growth", daemon=True)
        self._done = done
        self._next: _Request | None = None
        self._changed = threading.Condition()
        self._stopped = False
        self.busy = False
        """True from a request until its strip is handed over."""

    def request(self, rows: Sequence[Row], ledger: Ledger | None, *, final: bool) -> None:
        """Request a strip; `rows` must not change any more. One that is `final`, as all rows were read, has no wait."""
        with self._changed:
            self._next = _Request(rows, ledger, final)
            self.busy = True
            self._changed.notify()

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify()

    def run(self) -> None:
        while (wanted := self._take()) is not None:
            begun = time.thread_time()
            self._done(_made(wanted))
            self._rest(min(LONGEST, REST * (time.thread_time() - begun)))

    def _take(self) -> _Request | None:
        """The next request, once there is one; None when the thread is to end."""
        with self._changed:
            self.busy = self._next is not None
            self._changed.wait_for(lambda: self._next is not None or self._stopped)
            taken, self._next = self._next, None
            return None if self._stopped else taken

    def _rest(self, seconds: float) -> None:
        with self._changed:
            self.busy = self._next is not None
            self._changed.wait_for(lambda: self._stopped or (self._next is not None and self._next.final), seconds)


def _made(wanted: _Request) -> Strip | Failure:
    try:
        return strip_of(wanted.rows, wanted.ledger)
    except Exception as error:  # noqa: BLE001 - the turns must be shown, whatever is wrong with their picture
        return Failure(f"the growth strip could not be drawn: {type(error).__name__}: {error}")
