"""Round trips to rows, as they are recorded."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from turntape.cassettes.tape.command_end import CommandEnd
from turntape.cassettes.tape.model import RoundTrip

from ..analysis.pricing import cost_of
from ..ledger import LedgerBuilder
from ..tools.tool_run import ToolRun
from ..wire.sessions import turns_of
from ..wire.values import Reading
from .labels import Key, LabelledRoundTrip, Labeller
from .row import Row, row_of, settled

PRICED_LATER = 60
"""At most this many rows wait for their price, with their bodies."""
WAITING = 8_000_000
"""Nor do rows with more bytes of bodies than this."""


class RowMaker:
    """Makes rows from round trips as they arrive. A row is made again when later turns of its thread add to it.

    With `priced` false the first rows have no cost, because the table of prices takes too long to load for the first
    screen; `price` gives them again with their cost. `again` is that of `Labeller`.
    """

    def __init__(self, *, priced: bool = True, again: Callable[[int], RoundTrip] | None = None) -> None:
        self._labeller = Labeller(price=cost_of if priced else _later, again=again)
        self._rows: dict[Key, Row] = {}
        """The latest form of each row."""
        self._tools: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._waiting: dict[Key, tuple[Row, RoundTrip, Reading]] | None = None if priced else {}
        self._size = 0
        """The bytes of the bodies of the rows that wait."""
        self.priced = priced
        """Whether the table of prices is loaded, and all rows so far have their cost."""
        self._places: dict[Key, int] = {}
        self.ledger = LedgerBuilder()
        """What every piece of the prompts cost, made in the same pass."""

    def expect(self, runs: Sequence[ToolRun]) -> None:
        """As `Labeller.expect`."""
        self._labeller.expect(runs)

    def continues(self, numbers: Collection[int]) -> None:
        """As `Labeller.continues`."""
        self._labeller.continues(numbers)

    def command_ended(self, end: CommandEnd | None) -> None:
        """As `Labeller.command_ended`."""
        self._labeller.command_ended(end)

    def add(self, round_trip: RoundTrip) -> Iterator[Row]:
        if self._waiting is not None and (len(self._waiting) >= PRICED_LATER or self._size > WAITING):
            yield from self.price()
        # The labels of a session come in order, but that of a turn comes again when the next one shows what followed.
        places = {_begun(turn): place for place, turn in enumerate(turns_of(round_trip))}
        for index, one in self._labeller.follow(round_trip):
            yield self._row(index, one, places.get(_begun(one.round_trip)))

    def close(self) -> Iterator[Row]:
        """The rows that the end of the recording changes."""
        yield from self.price()
        for index, one in self._labeller.finish():
            yield self._row(index, one, None)
        # The last turn of each thread is held for what may follow.
        self._labeller = Labeller()
        self.ledger.forget()

    def price(self) -> Iterator[Row]:
        """The rows that were made without a price, now with it. All later rows have theirs."""
        waiting, self._waiting = self._waiting, None
        if waiting is None:
            return
        self._labeller.price = cost_of
        for row, trip, reading in waiting.values():
            cost = cost_of(trip, reading)
            if cost is None:
                continue
            priced = replace(
                row,
                cost=cost.amount,
                cost_source=cost.source,
                input_cost=cost.input,
                cost_parts=cost.parts,
                unpriced_fees=cost.unpriced_fees,
            )
            self._rows[row.key] = priced
            yield priced
        self.priced = True

    def _row(self, index: int, one: LabelledRoundTrip, session: int | None) -> Row:
        key: Key = (index, *_begun(one.round_trip))
        self.ledger.add(self._places.setdefault(key, len(self._places)), one)
        known = self._rows.get(key)
        if known is not None:
            row = settled(known, one)
        else:
            row = row_of(key, one, session)
            # The same tools are offered turn after turn: their names are held once.
            row = replace(row, tools=self._tools.setdefault(row.tools, row.tools))
        self._rows[key] = row
        if self._waiting is not None:
            self._waiting[key] = (row, one.round_trip, one.reading)
            self._size += row.request_bytes + row.response_bytes
        return row


def _later(trip: RoundTrip, reading: Reading) -> None:
    """No price yet."""


def _begun(trip: RoundTrip) -> tuple[float, float]:
    """When it began, which differs for each turn of a session."""
    return trip.started_at, trip.request_at or 0
