"""The thread that reads the rows of a run as the file grows."""

import gc
import threading
import time
from collections.abc import Callable

from turntape.cassettes.errors import TurntapeError

from ....run.row import Row
from ....run.run_index import Run

BATCH = 0.04
"""How long rows are collected before they are handed over, in seconds."""
POLL = 0.25
"""How often a growing file is checked, in seconds."""
LASTING = 250
"""The rows after which the garbage collector is to leave alone what is in memory."""
FIRST_PAGE = 0.5
"""For how long loading the rules and the table of prices waits for the first page, in seconds: all need the
processor."""
LAST_POLLS = 6
"""How often the file is checked after the command has ended: its last round trips may not be written yet."""


class RowReader(threading.Thread):
    """Reads the rows of a run and hands them over in batches.

    `more` says whether the file may still grow; None reads it once. `read` gets each batch. `ended` gets a problem or
    None, and whether no more rows will follow. Both are called on this thread, and `rest` after each round trip.
    `first` gets the first row before all others, as far as its own round trip shows it; it comes again.
    """

    def __init__(
        self,
        run: Run,
        more: Callable[[], bool] | None,
        read: Callable[[list[Row]], None],
        ended: Callable[[str | None, bool], None],
        rest: Callable[[], None] = lambda: None,
        first: Callable[[Row], None] | None = None,
    ) -> None:
        super().__init__(name="turntape-rows", daemon=True)
        self._run, self._more, self._read, self._ended, self._rest = run, more, read, ended, rest
        self._first = first
        self._stop = threading.Event()
        self._shown = threading.Event()
        self._young = 0
        """How many rows the garbage collector still looks through."""

    def stop(self) -> None:
        self._stop.set()
        self._shown.set()

    def page_shown(self) -> None:
        """The first page is on the screen."""
        self._shown.set()

    def run(self) -> None:
        try:
            self._read_first()
            self._read_new()
            if self._more is None:
                self._run.check()
            else:
                # All rows so far are read. Now the rest, as the file grows.
                self._ended(None, False)
                self._poll(self._more)
            if not self._stop.is_set():
                self._read(self._run.close())
                self._ended(None, True)
        except TurntapeError as error:
            self._ended(str(error), True)

    def _read_first(self) -> None:
        """Hand over the first row alone, and load what makes the others when its page is on the screen.

        A run that is followed is shown from its end, and one that begins with another round trip from its first turn:
        the first row would be shown for nothing.
        """
        if self._first is None or self._more is not None:
            return
        row = self._run.first()
        if row is not None and row.is_turn:
            self._first(row)
            self._shown.wait(FIRST_PAGE)

    def _poll(self, more: Callable[[], bool]) -> None:
        polls = 0
        while polls < LAST_POLLS and not self._stop.wait(POLL):
            polls = 0 if more() else polls + 1
            self._read_new()

    def _read_new(self) -> None:
        if self._stop.is_set():
            return
        batch: list[Row] = []
        since = 0.0
        for rows in self._run.read():
            if not batch:
                since = time.monotonic()
            batch += rows
            self._rest()
            self._set_aside(len(rows))
            if self._stop.is_set():
                return
            if time.monotonic() - since > BATCH:
                self._read(batch)
                batch = self._priced()
                # Let the thread of the screen draw.
                time.sleep(0.001)
                since = time.monotonic()
        if batch and not self._run.priced:
            self._read(batch)
            batch = []
        batch += self._priced()
        if batch:
            self._read(batch)

    def _priced(self) -> list[Row]:
        """The first rows are shown without prices; when they are on the screen, there is time to add them."""
        if not self._run.priced:
            self._shown.wait(FIRST_PAGE)
        return self._run.price()

    def _set_aside(self, rows: int) -> None:
        """Hide the rows from the garbage collector, which stops the screen while it looks through them all.

        They last as long as the viewer. Of a run of 5,000 turns it would take half a second, again and again.
        """
        self._young += rows
        if self._young >= LASTING:
            self._young = 0
            gc.collect()
            gc.freeze()
