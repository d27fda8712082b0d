"""Recorded runs in which some JSON values were replaced by odd ones: each is labelled, and no rule fails on them.

Servers answer with null, with lists where text belongs, and with negative counts. The places are chosen by a seed, so
a failure can be repeated.
"""

import random
import sys
from dataclasses import replace
from itertools import groupby, islice
from pathlib import Path

import orjson
import pytest

sys.path.append(str(Path(__file__).parents[2]))  # bench is not installed

from bench.fuzz.inputs import other_events, other_values
from corpus import corpus
from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run.labels import Labeller

pytestmark = pytest.mark.skipif(corpus.folder() is None, reason=corpus.ABSENT)

RUNS, ROUND_TRIPS, VERSIONS = 3, 6, 2
"""Of each file: the first runs, of each run its first round trips, each run in several changed versions."""


def odd(trip: RoundTrip, chance: random.Random) -> RoundTrip:
    if trip.response is not None and chance.random() < 0.7:
        body = other_events(trip.response.body, chance)
        trip = replace(trip, response=replace(trip.response, content=body, chunks=()))
    if chance.random() < 0.5:
        trip = replace(trip, request=replace(trip.request, content=other_values(trip.request.body, chance)))
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
