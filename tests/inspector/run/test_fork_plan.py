"""The plan of a fork."""

from dataclasses import replace
from pathlib import Path

import pytest
from conversations import CALL, HELLO, chat, loop, result, said, user

from turntape.cassettes import Cassette, Recorder
from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run.fork_plan import ForkPlan, plan_fork


@pytest.fixture
def tape(tmp_path: Path) -> Cassette:
    """A thread of two turns, and between them a thread of one turn."""
    first, second = loop()
    return recorded(
        tmp_path,
        first,
        chat([user("other")], said("x"), index=1),
        replace(second, index=2, started_at=second.started_at + 9),
    )


def recorded(folder: Path, *trips: RoundTrip) -> Cassette:
    with Recorder(folder / "run.jsonl", durable=False) as recorder:
        for trip in trips:
            recorder.write(trip)
    return Cassette.load(folder / "run.jsonl")


def indexes(plan: ForkPlan) -> list[int]:
    return [trip.index for trip in plan.trips]


def test_everything_before_the_turn_is_replayed_and_its_own_turns_are_waited_for(tape: Cassette) -> None:
    plan = plan_fork(tape, 2)

    assert (indexes(plan), plan.turns, plan.at) == ([0, 1], (0,), 2)
    assert (plan.tape.at, plan.tape.turns, plan.edited, plan.strays_go_live) == (2, (0,), frozenset(), False)


def test_at_the_first_turn_nothing_is_replayed(tape: Cassette) -> None:
    plan = plan_fork(tape, 1, strays_go_live=True)

    assert (indexes(plan), plan.turns, plan.strays_go_live) == ([], (), True)
    with pytest.raises(TurntapeError, match="no turn before turn 1 whose answer could be edited"):
        plan.changed(lambda trip: trip)


def test_one_after_the_last_turn_continues_from_the_end(tape: Cassette) -> None:
    plan = plan_fork(tape, 3)

    assert (indexes(plan), plan.turns) == ([0, 1, 2], (0, 2))


@pytest.mark.parametrize("at", [0, 4])
def test_a_turn_that_is_not_there_names_the_valid_range(tape: Cassette, at: int) -> None:
    with pytest.raises(
        TurntapeError,
        match=rf"thread t1 of .* has 2 turns, so recording can begin at turn 1 to 3, not {at}",
    ):
        plan_fork(tape, at)


def test_the_range_of_one_turn_is_in_the_singular(tape: Cassette) -> None:
    with pytest.raises(
        TurntapeError, match=r"thread t2 of .* has 1 turn, so recording can begin at turn 1 to 2, not 3"
    ):
        plan_fork(tape, 3, "t2")


def test_another_thread_is_forked_by_its_name(tape: Cassette) -> None:
    plan = plan_fork(tape, 2, "t2")

    assert plan.turns == (1,) and indexes(plan) == [0, 1, 2]
    with pytest.raises(TurntapeError, match="has no thread 't9'; it has t1, t2"):
        plan_fork(tape, 1, "t9")


def test_a_file_without_a_turn_cannot_be_forked(tmp_path: Path) -> None:
    with pytest.raises(TurntapeError, match="holds no turn of an LLM, so it cannot be forked"):
        plan_fork(recorded(tmp_path), 1)


def test_the_answer_of_the_last_turn_is_edited(tape: Cassette) -> None:
    plan = plan_fork(tape, 3).changed(lambda trip: replace(trip, route="edited"))

    assert plan.edited == {2} and plan.tape.edited == {2}
    assert [trip.route for trip in plan.trips] == ["base_url", "base_url", "edited"]


def test_the_attempts_of_a_turn_are_replayed_with_it(tmp_path: Path) -> None:
    error = {"error": {"message": "overloaded", "type": "server_error"}}
    history = [HELLO, said(None, CALL), result("call_1", "x")]
    trips = [
        chat([HELLO], status=529, error=error),
        chat([HELLO], said(None, CALL), index=1),
        chat(history, said("done"), index=2),
    ]

    assert plan_fork(recorded(tmp_path, *trips), 2).turns == (0, 1)
