"""`make corpus-findings`: every finding on the recorded corpus, counted by class, with examples.

The corpus has no times, so round trips are taken to be a minute apart and rules about time stay silent.
"""

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    __package__ = "corpus"

from corpus import corpus
from turntape.inspector.run.labels import label_all

_APART = 60.0


def findings(path: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """`(cassette, protocol, finding)` of each finding in one file of the corpus."""
    for cassette, rows in groupby(corpus.read_file(path), key=lambda row: row.cassette):
        trips = [
            replace(row.round_trip, index=n, started_at=n * _APART) for n, row in enumerate(sorted(rows, key=_order))
        ]
        for done in label_all(trips):
            for finding in list[Any](done.label["findings"]):  # pyright: ignore[reportArgumentType]
                yield cassette, str(done.label["protocol"]), finding


def _order(row: corpus.Recorded) -> int:
    return row.round_trip.index


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--id", action="append", help="only this class, with every example")
    parser.add_argument("--severity", default="info", choices=("info", "warning", "error"))
    parser.add_argument("-n", type=int, default=3, help="examples of each class")
    given = parser.parse_args()
    wanted = ("info", "warning", "error")[("info", "warning", "error").index(given.severity) :]
    counts: Counter[tuple[str, str, str]] = Counter()
    examples: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    for path in corpus.files():
        for cassette, protocol, finding in findings(path):
            if (given.id and finding["id"] not in given.id) or finding["severity"] not in wanted:
                continue
            key = (finding["severity"], finding["layer"], finding["id"])
            counts[key] += 1
            if len(examples[key]) < (10_000 if given.id else given.n):
                examples[key].append(f"{protocol} {cassette}: {finding['message']}  {' | '.join(finding['evidence'])}")
    for key, count in sorted(counts.items(), key=lambda item: (item[0][0], -item[1])):
        print(f"{count:5} {' '.join(key)}")
        for example in examples[key]:
            print(f"        {example[:330]}")


if __name__ == "__main__":
    main()
