"""All rows of a run, and the way from a turn to the ones before and after it."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from turntape.cassettes.frozen import frozen

from .labelled import Key
from .row import Row


@frozen
class RowUpdate:
    """The result of an update: rows from `first` on are new, rows at `again` have changed."""

    first: int
    again: tuple[int, ...] = ()


class Rows:
    """All rows of a run in the order in which they arrived, and the places of each thread."""

    def __init__(self) -> None:
        self.all: list[Row] = []
        self.threads: dict[str, list[int]] = {}
        """Places of each thread's turns, in order."""
        self.by_index: dict[int, int] = {}
        """Round trip number → its first place."""
        self._places: dict[Key, int] = {}

    def put(self, rows: Iterable[Row]) -> RowUpdate:
        """Add new rows, and replace those that have changed."""
        first, again = len(self.all), set[int]()
        for row in rows:
            place = self._places.get(row.key)
            if place is not None:
                self.all[place] = row
                if place < first:
                    again.add(place)
                continue
            place = len(self.all)
            self.all.append(row)
            self._places[row.key] = place
            self.by_index.setdefault(row.index, place)
            if row.thread is not None:
                self.threads.setdefault(row.thread, []).append(place)
        return RowUpdate(first, tuple(sorted(again)))

    def before(self, place: int) -> int | None:
        """The place of the previous turn of its thread; the attempts of one turn have the same."""
        row = self.all[place]
        if row.thread is None or row.turn is None:
            return None
        places = self.threads[row.thread]
        earlier = (places[at] for at in range(bisect_left(places, place) - 1, -1, -1))
        return next((p for p in earlier if (self.all[p].turn or 0) < row.turn), None)

    def after(self, place: int) -> int | None:
        """The place of the next turn of its thread."""
        row = self.all[place]
        if row.thread is None or row.turn is None:
            return None
        places = self.threads[row.thread]
        later = (places[at] for at in range(bisect_right(places, place), len(places)))
        return next((p for p in later if (self.all[p].turn or 0) > row.turn), None)

    def first_of_agent(self) -> int | None:
        """Where a reader begins: the first turn that does not only name or classify the task; else the first turn.

        None where there is no turn.
        """
        begins = [places[0] for places in self.threads.values()]
        return next((at for at in begins if not self.in_side_call(at)), begins[0] if begins else None)

    def in_side_call(self, place: int) -> bool:
        """Whether the thread of a row is a side call, as far as it is known: its first turn comes again with that."""
        thread = self.all[place].thread
        edge = self.all[self.threads[thread][0]].edge if thread is not None else None
        return edge is not None and edge.kind == "side_call"

    def first_trouble(self) -> int | None:
        """Where the run first went wrong: the place of the first row with an error, else of the first with a warning.

        Every view that names the first trouble asks here.
        """
        first = {row.worst: place for place, row in reversed(list(enumerate(self.all)))}
        return first.get("error", first.get("warning"))

    def name_of(self, place: int) -> str:
        """A turn by its number and, if there are several, its thread; another round trip by its number in the file.

        Empty for a place whose row is not here yet: the ledger of a file that is being read is ahead of the rows.
        """
        if place >= len(self.all):
            return ""
        row = self.all[place]
        if not row.is_turn:
            return f"#{row.index}"
        return f"turn {row.label}" + (f" of {row.thread}" if len(self.threads) > 1 else "")
