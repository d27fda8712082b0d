"""Where a jump leads."""

import pytest
from viewing import EXAMPLE

from turntape.inspector.run.filters import parse
from turntape.inspector.run.row import Row
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.controllers.navigation import (
    Navigation,
    Spot,
    jump,
    next_turn,
    thread_beside,
    turn_name,
)

ROWS = Run.load(EXAMPLE).rows


def everything(row: Row) -> bool:
    return True


@pytest.mark.parametrize(
    ("what", "here", "by", "expected"),
    [
        ("error", Spot(0), 1, Spot(6, "finding:0")),
        ("error", Spot(6, "finding:0"), 1, Spot(7, "finding:0")),
        ("error", Spot(7, "finding:0"), -1, Spot(6, "finding:0")),
        ("error", Spot(11), 1, None),
        ("finding", Spot(7, "finding:0"), 1, Spot(7, "finding:1")),
        ("finding", Spot(7, "finding:2"), 1, Spot(8, "finding:0")),
        ("finding", Spot(8, "finding:0"), -1, Spot(7, "finding:2")),
        ("call", Spot(0), 1, Spot(0, "answer/call/0")),
        ("call", Spot(0, "answer/call/1"), 1, Spot(2, "answer/call/0")),
        ("call", Spot(0, "answer/call/0"), -1, None),
    ],
)
def test_a_jump(what: str, here: Spot, by: int, expected: Spot | None) -> None:
    assert jump(ROWS, everything, what, here, by) == expected


def test_a_jump_passes_what_the_filter_leaves_out() -> None:
    assert jump(ROWS, parse("turn:=4"), "error", Spot(0), 1) == Spot(7, "finding:0")
    assert jump(ROWS, parse("thread:t3"), "error", Spot(0), 1) is None


def test_a_failed_attempt_that_was_made_good_does_not_count() -> None:
    assert ROWS.all[8].failed
    assert jump(ROWS, parse("status:529"), "error", Spot(0), 1) is None


def test_threads_are_in_the_order_in_which_they_began() -> None:
    assert thread_beside(ROWS, 2, 1) == Spot(1)
    assert thread_beside(ROWS, 1, 1) == Spot(3)
    assert thread_beside(ROWS, 4, 1) is None
    assert thread_beside(ROWS, 4, -1) == Spot(1)


def test_playback_continues_with_the_turn_that_was_recorded_next() -> None:
    assert next_turn(ROWS, everything, 0) == 1
    assert next_turn(ROWS, parse("thread:t1"), 0) == 2
    assert next_turn(ROWS, everything, 11) is None


def test_navigation_jumps_from_where_it_is() -> None:
    navigation = Navigation(ROWS, everything)

    assert navigation.jump("error", 1) is None and navigation.thread(1) is None
    assert navigation.go(6, "finding:0")
    assert navigation.jump("error", 1) == Spot(7, "finding:0")
    assert navigation.thread(1) == Spot(1)
    assert not navigation.go(6) and navigation.anchor == ""


def test_the_wanted_turn_is_the_first_with_its_number() -> None:
    assert Navigation(ROWS, everything, turn=3).first_with_wanted_number() == 5
    assert Navigation(ROWS, everything, turn=99).first_with_wanted_number() is None


def test_a_turn_of_a_named_thread_is_of_no_other() -> None:
    rows = Run.load(EXAMPLE).rows
    navigation = Navigation(rows, everything)
    navigation.place = 0

    assert [navigation.numbered(1, of) for of in ("t1", "t2", "t9", None)] == [
        *(rows.threads[thread][0] for thread in ("t1", "t2")),
        None,
        rows.threads["t1"][0],
    ]
    assert (turn_name(6, "t2"), turn_name(6, None)) == ("turn 6 of t2", "turn 6")
