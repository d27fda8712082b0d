"""Bills beside each other."""

import json
from dataclasses import replace
from decimal import Decimal

from cached_turns import MARK, POLICY, TOOL, asks, claude, says, text

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.ledger.what_if import Change, Comparison, compare_bills, recorded_run
from turntape.inspector.run.labels import label_all

NOW = 1_795_000_000.0
U = asks(text("What is a tape?", MARK))
MORE = [asks(text("What is a tape?")), says("Fine."), asks(text("And a reel?", MARK))]


def compared(*trips: RoundTrip, changes: tuple[Change, ...] = ()) -> Comparison:
    moved = [replace(trip, index=n, started_at=trip.started_at + NOW) for n, trip in enumerate(trips)]
    return compare_bills(recorded_run(label_all(moved)), changes)


LOOP = (claude([U], (0, 5166, 3)), claude(MORE, (5166, 100, 3), at=30))
CLOCK = (
    claude([U], (0, 5166, 3), system="It is 12:01. " + POLICY),
    claude(MORE, (0, 5266, 3), at=30, system="It is 12:02. " + POLICY),
)


SEARCH = {"type": "web_search_20250305", "name": "web_search"}


def replace_tools(trip: RoundTrip) -> RoundTrip:
    """The same turn with a search of the API's own as its only tool."""
    body = {**json.loads(trip.request.body), "tools": [SEARCH]}
    return replace(trip, request=replace(trip.request, content=json.dumps(body).encode()))


def test_the_cheapest_is_first() -> None:
    found = compared(*LOOP)
    amounts = [one.bill.amount for one in found.scenarios]
    assert amounts == sorted(amounts, key=lambda one: one or Decimal(0))
    assert (found.turns, found.uncounted) == (2, 0)


def test_only_what_makes_a_difference_is_found() -> None:
    words = [one.what for one in compared(*LOOP).scenarios]
    assert "without a cache" in words and "as batch requests" in words
    assert "tools always in the same order" not in words
    assert not any("clock" in one for one in words)
    assert not any("as the rules" in one for one in words)


def test_a_clock_in_the_prompt_is_found() -> None:
    found = compared(*CLOCK)
    clock = next(one for one in found.scenarios if one.change.no_clock)
    assert clock.difference is not None and clock.difference < 0
    assert clock.share == clock.difference / (found.actual.amount or 1)
    assert "Dates, times, timestamps and ids are found by their form." in clock.assumptions


def test_never_called_tools_are_found() -> None:
    big = {**TOOL, "description": "Looks everywhere. " * 100}
    found = compared(
        *(claude(m, c, at=t, tools=[big]) for m, c, t in ((([U]), (0, 5166, 3), 0), (MORE, (5166, 100, 3), 9)))
    )
    assert [one.change.without for one in found.scenarios if one.change.without] == [("look",)]


def test_a_tool_that_the_api_runs_is_not_called_idle() -> None:
    """It may have found something without a call in the answer."""
    found = compared(*(replace_tools(trip) for trip in LOOP))
    assert [one.change.without for one in found.scenarios if one.change.without] == []


def test_what_the_api_did_against_its_rules_is_found() -> None:
    found = compared(LOOP[0], claude(MORE, (0, 5266, 3), at=30))
    (rules,) = [one for one in found.scenarios if one.what == "as the rules of the cache promise"]
    assert rules.bill.read == 5166


def test_named_changes_are_all_there_and_together() -> None:
    found = compared(*LOOP, changes=(Change(cap=10), Change(model="claude-haiku-4-5")))
    assert {one.what for one in found.scenarios} == {
        "results capped at 10 tokens",
        "on claude-haiku-4-5",
        "on claude-haiku-4-5, results capped at 10 tokens",
    }
    assert len(found.assumptions) == len(set(found.assumptions)) >= 3


def test_two_models_are_not_put_together() -> None:
    found = compared(*LOOP, changes=(Change(model="claude-haiku-4-5"), Change(model="no-such-model")))
    assert [one.what for one in found.scenarios] == ["on claude-haiku-4-5", "on no-such-model"]
    assert (found.scenarios[1].bill.amount, found.scenarios[1].share) == (None, None)


def test_a_model_without_a_price_is_named() -> None:
    found = compared(*LOOP, changes=(Change(model="claude-nope"), Change(model="claude-haiku-4-5")))
    unknown = next(one for one in found.scenarios if one.change.model == "claude-nope")
    assert unknown.bill.amount is None
    assert [one for one in found.assumptions if "No price" in one] == [
        "No price is known for 'claude-nope': check its name, or price it under [prices] in turntape.toml."
    ]
