"""The row of the first round trip of a run, from its own bytes alone, so that a view has something to show at once.

The rules, the ledger and the joining of tools take longer to load than this round trip to read. It comes again with
its findings, as every row does that later turns add to.
"""

from dataclasses import replace

from turntape.cassettes.tape.carried import carried
from turntape.cassettes.tape.model import RoundTrip

from ..analysis.dispatch import dispatch
from ..analysis.threads import Threads
from ..wire.exchange import Exchange
from ..wire.parse import read_exchange
from ..wire.sessions import turns_of
from ..wire.values import Reading
from .labelled import LabelledRoundTrip
from .row import Row, row_of
from .turn_label import turn_label

LARGEST = 2_000_000
"""Bytes of bodies that are read twice; reading more of them takes longer than to load the rules."""

type FirstRow = tuple[Row, RoundTrip, Exchange, Reading]
"""A row, and what it was read from."""


def first_row(trip: RoundTrip) -> FirstRow | None:
    """The row of the first round trip, without findings; None for one that is not a turn, or is several."""
    size = len(trip.request.body) + (len(trip.response.body) if trip.response is not None else 0)
    if size > LARGEST or trip.frames or carried(trip) is not None or turns_of(trip):
        return None
    # As `Run.detail`: a body that is stored as a difference is put together once.
    trip = replace(trip, request=replace(trip.request, content=trip.request.body))
    exchange = Exchange(trip)
    reading = read_exchange(exchange)
    if not reading.is_generation:
        return None
    turn = Threads().add(trip, reading)
    label = turn_label(turn, None)
    label["client"] = {"history": turn.history, "outcome": dispatch(turn, None).outcome}
    row = row_of(
        (trip.index, trip.started_at, trip.request_at or 0), LabelledRoundTrip(trip, reading, turn, label), None
    )
    return row, trip, exchange, reading
