"""A turn of a long thread takes as much work as one of a short thread.

Work is counted as steps of Python. What C code does in one step (compare bytes, copy a list) is not counted here.
"""

from collections import Counter
from collections.abc import Iterable

import pytest
from long_threads import CUT, thread
from steps import counting

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.ledger import LedgerBuilder
from turntape.inspector.run.labels import label_stream

BEGUN = 42
"""The first turns are not counted: caches fill, rules begin, and the memory of the last steps fills."""
STRETCH = 16
"""Turns that are counted together."""
ROOM = 160
"""Steps of one function that a stretch may have more than the one before. One step for each message of each history
would be 512 more."""


def stretches(trips: Iterable[RoundTrip], *, ledger: bool = True) -> tuple[Counter[str], Counter[str]]:
    """The steps of two stretches of turns, each turn labelled and in the ledger."""
    seen: list[Counter[str]] = []
    builder, places = LedgerBuilder(), dict[object, int]()
    with counting() as counted:

        def given() -> Iterable[RoundTrip]:
            for number, trip in enumerate(trips):
                if number in (BEGUN, BEGUN + STRETCH):
                    seen.append(counted.copy())
                yield trip
            seen.append(counted.copy())

        for key, done in label_stream(given(), hints=True):
            if ledger:
                builder.add(places.setdefault(key, len(places)), done)
    first, second, third = seen
    return second - first, third - second


def outgrown(earlier: Counter[str], later: Counter[str]) -> dict[str, tuple[int, int]]:
    """The functions that take more steps in the later turns."""
    return {name: (earlier[name], number) for name, number in later.items() if number > earlier[name] + ROOM}


@pytest.mark.parametrize("api", CUT)
def test_later_turns_take_no_more_steps(api: str) -> None:
    trips = thread(api, BEGUN + 2 * STRETCH, cut=4)
    list(label_stream(trips[:12], hints=True))  # what is imported and compiled on first use

    earlier, later = stretches(trips)

    assert earlier["labels.py Labeller._follow"] > STRETCH
    assert outgrown(earlier, later) == {}


@pytest.mark.parametrize("api", CUT)
def test_a_clock_in_the_first_message_makes_later_turns_take_no_more_steps(api: str) -> None:
    trips = thread(api, BEGUN + 2 * STRETCH, clock=True)
    list(label_stream(trips[:12], hints=True))

    earlier, later = stretches(trips, ledger=False)

    assert earlier["labels.py Labeller._follow"] >= STRETCH
    assert outgrown(earlier, later) == {}


def test_a_search_of_the_whole_history_at_each_turn_is_found() -> None:
    def searched(turns: range) -> Counter[str]:
        with counting() as counted:
            for turn in turns:
                max(2 * number for number in range(2 * turn))
        return counted

    grown = outgrown(searched(range(STRETCH, 2 * STRETCH)), searched(range(2 * STRETCH, 3 * STRETCH)))

    assert len(grown) == 1
