"""The causes of misses agree with the findings about the cache: one truth."""

from dataclasses import replace
from typing import Any

import pytest
from cached_turns import HOUR, MARK, POLICY, asks, claude, entries, says, text

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.analysis.pricing import cost_of
from turntape.inspector.ledger import ledger_of
from turntape.inspector.ledger.cache.misses import price_of
from turntape.inspector.run.labels import label_all
from turntape.inspector.wire.parse import read

U = asks(text("What is a tape?", MARK))
BARE = asks(text("What is a tape?"))
END = asks(text("And a reel?", MARK))
MORE = [BARE, says("Fine."), END]
FAR = [BARE, says("Fine."), asks(*(text(f"block {n}") for n in range(24)), text("end", MARK))]


def judged(second: RoundTrip, first: RoundTrip | None = None) -> tuple[str | None, set[str]]:
    """The cause of the second turn's miss, and the findings about it above info."""
    trips = [first or claude([U], (5166, 0, 3)), second]
    found = label_all([replace(trip, index=n) for n, trip in enumerate(trips)])
    entry = ledger_of(found).turns[1].cache
    findings: Any = found[1].label["findings"]
    said = {one["id"] for one in findings if one["severity"] != "info"}
    return entry.miss.cause if entry is not None and entry.miss is not None else None, said


def lost(messages: list[dict[str, Any]] = MORE, *, at: float = 30, **fields: Any) -> RoundTrip:
    return claude(messages, (0, 5266, 3), at=at, **fields)


def test_the_api_is_to_blame_for_a_living_entry() -> None:
    assert judged(lost()) == ("unexplained", {"api-cache-drop"})


@pytest.mark.parametrize(
    ("cause", "second"),
    [
        ("expired", lost(at=301)),
        ("moved-breakpoint", lost(FAR)),
        ("no-breakpoint", lost([BARE, says("Fine."), asks(text("And a reel?"))])),
        ("tool-choice", lost(tool_choice={"type": "any"})),
        ("thinking", lost(thinking={"type": "enabled", "budget_tokens": 2000})),
        ("model", lost(model="claude-sonnet-4-5")),
    ],
)
def test_the_api_is_not_to_blame_for_what_its_rules_allow(cause: str, second: RoundTrip) -> None:
    found, said = judged(second)
    assert found == cause
    assert "api-cache-drop" not in said


def test_a_changed_prompt_is_the_clients() -> None:
    cause, said = judged(lost(system="It is 12:01. " + POLICY))
    assert cause == "changed-system"
    assert said == {"client-system-prompt-changed", "client-cache-prefix-busted"}


def test_an_entry_of_an_hour_lives_for_an_hour() -> None:
    first = claude([asks(text("What is a tape?", HOUR))], (5166, 0, 3))
    assert judged(lost(at=900), first) == ("unexplained", {"api-cache-drop"})
    assert judged(lost(at=3601), first) == ("expired", set())


@pytest.mark.parametrize("usage", [(0, 5266, 3), (0, 0, 5269), (100, 2000, 3166), (0, 4000, 1266)])
@pytest.mark.parametrize("hour", [0, 1500])
def test_a_miss_has_the_same_price_by_rates_as_by_two_bills(usage: tuple[int, int, int], hour: int) -> None:
    trip = claude(MORE, usage)
    reading = read(trip)
    assert reading.usage is not None
    reading = replace(reading, usage=replace(reading.usage, cache_write_1h=min(hour, usage[1])))
    paid = cost_of(trip, reading)
    assert paid is not None and paid.rates is not None

    for tokens in (1, 1024, 5000):
        by_bills = price_of(trip, reading, tokens)
        assert by_bills == price_of(trip, reading, tokens, paid.rates)
        assert by_bills is not None and by_bills > 0


def test_the_same_words_of_another_speaker_are_another_prompt() -> None:
    first = claude([BARE, says("Fine."), END], (0, 5266, 3))
    same, other = (
        entries(first, replace(claude([BARE, speaker, END], (5266, 0, 3), at=30), index=1))[1].read
        for speaker in (says("Fine."), asks(text("Fine.")))
    )

    assert same is not None and same.value == 5266
    assert other is None or other.value < 5266
