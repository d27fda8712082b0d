import gc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest
from conversations import chat, loop, said, user

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run import emission_label
from turntape.inspector.run.labels import Labeller

LONG = "a word of its own " * 6000


def labels(trips: list[RoundTrip], again: Callable[[int], RoundTrip] | None) -> list[Any]:
    labeller = Labeller(again=again)
    # As JSON at once: a label that is kept changes when its turn is followed.
    made = [(index, orjson.dumps(label)) for trip in trips for index, label in labeller.add(trip)]
    return made + [(index, orjson.dumps(label)) for index, label in labeller.close()]


@pytest.mark.parametrize("length", [1, 64 << 10])
def test_labels_are_the_same_when_what_was_emitted_is_not_kept(monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    monkeypatch.setattr(emission_label, "_LONG", length)
    other = chat([user("hi"), said(LONG), user("more")], said(f"{LONG} too"))
    trips = [chat([user("hi")], said(LONG)), other, *loop()]
    trips = [replace(trip, index=at, started_at=trip.started_at + at) for at, trip in enumerate(trips)]

    assert labels(trips, lambda number: trips[number]) == labels(trips, None)


def test_a_thread_that_waits_does_not_hold_its_long_answer() -> None:
    def answered(number: int) -> RoundTrip:
        text = f"{number} " + "".join(f"{number} {word} " for word in range(20_000))
        return replace(chat([user(f"question {number}")], said(text)), index=number, started_at=1000.0 + number)

    labeller = Labeller(again=answered)
    for number in range(150):
        labeller.add(answered(number))
    gc.collect()
    held = {id(one): len(one) for one in texts_of(labeller) if len(one) > 100_000}

    assert sum(held.values()) < 60 * 200_000


def texts_of(root: object) -> list[str]:
    """All texts that can be reached from an object."""
    seen, todo, found = set[int](), [root], list[str]()
    while todo:
        one = todo.pop()
        if id(one) in seen or isinstance(one, type) or type(one).__name__ in ("module", "function"):
            continue
        seen.add(id(one))
        if isinstance(one, str):
            found.append(one)
        else:
            todo += gc.get_referents(one)
    return found
