"""The recorded corpus as runs, where it is there."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path

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
                yield name, [replace(row.round_trip, index=n, started_at=float(n)) for n, row in enumerate(ordered)]
