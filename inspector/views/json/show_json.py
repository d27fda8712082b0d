"""`turntape show --json`: one object for each round trip, made from the recorded bytes."""

import json
from collections.abc import Iterable, Iterator

import orjson

from turntape.cassettes.tape.model import RoundTrip
from turntape.cassettes.tape.reader import Cassette

from ...ledger import LedgerBuilder, TurnEntry
from ...run.labels import Key, Label, label_stream
from ...run.turn_label import money


def show_json(round_trips: Iterable[RoundTrip], *, thread: str | None = None, hints: bool = False) -> Iterator[bytes]:
    """One JSON object a round trip, by number, keys as docs/show-json.md has them.

    With `thread` only its turns; `hints` adds the findings of tier H.
    """
    labels: dict[Key, Label] = {}
    places: dict[Key, int] = {}
    builder = LedgerBuilder()
    again = round_trips.round_trip if isinstance(round_trips, Cassette) and round_trips.path else None
    for key, done in label_stream(round_trips, hints=hints, again=again):
        labels[key] = done.label
        builder.add(places.setdefault(key, len(places)), done)
    ledger = builder.ledger()
    for key in sorted(labels):
        if thread is None or labels[key]["thread"] == thread:
            entry = ledger.at(places[key])
            yield dumps({**labels[key], "ledger": entry and _ledger(entry)})


def _ledger(entry: TurnEntry) -> dict[str, object]:
    """What a turn added, and its input by kind."""
    added = entry.added
    figure = added and {"tokens": added.value, "low": added.low, "high": added.high, "certainty": added.certainty}
    kinds = [
        {"kind": one.kind, "pieces": one.pieces, "bytes": one.size, "tokens": one.tokens, "cost_usd": money(one.cost)}
        for one in entry.kinds
    ]
    return {"added": figure, "input_cost_usd": money(entry.input_cost), "kinds": kinds}


def dumps(value: object) -> bytes:
    """JSON in one line, also of lone surrogates and integers beyond 64 bits, which models emit and orjson refuses."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value).encode()
