"""A run, or a thread, summed up."""

from dataclasses import replace

import tool_tapes
from conversations import HELLO, chat, loop, said

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run.run_index import Run
from turntape.inspector.run.totals import totals


def test_the_attempts_of_a_turn_count_as_one_turn() -> None:
    first, second = loop()
    overloaded = {"error": {"message": "overloaded", "type": "server_error"}}
    failed = chat([HELLO], status=529, error=overloaded, index=0)
    trips = [failed, chat([HELLO], status=529, error=overloaded, index=1)]
    run = Run.of([*trips, *loop_from(2)])

    sums = totals(run.rows.all)
    assert (sums.turns, sums.retries, sums.others, sums.threads) == (2, 2, 0, 1)
    assert (totals(Run.of([first, second]).rows.all).turns, totals([]).turns) == (2, 0)


def test_turns_with_one_number_in_two_threads_are_two_turns() -> None:
    trips = [chat([HELLO], said("x")), chat([{"role": "user", "content": "other"}], said("y"), index=1)]
    sums = totals(Run.of(trips).rows.all)

    assert (sums.turns, sums.retries, sums.threads) == (2, 0, 2)


def test_messages_of_tool_servers_are_neither_turns_nor_other_round_trips() -> None:
    sums = totals(Run.of(tool_tapes.story().trips).rows.all)

    assert (sums.turns, sums.retries, sums.others, sums.threads) == (3, 0, 0, 1)
    assert (sums.tool_runs, sums.tool_messages) == (4, 7)
    assert (sums.input, sums.unpriced) == (300, 0)


def loop_from(index: int) -> list[RoundTrip]:
    return [replace(trip, index=index + n) for n, trip in enumerate(loop())]
