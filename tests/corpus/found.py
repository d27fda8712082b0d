"""`make corpus-findings`: every finding on the recorded corpus, counted by class, with examples.

The second number of a class counts those in healthy runs: every request was answered with 200, and every answer ended
as it should. The corpus has no times: round trips are taken to be a minute apart, and rules about time are silent.
"""

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    __package__ = "corpus"

from corpus import corpus
from turntape.inspector.findings.finding import SEVERITIES, Finding
from turntape.inspector.run.labels import LabelledRoundTrip, label_all

_APART = 60.0
_GOOD_ENDS = frozenset({"complete", "tool_calls", "stop_sequence", "pause"})

type Key = tuple[str, str, str]
"""Severity, layer and id."""


@dataclass(frozen=True, slots=True)
class Found:
    """One finding, and where it is."""

    cassette: str
    protocol: str
    healthy: bool
    """Whether the run that it was found in is healthy."""
    finding: Finding

    @property
    def key(self) -> Key:
        return self.finding.severity, self.finding.layer, self.finding.id


def findings(path: Path) -> Iterator[Found]:
    """Each finding in one file of the corpus."""
    for cassette, rows in groupby(corpus.read_file(path), key=lambda row: row.cassette):
        trips = [
            replace(row.round_trip, index=n, started_at=n * _APART) for n, row in enumerate(sorted(rows, key=_order))
        ]
        labelled = label_all(trips)
        healthy = is_healthy(labelled)
        for done in labelled:
            for one in list[Any](done.label["findings"]):  # pyright: ignore[reportArgumentType]
                yield Found(cassette, str(done.label["protocol"]), healthy, Finding.from_json(one))


def is_healthy(labelled: Sequence[LabelledRoundTrip]) -> bool:
    """True when nothing in a run failed, was cut, filtered or refused."""
    finishes = [done.reading.finish for done in labelled if done.turn is not None]
    return all(done.label["status"] == 200 for done in labelled) and all(
        finish is not None and finish.effective in _GOOD_ENDS for finish in finishes
    )


def _order(row: corpus.Recorded) -> int:
    return row.round_trip.index


def main() -> int:
    """Print the classes with their examples; or say where the corpus should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--id", action="append", help="only this class, with every example")
    parser.add_argument("--severity", default="info", choices=SEVERITIES, help="from this severity on")
    parser.add_argument("--healthy", action="store_true", help="only in healthy runs")
    parser.add_argument("-n", type=int, default=3, help="examples of each class")
    given = parser.parse_args()
    if corpus.folder() is None:
        print(corpus.ABSENT, file=sys.stderr)
        return 2
    wanted = SEVERITIES[SEVERITIES.index(given.severity) :]
    counts: Counter[Key] = Counter()
    healthy: Counter[Key] = Counter()
    examples: defaultdict[Key, list[str]] = defaultdict(list)
    for one in (one for path in corpus.files() for one in findings(path)):
        if (given.id and one.finding.id not in given.id) or one.finding.severity not in wanted:
            continue
        if given.healthy and not one.healthy:
            continue
        counts[one.key] += 1
        healthy[one.key] += one.healthy
        if len(examples[one.key]) < (10_000 if given.id else given.n):
            places = " | ".join(one.finding.evidence)
            examples[one.key].append(f"{one.protocol} {one.cassette}: {one.finding.message}  {places}")
    for key, count in sorted(counts.items(), key=lambda item: (item[0][0], -item[1])):
        print(f"{count:5} {healthy[key]:5} healthy  {' '.join(key)}")
        for example in examples[key]:
            print(f"        {example[:330]}")
    above = [key for key in counts if key[0] != "info"]
    print(f"above info: {sum(counts[key] for key in above)}, in healthy runs: {sum(healthy[key] for key in above)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
