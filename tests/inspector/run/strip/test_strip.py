"""The growth of a run as lanes: amounts by kind, what turns added, the run up to a turn."""

from dataclasses import replace
from decimal import Decimal

import pytest
from conversations import loop
from strips import row

from turntape.inspector.analysis.pricing import CostParts
from turntape.inspector.run.newest import NewPiece
from turntape.inspector.run.run_index import Run
from turntape.inspector.run.strip.strip import KINDS, Addition, strip_of
from turntape.inspector.wire.values import Usage

NAMES = [name for name, _ in KINDS]


def test_the_amounts_of_a_turn_add_up_to_its_cost_and_its_tokens() -> None:
    parts = CostParts(*map(Decimal, ("0.1", "0.2", "0.4", "0.3", "0.05")))
    usage = Usage(input=1000, cache_read=600, cache_write=100, output=50, reasoning=20)
    one = row(1, cost="1.05", usage=usage, before=Usage(input=640), cost_parts=parts)

    turn = strip_of([one]).lanes[0].turns[0]

    assert turn.tokens is not None
    assert turn.dollars is not None
    assert dict(zip(NAMES, map(int, turn.tokens), strict=True)) == {
        "cache_read": 600, "rewritten": 40, "resent": 0, "cache_write": 60, "new": 300, "output": 30, "reasoning": 20,
        "other": 0,
    }  # fmt: skip
    # 0.2 for what was written is 2:3, 0.3 for the output is 3:2.
    assert [round(amount, 4) for amount in turn.dollars] == [
        Decimal(text) for text in ("0.1", "0.08", "0", "0.12", "0.4", "0.18", "0.12", "0.05")
    ]
    assert (turn.amount("dollars"), turn.amount("tokens")) == (Decimal("1.05"), 1050)


def test_a_cost_of_which_only_the_sum_is_known_is_not_divided() -> None:
    turn = strip_of([row(1, cost="0.5", usage=Usage(input=10, output=1))]).lanes[0].turns[0]

    assert turn.dollars == (*(Decimal(0),) * 7, Decimal("0.5"))


def test_what_is_not_known_is_not_0() -> None:
    found = strip_of([row(1, usage=Usage(input=10, output=1)), row(2, usage=Usage())])

    assert [turn.amount("dollars") for turn in found.lanes[0].turns] == [None, None]
    assert [turn.amount("tokens") for turn in found.lanes[0].turns] == [11, None]
    assert (found.total, found.unpriced) == (None, 2)
    assert (found.has("dollars"), found.has("tokens")) == (False, True)
    assert found.lanes[0].dollars is None


def test_each_thread_is_a_lane_in_the_order_in_which_they_began() -> None:
    found = strip_of([row(1, cost="1"), row(1, thread="t2", cost="2"), row(2, cost="4"), row(2, thread="t2")])

    assert [(lane.thread, [turn.place for turn in lane.turns]) for lane in found.lanes] == [
        ("t1", [0, 2]),
        ("t2", [1, 3]),
    ]
    assert [lane.dollars for lane in found.lanes] == [Decimal(5), Decimal(2)]
    assert [turn.so_far for turn in found.in_order] == [1, 3, 7, 7]
    assert (found.total, found.turns) == (Decimal(7), 4)


def test_round_trips_without_a_turn_are_left_out() -> None:
    assert [turn.place for turn in strip_of([row(None), row(1)]).in_order] == [1]


def test_no_turns_at_all() -> None:
    found = strip_of([])

    assert (found.lanes, found.total, found.turns) == ((), None, 0)
    assert found.sums("tokens") == (Decimal(0),) * len(KINDS)


def test_a_turn_added_the_difference_of_the_counts_and_is_named_by_its_largest_piece() -> None:
    rows = [
        row(1, usage=Usage(input=1000, output=1)),
        row(2, usage=Usage(input=49_000, output=1), before=Usage(input=1000), newest=NewPiece("cat build.log", 0.9, 2)),
        row(3, usage=Usage(input=99_000, output=1), before=Usage(input=49_000), newest=NewPiece("read a.py", 0.4, 3)),
        row(4, usage=Usage(input=99_100, output=1), before=Usage(input=99_000), newest=NewPiece("ls", 1.0, 1)),
    ]

    found = [turn.addition for turn in strip_of(rows).in_order]

    # What is too small for a label has none, and so have the first turn and a second attempt.
    assert found == [
        None,
        Addition(1, 48_000, "cat build.log"),
        Addition(2, 50_000, "read a.py and 2 more"),
        None,
    ]
    twice = [replace(one, attempt=attempt) for one in rows for attempt in (1, 2)]
    assert [turn.place for turn in strip_of(twice).in_order if turn.addition] == [2, 4]


def test_what_a_retry_brought_after_a_failed_attempt_is_an_addition() -> None:
    piece = NewPiece("cat build.log", 1.0, 1)
    rows = [
        row(1, usage=Usage(input=1000)),
        row(2, before=Usage(input=1000), newest=piece),
        row(2, attempt=2, usage=Usage(input=50_000), before=Usage(input=1000), newest=piece),
    ]

    found = [turn.addition for turn in strip_of(rows).in_order]

    assert found == [None, None, Addition(2, 49_000, "cat build.log")]


def test_the_run_up_to_a_turn_knows_nothing_of_what_came_later() -> None:
    rows = [row(1, cost="1"), row(1, thread="t2", cost="2"), row(2, cost="4")]

    then = strip_of(rows).until(1)

    assert [(lane.thread, len(lane.turns)) for lane in then.lanes] == [("t1", 1), ("t2", 1)]
    assert then.total == 3
    assert [lane.thread for lane in strip_of(rows).until(0).lanes] == ["t1"]


def test_the_sums_by_kind() -> None:
    rows = [row(1, usage=Usage(input=10, output=2)), row(2, usage=Usage(input=20, output=3))]

    assert dict(zip(NAMES, strip_of(rows).sums("tokens"), strict=True))["new"] == 30


def test_with_the_ledger_an_addition_is_named_by_the_piece_with_the_most_tokens() -> None:
    run = Run.of(loop())

    (addition,) = strip_of(run.rows.all, run.ledger).lanes[0].turns[1:]
    assert addition.addition == Addition(1, 50, "look_up tape")


def test_an_addition_has_the_same_name_with_and_without_the_ledger() -> None:
    run = Run.of(loop())

    names = [
        [turn.addition.name for turn in found.lanes[0].turns if turn.addition is not None]
        for found in (strip_of(run.rows.all), strip_of(run.rows.all, run.ledger))
    ]
    assert names[0] == names[1]
    assert names[0]


@pytest.mark.parametrize(
    ("before", "again", "new"),
    [
        (1000, "1.0", "0"),
        (950, "0.9", "0.1"),  # of the fresh 300, 50 are new
        (800, "0.6", "0.4"),
        (650, "0.25", "0.75"),  # everything fresh, and 50 of the 100 that were written
        (300, "0.1", "0.9"),  # the cache had more than the previous request
        (2000, "1.0", "0"),
    ],
)
def test_what_was_sent_again_is_the_beginning_of_the_prompt(before: int, again: str, new: str) -> None:
    parts = CostParts(*map(Decimal, ("0.1", "0.3", "0.6", "0.3", "0")))
    usage = Usage(input=1000, cache_read=600, cache_write=100, output=50)
    turn = strip_of([row(1, cost="1.3", usage=usage, before=Usage(input=before), cost_parts=parts)]).in_order[0]

    expected = min(max(before, 600), 1000)
    assert turn.split("tokens") == (expected, 1000 - expected)
    found = turn.split("dollars")
    assert found is not None
    assert (round(found[0], 6), round(found[1], 6)) == (Decimal(again), Decimal(new))


def test_without_a_request_before_nothing_was_sent_again() -> None:
    first, unpriced = strip_of(
        [row(1, cost="1", usage=Usage(input=9, output=1)), row(2, before=Usage(input=9))]
    ).in_order
    assert (first.split("tokens"), unpriced.split("tokens"), unpriced.split("dollars")) == (None, None, None)


def test_a_strip_of_more_rows_reuses_the_turns_that_have_not_changed() -> None:
    rows = [row(1, cost="1"), row(2, cost="2"), row(3, cost="4")]
    before = strip_of(rows[:2])

    more = strip_of(rows, before=before)

    assert more == strip_of(rows)
    assert [new is old for new, old in zip(more.lanes[0].turns, before.lanes[0].turns, strict=False)] == [True, True]


@pytest.mark.parametrize("changed", [0, 1])
def test_a_changed_row_changes_its_turn_and_the_cost_so_far_of_those_after_it(changed: int) -> None:
    rows = [row(1, cost="1"), row(2, cost="2"), row(3, cost="4")]
    before = strip_of(rows)
    rows[changed] = replace(rows[changed], cost=Decimal("0.5"))

    after = strip_of(rows, before=before)

    assert after == strip_of(rows)
    same = [new is old for new, old in zip(after.lanes[0].turns, before.lanes[0].turns, strict=True)]
    assert same == [at < changed for at in range(3)]


def test_a_turn_that_became_one_of_the_largest_additions_is_made_again() -> None:
    new = NewPiece("cat build.log", 1.0, 1)
    small = replace(row(2, cost="1", usage=Usage(input=150), before=Usage(input=100)), newest=new)
    large = replace(row(3, cost="1", usage=Usage(input=90_000), before=Usage(input=100)), newest=new)
    before = strip_of([small])
    assert before.lanes[0].turns[0].addition is not None

    after = strip_of([small, large], before=before)

    assert after == strip_of([small, large]) and after.lanes[0].turns[0].addition is None


def test_the_ledger_is_asked_about_each_turn() -> None:
    run = Run.of(loop())
    before = strip_of(run.rows.all)

    after = strip_of(run.rows.all, run.ledger, before=before)

    turns = zip(after.lanes[0].turns, before.lanes[0].turns, strict=True)
    assert not any(new is old for new, old in turns)
