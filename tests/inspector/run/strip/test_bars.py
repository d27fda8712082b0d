"""Bars: equal amounts give equal bars, and a folded bar is honest about its range."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st
from strips import row

from turntape.inspector.run.newest import NewPiece
from turntape.inspector.run.strip.bars import bars, fold, highest, turns_in_a_bar
from turntape.inspector.run.strip.strip import strip_of
from turntape.inspector.wire.values import Usage


def costs(*amounts: str | None) -> list[Decimal | None]:
    lane = strip_of([row(turn, cost=cost) for turn, cost in enumerate(amounts, 1)]).lanes[0]
    return [bar.total for bar in bars(lane, 1, "dollars")]


def test_a_turn_is_a_bar_with_its_own_amount() -> None:
    assert costs("0.1", "0.2", None, "0.10") == [Decimal("0.1"), Decimal("0.2"), None, Decimal("0.1")]


def test_a_folded_bar_has_the_mean_and_the_highest_of_what_is_known() -> None:
    lane = strip_of([row(turn, cost=cost) for turn, cost in enumerate(("1", "5", None, "2"), 1)]).lanes[0]

    first, second = bars(lane, 3, "dollars")

    assert (first.total, first.highest, first.known, first.folded) == (3, 5, 2, True)
    assert (first.label, second.label) == ("1–3", "4")
    assert (second.total, second.highest, second.folded) == (2, 2, False)
    assert (first.so_far, second.so_far) == (6, 8)
    assert first.shows(2)
    assert not first.shows(3)


def test_attempts_have_one_notation() -> None:
    lane = strip_of([row(4), row(4, attempt=2)]).lanes[0]

    assert [bar.label for bar in bars(lane, 1, "dollars")] == ["4", "4·2"]
    assert [bar.label for bar in bars(lane, 2, "dollars")] == ["4"]


def test_a_folded_bar_keeps_every_mark_and_the_largest_addition() -> None:
    def turn(number: int, size: int, **fields: object) -> object:
        usage, newest = Usage(input=size, output=1), NewPiece(f"piece {number}", 1.0, 1)
        return row(number, usage=usage, before=Usage(input=10), newest=newest, **fields)  # type: ignore[arg-type]

    rows = [turn(1, 400), turn(2, 900, attempt=1, finish="error"), row(3, attempt=2)]
    (bar,) = bars(strip_of(rows).lanes[0], 3, "tokens")

    assert [mark.kind for mark in bar.marks] == ["failed", "retry"]
    assert bar.addition is not None
    assert bar.addition.name == "piece 2"


def test_all_lanes_are_folded_alike_and_have_one_scale() -> None:
    rows = [row(n, cost="1") for n in range(1, 41)] + [row(n, thread="t2", cost="3") for n in range(1, 11)]

    lanes = fold(strip_of(rows), 25, "dollars")

    assert [len(shown) for _, shown in lanes] == [20, 5]
    assert {len(bar.turns) for _, shown in lanes for bar in shown} == {2}
    assert highest(shown for _, shown in lanes) == 3


def test_without_amounts_the_scale_is_0() -> None:
    assert highest(shown for _, shown in fold(strip_of([row(1)]), 5, "dollars")) == 0


@given(st.lists(st.integers(1, 5000), min_size=1, max_size=20), st.integers(20, 400))
def test_no_more_bars_than_room_and_no_coarser_than_needed(lengths: list[int], most: int) -> None:
    each = turns_in_a_bar(lengths, most)

    def used(each: int) -> int:
        return sum(-(-length // each) for length in lengths)

    assert used(each) <= most
    assert each == 1 or used(each - 1) > most


def test_5000_turns_keep_their_sum() -> None:
    rows = [row(n, cost=str(n)) for n in range(1, 5001)]

    ((_, shown),) = fold(strip_of(rows), 90, "dollars")

    assert len(shown) <= 90
    assert sum((bar.total or 0) * bar.known for bar in shown) == 5000 * 5001 // 2
    assert shown[-1].highest == 5000
