"""The recorded corpus as runs, where it is there."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from turntape.cassettes import Cassette
from turntape.cassettes.tape.model import RoundTrip

sys.path.append(str(Path(__file__).parents[2] / "tests"))
from corpus import corpus

there = corpus.folder() is not None
"""Whether the corpus is beside the repository."""


def recorded_runs() -> Iterator[tuple[str, list[RoundTrip]]]:
    """Each cassette with at least two round trips, by its name. The corpus has no times; its tests do not wait."""
    for path in corpus.files():
        for name, rows in groupby(corpus.read_file(path), key=lambda row: row.cassette):
            ordered = sorted(rows, key=lambda row: row.round_trip.index)
            if len(ordered) > 1:
                yield name, _one_a_second(row.round_trip for row in ordered)


def runs_in(folder: Path) -> Iterator[tuple[str, list[RoundTrip]]]:
    """The same of each cassette in a folder, and in those below it."""
    for path in sorted(one for one in folder.rglob("*.jsonl*") if one.is_file()):
        trips = _one_a_second(Cassette.load(path))
        if len(trips) > 1:
            yield path.name, trips


def _one_a_second(trips: Iterable[RoundTrip]) -> list[RoundTrip]:
    return [replace(one, index=number, started_at=float(number)) for number, one in enumerate(trips)]
