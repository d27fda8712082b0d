from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from conversations import CALL, chat, loop, result, said, user
from sockets import completed, create, session

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run import labels as labels_module
from turntape.inspector.run.labels import Labeller
from turntape.inspector.run.waiting_turns import WaitingTurns

THREADS = 4


@pytest.fixture
def no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every turn is put aside."""
    monkeypatch.setattr(labels_module, "WaitingTurns", partial(WaitingTurns, held=0))


def mixed() -> list[RoundTrip]:
    """Threads that take turns: each asks, calls a tool, and has another answer in its history at the end."""
    trips: list[RoundTrip] = []
    for turn in range(3):
        for thread in range(THREADS):
            call = (f"call_{thread}", *CALL[1:])
            history: list[dict[str, Any]] = [user(f"what is tape {thread}? " + f"word{thread} " * 1500)]
            if turn:
                history += [said(None, call), result(f"call_{thread}", f"strip {thread}")]
            if turn == 2:
                history += [said(f"other {thread}"), user("go on")]
            trips.append(chat(history, said(f"done {thread}") if turn else said(None, call)))
    return [replace(trip, index=at, started_at=trip.started_at + at) for at, trip in enumerate([*trips, *loop()])]


def labels(trips: list[RoundTrip], again: Callable[[int], RoundTrip] | None) -> list[Any]:
    labeller = Labeller(again=again)
    return [one for trip in trips for one in labeller.add(trip)] + labeller.close()


def never(number: int) -> RoundTrip:
    raise AssertionError(f"round trip {number} was read again")


@pytest.mark.usefixtures("no_room")
def test_labels_are_the_same_when_every_turn_is_read_again() -> None:
    trips, asked = mixed(), set[int]()

    def again(number: int) -> RoundTrip:
        asked.add(number)
        return trips[number]

    assert labels(trips, again) == labels(trips, None)
    assert asked >= set(range(3 * THREADS))


def test_turns_for_which_there_is_room_are_not_read_again() -> None:
    assert labels(mixed(), never) == labels(mixed(), None)


def test_a_thread_that_waited_long_is_put_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels_module, "WaitingTurns", partial(WaitingTurns, patience=THREADS + 1))
    trips = mixed()
    assert labels(trips, never) == labels(trips, None), "each thread waits for as many turns as there are others"

    monkeypatch.setattr(labels_module, "WaitingTurns", partial(WaitingTurns, patience=THREADS - 2))
    asked = set[int]()

    def again(number: int) -> RoundTrip:
        asked.add(number)
        return trips[number]

    assert labels(trips, again) == labels(trips, None)
    assert asked >= set(range(2 * THREADS))


@pytest.mark.usefixtures("no_room")
def test_the_latest_thread_is_held_without_room() -> None:
    trips = [replace(trip, index=at) for at, trip in enumerate(loop())]

    assert labels(trips, never) == labels(trips, None)


@pytest.mark.usefixtures("no_room")
def test_the_turns_of_a_session_are_never_read_again() -> None:
    trips = [session(create(1, "word " * 2000), completed(2), create(3, "word " * 2000), completed(4, "r2"))]

    assert labels(trips, never) == labels(trips, None)


@pytest.mark.usefixtures("no_room")
def test_at_the_end_the_turn_in_memory_is_let_go_before_another_is_read() -> None:
    """Two prompts of 20 MB would be in memory together otherwise."""
    trips = mixed()
    in_memory: list[int] = []

    def again(number: int) -> RoundTrip:
        in_memory.append(sum(judged.context.turn.seen.in_memory for judged, _ in labeller._open.values()))
        return trips[number]

    labeller = Labeller(again=again)
    for trip in trips:
        labeller.add(trip)
    in_memory.clear()

    labeller.close()

    assert in_memory and not any(in_memory)
