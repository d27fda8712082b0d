"""Bills of a run in another form. The amounts of the first tests are vector 10 of the caching reference."""

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from cached_turns import MARK, POLICY, TOOL, asks, claude, gpt, says, text

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.analysis.pricing import cost_of
from turntape.inspector.ledger import ledger_of
from turntape.inspector.ledger.what_if import Bill, Change, RecordedRun, bill, recorded_run
from turntape.inspector.ledger.what_if.bills import by_the_rules
from turntape.inspector.ledger.what_if.simulate import Simulation
from turntape.inspector.run.labels import label_all
from turntape.inspector.wire.parse import read

NOW = 1_795_000_000.0
YEAR = 365 * 86_400.0
U = asks(text("What is a tape?", MARK))
BARE = asks(text("What is a tape?"))
MORE = [BARE, says("Fine."), asks(text("And a reel?", MARK))]


def recorded(*trips: RoundTrip) -> RecordedRun:
    return recorded_run(
        label_all([replace(trip, index=n, started_at=trip.started_at + NOW) for n, trip in enumerate(trips)])
    )


def priced(*trips: RoundTrip, **change: Any) -> Bill:
    return bill(recorded(*trips), Change(**change))


@pytest.mark.parametrize(
    ("model", "counts", "hour", "output", "amount"),
    [
        ("claude-opus-5-5", (2000, 1000, 3), 0, 500, "0.015412"),
        ("claude-haiku-5-5", (100_000, 5000, 5000), 3000, 1000, "0.01425"),
    ],
)
def test_reads_and_writes_have_their_prices(
    model: str, counts: tuple[int, int, int], hour: int, output: int, amount: str
) -> None:
    trip = replace(claude([U], counts, model=model, output=output), started_at=NOW)
    reading = read(trip)
    assert reading.usage is not None
    found = cost_of(trip, replace(reading, usage=replace(reading.usage, cache_write_1h=hour)))
    assert found is not None
    assert found.amount.quantize(Decimal("0.000001")) == Decimal(amount).quantize(Decimal("0.000001"))


LOOP = (claude([U], (0, 5166, 3)), claude(MORE, (5166, 100, 3), at=30))
MILLION = 1_000_000


def test_the_actual_bill() -> None:
    found = priced(*LOOP)
    output = 2 * 40 * 15
    assert found.amount == Decimal(5166 * 375 + 516600 // 100 * 30 + 100 * 375 + 6 * 300 + output * 100) / 100 / MILLION
    assert (found.input, found.read, found.written) == (10438, 5166, 5266)


def test_without_a_cache_all_is_fresh() -> None:
    found = priced(*LOOP, cache="none")
    assert found.amount == Decimal((5169 + 5269) * 3 + 80 * 15) / MILLION
    assert (found.read, found.written) == (0, 0)


def test_the_rules_give_what_happened_when_the_api_keeps_them() -> None:
    run = recorded(*LOOP)
    assert by_the_rules(run) == bill(run, Change())


def test_an_hour_costs_more_to_write_and_lives_longer() -> None:
    late = (LOOP[0], claude(MORE, (0, 5266, 3), at=900))
    assert priced(*late).read == 0
    found = priced(*late, cache="1h")
    assert (found.read, found.written) == (5166, 5266)
    assert found.amount == Decimal(5266 * 600 + 5166 * 30 + 6 * 300 + 1200 * 100) / 100 / MILLION


def test_marks_are_put_where_the_run_has_none() -> None:
    bare = (claude([BARE], (0, 0, 5169)), claude([BARE, says("Fine."), BARE], (0, 0, 5269), at=30))
    found = priced(*bare, cache="5m")
    assert (found.read, found.written) == (5166, 5266)
    only = priced(*bare, marks=("system",))
    assert 0 < only.read < 5166
    assert only.read == only.written


def test_another_model_and_tier() -> None:
    cheap = priced(*LOOP, model="claude-haiku-4-5")
    plain = priced(*LOOP)
    assert cheap.amount is not None and plain.amount is not None
    assert cheap.amount * 3 == plain.amount
    batch = priced(*LOOP, tier="batch").amount
    assert batch is not None and batch * 2 == plain.amount
    foreign = priced(*LOOP, model="openai/gpt-5-mini").amount
    assert foreign is not None and foreign < cheap.amount
    assert priced(*LOOP, model="no-such-model").amount is None


def test_a_tier_that_has_no_price_is_not_known() -> None:
    """The list has no batch price for that day, and it must not look as if batches saved nothing."""
    early = [replace(trip, started_at=trip.started_at - YEAR) for trip in LOOP]

    found = priced(*early, tier="batch")
    assert priced(*early).amount is not None
    assert found.amount is None and found.unpriced == len(early)
    mixed = priced(early[0], LOOP[1], tier="batch")
    assert mixed.unpriced == 1 and mixed.amount is not None
    assert priced(*early, tier="batch", model="claude-haiku-4-5").amount is None


def test_a_turn_that_was_on_the_tier_keeps_its_price() -> None:
    run = recorded(*(replace(trip, started_at=trip.started_at - YEAR) for trip in LOOP))
    turns = [
        replace(turn, priced=(turn.priced[0], replace(turn.priced[1], price_terms={"processing": "batch"})))
        for turn in run.turns
    ]

    same = replace(run, turns=turns)
    assert bill(same, Change(tier="batch")).amount == bill(run, Change()).amount
    assert bill(same, Change(tier="priority")).amount is None


OTHER = {"name": "find", "description": "Finds things. " * 60, "input_schema": {"type": "object"}}


def test_without_a_tool_its_definition_is_gone() -> None:
    run = recorded(
        claude([U], (0, 5166, 3), tools=[TOOL, OTHER]), claude(MORE, (5166, 100, 3), at=3, tools=[TOOL, OTHER])
    )
    whole, less = bill(run, Change()), bill(run, Change(without=("find",)))
    assert run.tools() == ["find", "look"]
    gone = whole.input - less.input
    assert gone > 0 and gone % 2 == 0
    assert less.read == whole.read - gone // 2


def test_sorted_tools_are_read_again() -> None:
    first = claude([U], (0, 5166, 3), tools=[OTHER, TOOL])
    mixed = claude(MORE, (0, 5266, 3), at=30, tools=[TOOL, OTHER])
    assert priced(first, mixed).read == 0
    assert priced(first, mixed, sort_tools=True).read == 5166


@pytest.mark.parametrize(
    "clock", ["It is 2026-11-22T12:0{}:30Z.", "Today is Monday, 12:0{} PM.", "Stamp: 179500000{}."]
)
def test_without_a_clock_the_prompt_is_read_again(clock: str) -> None:
    first = claude([U], (0, 5166, 3), system=clock.format(1) + POLICY)
    second = claude(MORE, (0, 5266, 3), at=30, system=clock.format(2) + POLICY)
    assert priced(first, second, no_clock=True).read == 5166
    edited = claude(MORE, (0, 5266, 3), at=30, system="Be quick. " + POLICY)
    assert priced(first, edited, no_clock=True).read == 0


def test_results_are_capped() -> None:
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "look", "input": {}}]}
    result = asks({"type": "tool_result", "tool_use_id": "t", "content": "long " * 4000, **MARK})
    sent = (
        claude([U], (0, 5166, 3), content=call["content"]),
        claude([BARE, {**call, "content": [*call["content"], text("Fine.")]}, result], (5166, 4040, 3), at=3),
    )
    run = recorded(*sent)
    assert 3900 <= run.largest_result() <= 4040
    assert bill(run, Change(cap=100)).input == bill(run, Change()).input - run.largest_result() + 100
    assert bill(run, Change(cap=5000)).input == bill(run, Change()).input


def test_a_cache_without_rules_is_scaled() -> None:
    words = {"role": "user", "content": "Say more. " * 300}
    trip = gpt([words], (2000, 1000, 9), model="gpt-3.5-turbo", tools=[{"type": "function", "function": {"name": "a"}}])
    run = recorded(trip)
    less = bill(run, Change(without=("a",)))
    assert less.input < 2000
    assert less.read == int(1000 * less.input / 2000)


def test_turns_without_counts_or_price_are_in_no_bill() -> None:
    failed = claude([U], (0, 5166, 3), status=529)
    run = recorded(failed, claude([U], (0, 5166, 3), model="private-1"))
    assert run.uncounted == 1
    assert bill(run, Change()) == Bill(None, 1, 5169, 0, 5166)


def test_a_stated_cost_keeps_its_share_of_the_price_list() -> None:
    """A gateway that takes a tenth more: a change that saves nothing costs nothing, and others cost a tenth more."""
    listed = gpt([BARE], (2000, 0, 9))
    assert listed.response is not None
    document = json.loads(listed.response.body)
    plain = bill(recorded(listed), Change()).amount
    assert plain is not None
    document["usage"]["cost"] = float(plain * Decimal("1.1"))
    stated = recorded(replace(listed, response=replace(listed.response, content=json.dumps(document).encode())))

    actual, same = bill(stated, Change()), bill(stated, Change(cache="none"))
    assert actual.amount == plain * Decimal("1.1") and same.stated == 1
    assert same.amount == pytest.approx(actual.amount)
    assert bill(stated, Change(model="gpt-4o")).amount == bill(recorded(listed), Change(model="gpt-4o")).amount


def test_a_piece_has_the_tokens_of_the_ledger() -> None:
    """A result of ten bytes and a result of ten thousand, each alone in its turn: the counts say what each has."""
    messages: list[dict[str, Any]] = [BARE]
    trips: list[RoundTrip] = []
    for at, (given, tokens) in enumerate((("", 3000), ("0" * 10_000, 9000), ("short text", 9060))):
        if given:
            messages = [*messages, says("Fine."), asks(text(given))]
        trips.append(claude([*messages[:-1], asks(text(given or "What is a tape?", MARK))], (0, tokens, 3), at=at))
    run = recorded(*trips)
    ledger = {piece.pointer: piece.first_tokens for piece in ledger_of(label_all(trips)).pieces if piece.place}

    nodes = {run.origins[node][1]: run.tokens(node) for node in run.turns[-1].prompt.nodes}
    for pointer in ("/messages/2/content/0", "/messages/4/content/0"):
        known = ledger[pointer]
        assert known is not None and abs(nodes[pointer] - known.value) <= 3


def test_a_long_thread_is_changed_as_a_short_one() -> None:
    """What a prompt has in common with the one before is not made again, whatever the change is."""
    whole = Change(sort_tools=True, no_clock=True, cap=1, cache="1h", marks=("tools", "system", "last"))
    trips = [*LOOP, replace(LOOP[0], started_at=90), replace(LOOP[1], started_at=120)]
    run = recorded(*trips)
    alone = [Simulation(replace(run, turns=[turn]), whole)._change_prompt(turn).totals for turn in run.turns]
    simulation = Simulation(run, whole)

    assert [list(simulation._change_prompt(turn).totals) for turn in run.turns] == alone
