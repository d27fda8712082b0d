"""The first row, before the rules are loaded."""

from dataclasses import replace
from pathlib import Path

import pytest
import tool_tapes
from conversations import chat, loop, said, user
from round_trips import MESSAGES, exchanged
from viewing import EXAMPLE

from turntape.cassettes import Cassette, RoundTrip
from turntape.cassettes.tape.model import Frame
from turntape.inspector.run import first_row as module
from turntape.inspector.run.first_row import first_row
from turntape.inspector.run.row_maker import RowMaker

EXAMPLES = sorted(EXAMPLE.parent.rglob("*.cassette.jsonl"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_first_row_is_the_one_that_the_rules_get_without_what_they_find(path: Path) -> None:
    trip = next(iter(Cassette.load(path)))

    found = first_row(trip)

    [labelled] = RowMaker(priced=False).add(trip)
    assert found is not None
    assert found[0] == replace(labelled, findings=(), haystack=found[0].haystack)


def test_the_round_trip_of_a_first_row_needs_no_second_reading() -> None:
    found = first_row(loop()[0])

    assert found is not None
    row, trip, exchange, reading = found
    assert row.calls == ("look_up",) and reading.emission is not None
    assert exchange.round_trip is trip and trip.request.content == loop()[0].request.body


def test_a_round_trip_without_a_turn_or_with_several_has_no_first_row() -> None:
    turn = loop()[0]
    tools = next(trip for trip in tool_tapes.story().trips if trip.tool_wire is not None)
    other = exchanged(f"{MESSAGES}/count_tokens", {"model": "claude-opus-4-5"}, {"input_tokens": 3})
    session = replace(turn, frames=(Frame("client", 0, b"{}", True),))

    assert first_row(turn) is not None
    assert [first_row(trip) for trip in (tools, other, session)] == [None, None, None]


def test_a_large_round_trip_is_read_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    trip: RoundTrip = chat([user("a long text " * 20)], said("yes"))
    assert first_row(trip) is not None

    monkeypatch.setattr(module, "LARGEST", 200)

    assert first_row(trip) is None
