"""A run for views: a row for every round trip, and no bodies.

`Run.load(path)` reads a file whole; `Run(path)` and `read()` follow one that is being recorded. `detail(place)`
reads one round trip again with everything in it.
"""

import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Self

from turntape.cassettes.errors import CassetteError, FormatError
from turntape.cassettes.tape.lines import Windows
from turntape.cassettes.tape.model import RoundTrip
from turntape.cassettes.tape.reader import Tail
from turntape.cassettes.tape.trip_lines import LONG

from ..tools.spans import spans_ahead, spans_in
from ..tools.tool_run import ToolRun
from ..wire.exchange import Exchange
from ..wire.parse import read_exchange
from ..wire.sessions import SessionPart, part_of, turns_of
from ..wire.values import Reading
from .detail import Detail
from .first_row import first_row
from .row import Row
from .rows import Rows

if TYPE_CHECKING:
    from ..ledger import Ledger
    from .row_maker import RowMaker

KEPT = 8
"""How many details are kept."""
LARGE = 16_000_000
"""Of details with more bytes of bodies than this only the last one is kept."""
_AT_HAND = 2_500_000
"""Bytes of lines that are held, since pages are made faster from them; in memory they take about twice as much."""


type Known = tuple[RoundTrip, Exchange, Reading, SessionPart | None]
"""A round trip, and what was read from it."""


class Run:
    """The rows of a file, and its round trips one by one. `first` and `read` in one thread, the rest in any."""

    def __init__(self, path: str | os.PathLike[str], *, priced: bool = True) -> None:
        self.path = Path(path)
        self.rows = Rows()
        self._tail = Tail(self.path, keep_labels=False, longest=LONG, room=_AT_HAND)
        self._priced = priced
        self._made: RowMaker | None = None
        """Makes the rows, once one was wanted: it loads the rules and the ledger."""
        self.known_ledger: Ledger | None = None
        """The ledger that was made last, maybe of fewer rows; for what must not wait for it."""
        self._making = Lock()
        self._begun: Iterator[RoundTrip] | None = None
        """What `first` left to `read`."""
        self._known: OrderedDict[int, Known] = OrderedDict()
        self._lock = Lock()
        self._given: dict[int, RoundTrip] | None = None
        self._windows: Windows | None = None

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a whole file. Raises CassetteError or FormatError when it is not a cassette."""
        run = cls(path)
        for rows in run.read():
            run.rows.put(rows)
        run.rows.put(run.close())
        run.check()
        return run

    @classmethod
    def of(cls, round_trips: Iterable[RoundTrip]) -> Self:
        """A run in memory, for tests and for runs that have no file."""
        run = cls(Path("memory"))
        run._given = {trip.index: trip for trip in round_trips}
        run._maker.expect(spans_ahead([*run._given.values()]))
        for rows in run.update(run._given.values()):
            run.rows.put(rows)
        run.rows.put(run.close())
        return run

    @property
    def problems(self) -> list[str]:
        """What could not be read of the file, one sentence each."""
        return self._tail.problems

    @property
    def ledger(self) -> "Ledger":
        """What every piece of the prompts cost, of the rows that were read so far; kept until more are read."""
        return self.made_ledger()

    def made_ledger(self, rest: Callable[[], None] = lambda: None) -> "Ledger":
        """The same; `rest` is called between two pieces of the work."""
        self.known_ledger = self._maker.ledger.ledger(rest)
        return self.known_ledger

    @property
    def unjoined(self) -> list[ToolRun]:
        """The tool runs for which no call of the model was found, in the order of the file."""
        return [run for row in self.rows.all if not row.is_turn for run in row.tool_runs if run.joined is None]

    def check(self) -> None:
        """Raises FormatError when nothing was recorded in the file, not even its header."""
        if self._tail.header is None:
            raise FormatError(f"{str(self.path)!r} is empty: it holds no recording; record again")

    def first(self) -> Row | None:
        """The row of the first round trip, as `first_row` makes it; `read` then begins with it again.

        None when there is no round trip yet, or none of which this says enough.
        """
        news = self._tail.news()
        trip = next(news, None)
        if trip is None:
            return None
        self._begun = chain((trip,), news)
        if (found := first_row(trip)) is None:
            return None
        row, trip, exchange, reading = found
        with self._lock:
            self._known[0] = (trip, exchange, reading, None)
        return row

    def read(self) -> Iterator[list[Row]]:
        """The rows of new round trips in the file, in small batches, so that a view can show the first ones early."""
        begun, self._begun = self._begun, None
        if self._tail.header is None or begun is not None:
            self._maker.expect(spans_in(self.path))
        yield from self.update(self._tail.news() if begun is None else begun)

    def update(self, round_trips: Iterable[RoundTrip]) -> Iterator[list[Row]]:
        """The rows of more round trips; the caller adds them to `rows` when that is safe."""
        for trip in round_trips:
            rows = list(self._maker.add(trip))
            del trip  # its bodies may be large, and the next one is read while this waits
            yield rows

    @property
    def priced(self) -> bool:
        """False while the first rows wait for `price`: until then nothing should look into the table of prices."""
        return self._priced if self._made is None else self._made.priced

    def price(self) -> list[Row]:
        """The rows that had no price, now with it."""
        return list(self._maker.price())

    @property
    def _maker(self) -> "RowMaker":
        with self._making:
            if self._made is None:
                from .row_maker import RowMaker

                self._made = RowMaker(priced=self._priced, again=self._round_trip)
            return self._made

    def close(self) -> list[Row]:
        """The rows that the end of the recording changes."""
        self._maker.continues(self._tail.continued)
        self._maker.command_ended(self._tail.command_end)
        self._tail.forget()  # before the last turns are read again: both may be large
        return list(self._maker.close())

    def detail(self, place: int) -> Detail:
        """The round trip at that place. Raises CassetteError when the file no longer holds it."""
        row = self.rows.all[place]
        trip, exchange, reading, part = self._read(place)
        before, after = self.rows.before(place), self.rows.after(place)
        previous = self._neighbour(before) if not row.messages_before else None
        following = self._neighbour(after) if reading.emission and reading.emission.calls else None
        return Detail(row, trip, exchange, reading, previous, following, part)

    def in_order(self) -> None:
        """All details are read now, in the order of the file: the last bodies are held for that."""
        self._windows = Windows()

    def _neighbour(self, place: int | None) -> Reading | None:
        """A neighbour of a turn; None if it cannot be read, because the turn can be shown without it."""
        try:
            return None if place is None else self._read(place)[2]
        except CassetteError:
            return None

    def reading(self, place: int) -> Reading:
        """The reading of the round trip at that place."""
        return self._read(place)[2]

    def exchange(self, place: int) -> Exchange:
        """The round trip at that place; its parts are parsed when they are used."""
        return self._read(place)[1]

    def _read(self, place: int) -> Known:
        with self._lock:
            if place in self._known:
                self._known.move_to_end(place)
                return self._known[place]
            if sum(_bodies(one[0]) for one in self._known.values()) > LARGE:
                self._known.clear()  # before the next one is made: both may be large
        row = self.rows.all[place]
        trip, part = self._round_trip(row.index), None
        if row.session is not None:
            turns = turns_of(trip)
            part = part_of(trip, turns, row.session)
            trip = turns[row.session]
        # Resolve the body once, because it may be stored as a difference to other bodies.
        trip = replace(trip, request=replace(trip.request, content=trip.request.body))
        exchange = Exchange(trip)
        found = (trip, exchange, read_exchange(exchange), part)
        with self._lock:
            self._known[place] = found
            size = sum(_bodies(one[0]) for one in self._known.values())
            while len(self._known) > KEPT or (size > LARGE and len(self._known) > 1):
                _, dropped = self._known.popitem(last=False)
                size -= _bodies(dropped[0])
        return found

    @property
    def held(self) -> int:
        """How many round trips were read from the file so far."""
        return self._tail.held if self._given is None else len(self._given)

    @property
    def share(self) -> float:
        """How much of the file was read, from 0 to 1."""
        return self._tail.share if self._given is None else 1.0

    def again(self, start: int = 0) -> Iterator[RoundTrip | None]:
        """The round trips read so far, from that number of them on, once more; None for one that cannot be read."""
        return self._tail.again(start) if self._given is None else islice([*self._given.values()], start, None)

    def _round_trip(self, number: int) -> RoundTrip:
        return self._tail.round_trip(number, self._windows) if self._given is None else self._given[number]


def _bodies(trip: RoundTrip) -> int:
    """The bytes of a round trip's bodies."""
    return len(trip.request.body) + (len(trip.response.body) if trip.response is not None else 0)
