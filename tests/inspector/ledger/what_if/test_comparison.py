"""Bills beside each other."""

import json
from dataclasses import replace
from decimal import Decimal

import pytest
from cached_turns import MARK, POLICY, TOOL, asks, claude, gpt, says, text

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.ledger.what_if import Change, Comparison, compare_bills, comparison, recorded_run
from turntape.inspector.ledger.what_if.bills import by_the_rules
from turntape.inspector.ledger.what_if.recorded import RecordedRun
from turntape.inspector.run.labels import label_all
from turntape.inspector.wire.cache_rules import Unpromised

NOW = 1_795_000_000.0
U = asks(text("What is a tape?", MARK))
MORE = [asks(text("What is a tape?")), says("Fine."), asks(text("And a reel?", MARK))]


def recorded(*trips: RoundTrip) -> RecordedRun:
    moved = [replace(trip, index=n, started_at=trip.started_at + NOW) for n, trip in enumerate(trips)]
    return recorded_run(label_all(moved))


def compared(*trips: RoundTrip, changes: tuple[Change, ...] = ()) -> Comparison:
    return compare_bills(recorded(*trips), changes)


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


MISSED = [LOOP[0], claude(MORE, (0, 5266, 3), at=30)]
"""The second turn reads nothing of the cache, although its prompt is unchanged."""


def test_what_a_change_makes_alone_is_parted_from_what_the_cache_makes() -> None:
    (capped,) = compared(*MISSED, changes=(Change(without=("look",)),)).scenarios
    rules = by_the_rules(recorded(*MISSED)).amount

    assert rules is not None and capped.bill.amount is not None
    assert capped.difference is not None and capped.alone is not None
    assert capped.alone == capped.bill.amount - rules
    assert capped.alone_share == capped.alone / rules
    assert capped.difference < capped.alone <= 0, "most of it is the cache"


@pytest.mark.parametrize(
    "change",
    [Change(cache="none"), Change(tier="batch"), Change(model="claude-haiku-4-5"), Change(cache="none", cap=10)],
)
def test_a_bill_without_a_cache_or_with_the_recorded_reads_has_no_part_of_its_rules(change: Change) -> None:
    (one,) = compared(*MISSED, changes=(change,)).scenarios
    assert (one.alone, one.alone_share) == (None, None)


def test_where_the_cache_followed_its_rules_the_change_makes_all_of_the_difference() -> None:
    (one,) = compared(*LOOP, changes=(Change(without=("look",)),)).scenarios
    assert one.alone is None


def test_an_idle_tool_that_costs_a_trifle_is_not_shown_for_what_the_cache_would_save(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert any(one.change.without for one in compared(*MISSED).scenarios)
    monkeypatch.setattr(comparison, "_WORTH", Decimal("0.1"))
    found = compared(*MISSED)
    assert any("as the rules" in one.what for one in found.scenarios)
    assert [one.change.without for one in found.scenarios if one.change.without] == []


def gpts(read: int, model: str = "gpt-4.1", **fields: str) -> tuple[RoundTrip, ...]:
    """Three turns of a model of OpenAI, the later ones with so many tokens from its cache."""
    said = [message for n in range(3) for message in ({"role": "user", "content": f"{n}" * 4_000}, says("Fine."))]
    return tuple(
        gpt(said[: 2 * n + 1], (3_000 + 1_000 * n, read if n else 0, 40), at=20 * n, model=model, **fields)
        for n in range(3)
    )


def test_reads_that_no_provider_promises_are_not_called_promised() -> None:
    found = compared(*gpts(0))
    (own,) = [one for one in found.scenarios if one.change == Change()]

    assert own.what == "with each read that the cache allows" and not own.promised
    assert own.difference is not None and own.difference < 0
    assert any("promises no reads from its cache" in one and "and fewer may happen" in one for one in own.assumptions)
    assert any("promises no reads" in one for one in compared(*gpts(0), changes=(Change(cap=10),)).assumptions)


def test_a_provider_that_promises_reads_is_not_said_to_promise_none() -> None:
    (own,) = [one for one in compared(*MISSED).scenarios if one.change == Change()]

    assert own.promised and own.assumptions == ("The cache begins empty and follows its provider's rules.",)
    assert not any("promises no reads" in one for one in compared(*MISSED).assumptions)


@pytest.mark.parametrize(("key", "promised"), [({"prompt_cache_key": "k"}, True), ({}, False)])
def test_a_promise_that_depends_on_a_key_is_one_with_a_key_alone(key: dict[str, str], promised: bool) -> None:
    (capped,) = compared(*gpts(0, "gpt-5.6", **key), changes=(Change(cap=10),)).scenarios

    assert capped.promised is promised
    assert any("promises no reads" in one for one in capped.assumptions) is not promised


@pytest.mark.parametrize("change", [Change(cache="none"), Change(tier="batch")])
def test_what_needs_no_made_up_reads_says_nothing_of_them(change: Change) -> None:
    (one,) = compared(*gpts(1_024), changes=(change,)).scenarios

    assert one.promised and not any("cache" in text for text in one.assumptions)


def test_a_cache_without_known_rules_is_said_to_keep_its_share() -> None:
    run = recorded(*gpts(1_024))
    run.turns = [replace(turn, rule=Unpromised()) for turn in run.turns]
    (capped,) = compare_bills(run, [Change(cap=10)]).scenarios

    assert "A cache without known rules is read for the same share of the input as it was." in capped.assumptions
    assert not any("provider's rules" in one for one in capped.assumptions)


def test_what_a_cache_that_follows_its_rules_saves_is_not_promised_for_other_marks() -> None:
    """The marks are where they were, so nothing of the difference is theirs."""
    (marked,) = compared(*MISSED, changes=(Change(cache="5m", marks=("last",)),)).scenarios

    assert marked.difference is not None and marked.difference < 0
    assert marked.alone == 0
    assert not [one for one in compared(*MISSED).scenarios if one.change.cache == "5m"]


def test_all_changes_together_part_what_the_cache_makes_too() -> None:
    """Model and cap together: what the cache makes is what it makes at the prices of that model."""
    model, cap = Change(model="claude-haiku-4-5"), Change(without=("look",))
    by_change = {one.change: one for one in compared(*MISSED, changes=(model, cap)).scenarios}
    together, alone = by_change[model | cap], by_change[cap]

    priced = by_change[model].difference
    assert by_change[model].alone is None and priced is not None
    assert together.alone is not None and alone.alone is not None and together.difference is not None
    assert together.difference < together.alone <= priced


def test_a_tier_without_a_price_is_not_blamed_on_the_model() -> None:
    tier, model = Change(tier="flex"), Change(model="claude-haiku-4-5")
    found = compared(*LOOP, changes=(model, tier))

    assert next(one for one in found.scenarios if one.change == model).bill.amount is not None
    assert not any("No price is known" in one for one in found.assumptions)
    assert "The price list has no price on the flex tier." in found.assumptions
    assert "The price list has no price of 'claude-haiku-4-5' on the flex tier." in found.assumptions
