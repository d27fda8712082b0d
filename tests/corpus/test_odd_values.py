"""Recorded runs in which some JSON values were replaced by odd ones: each is labelled, and no rule fails on them.

Servers answer with null, with lists where text belongs, and with negative counts. The places are chosen by a seed, so
a failure can be repeated.
"""

import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import orjson
import pytest

from corpus import corpus
from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run.labels import Labeller

pytestmark = pytest.mark.skipif(corpus.folder() is None, reason=corpus.ABSENT)

ODD = (-1, 1e300, 10**15, "", "x", None, True, [], {}, [None], [[]], [{}], ["x"], {"type": 1}, {"type": []}, {"id": {}})
RUNS, ROUND_TRIPS, VERSIONS = 3, 6, 2
"""Of each file: the first runs, of each run its first round trips, each run in several changed versions."""


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each value inside a JSON value, as its container and its key."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from places(value[key])


def changed(text: bytes, chance: random.Random) -> bytes:
    """JSON text with one to three of its values replaced; other text as it is."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    for _ in range(chance.choice((1, 1, 3))):
        if found := list(places(value)):
            container, key = chance.choice(found)
            container[key] = deepcopy(chance.choice(ODD))
    return orjson.dumps(value)


def changed_answer(body: bytes, chance: random.Random) -> bytes:
    """A JSON body, or some events of a stream, with odd values."""
    if body.lstrip()[:1] in (b"{", b"["):
        return changed(body, chance)
    lines = body.split(b"\n")
    for _ in range(3):
        place = chance.randrange(len(lines))
        head, brace, rest = lines[place].partition(b"{")
        lines[place] = head + changed(brace + rest, chance) if brace else head
    return b"\n".join(lines)


def odd(trip: RoundTrip, chance: random.Random) -> RoundTrip:
    change: Callable[[bytes, random.Random], bytes] = changed_answer
    if trip.response is not None and chance.random() < 0.7:
        body = change(trip.response.body, chance)
        trip = replace(trip, response=replace(trip.response, content=body, chunks=()))
    if chance.random() < 0.5:
        trip = replace(trip, request=replace(trip.request, content=changed(trip.request.body, chance)))
    return trip


FILES = corpus.files()


@pytest.mark.parametrize("path", FILES, ids=[path.name.removesuffix(".jsonl.zst") for path in FILES])
def test_odd_values_in_a_run_stop_neither_the_labels_nor_a_rule(path: Path) -> None:
    runs = groupby(corpus.read_file(path), key=lambda row: row.cassette)
    for name, rows in islice(((name, list(rows)) for name, rows in runs), RUNS):
        trips = [replace(row.round_trip, index=n, started_at=n * 60.0) for n, row in enumerate(rows[:ROUND_TRIPS])]
        for version in range(VERSIONS):
            chance = random.Random(f"{name} {version}")
            labeller = Labeller(hints=True, advice=True)

            for trip in trips:
                labels = labeller.add(odd(trip, chance))
                orjson.dumps(labels)
                assert trip.index in [index for index, _ in labels]
            labeller.close()

            assert not labeller.problems, f"{name}, version {version}: {labeller.problems}"
