"""The causes of misses agree with the findings about the cache: one truth."""

from dataclasses import replace
from typing import Any

import pytest
from cached_turns import HOUR, MARK, POLICY, TOOL, asks, claude, entries, says, text

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


FIND, KEEP, DROP, SORT = ({**TOOL, "name": name} for name in ("find", "keep", "drop", "sort"))


@pytest.mark.parametrize(
    ("message", "at", "first_byte", "second"),
    [
        ("the tools changed: find added", "/tools/1", 0, lost(tools=[TOOL, FIND])),
        ("the tools changed: look removed and find added", "/tools/0", 0, lost(tools=[FIND])),
        (
            "the tools changed: drop, find, keep, sort added",
            "/tools/1",
            0,
            lost(tools=[TOOL, DROP, FIND, KEEP, SORT]),
        ),
        ("the tools changed: look removed", "/system/0", 0, lost(tools=[])),
        (
            "the tools changed: the definition of look changed",
            "/tools/0",
            13,
            lost(tools=[{**TOOL, "description": "Lookéd."}]),
        ),
        (
            "the system prompt changed: '…hortly and with care. Answer shortly…' became "
            "'…hortly and wéth care. Answer shortly…'",
            "/system/0",
            200,
            lost(system=f"{POLICY[:200]}é{POLICY[201:]}"),
        ),
        (
            "`tool_choice` changed, and the cache of the messages depends on it",
            "",
            None,
            lost(tool_choice={"type": "any"}),
        ),
        ("`speed` changed, and the cache of the system depends on it", "", None, lost(speed="fast")),
        ("the cache lives for 5 minutes, and was last used 5 minutes 1 s earlier", "", None, lost(at=301)),
        ("the cache lives for 5 minutes, and was last used 15 minutes earlier", "", None, lost(at=903)),
        ("the cache lives for 5 minutes, and was last used 2 hours earlier", "", None, lost(at=7300)),
        ("the prefix is unchanged and still alive, and the API did not read it", "", None, lost()),
        (
            "a cache mark looks back over 20 blocks and finds no entry: the mark before is farther away",
            "",
            None,
            lost(FAR),
        ),
        (
            "the model changed from claude-sonnet-4-6 to claude-sonnet-4-5; each model has its own cache",
            "",
            None,
            lost(model="claude-sonnet-4-5"),
        ),
    ],
)
def test_a_miss_in_words(message: str, at: str, first_byte: int | None, second: RoundTrip) -> None:
    miss = entries(claude([U], (5166, 0, 3)), replace(second, index=1))[1].miss

    assert miss is not None
    assert (miss.message, miss.at, miss.first_byte) == (message, at, first_byte)


@pytest.mark.parametrize(
    ("cause", "change"),
    [
        ("changed-tools", {"tools": [TOOL, FIND], "tool_choice": {"type": "any"}}),
        ("changed-tools", {"tools": [], "speed": "fast"}),
        ("speed", {"speed": "fast", "tool_choice": {"type": "any"}}),
        ("changed-system", {"system": "Now. " + POLICY, "tool_choice": {"type": "any"}}),
    ],
)
def test_of_two_changes_the_first_in_the_prompt_is_the_cause(cause: str, change: dict[str, Any]) -> None:
    assert judged(lost(**change))[0] == cause


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
