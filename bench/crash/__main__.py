"""kill -9, a full disk, no more descriptors, a changed file, a clock that jumps: what is left, what is said?

`make crash`, or `make crash ARGS="--rounds 10"`. Exit code 1 when something was lost without a word, or a file does not
open. After kill -9 the last round trips may be missing: those of the last 100 ms, and more on a busy disk.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from .cases import CASES, Row, once

SUFFIXES = ("jsonl", "jsonl.zst")


def crash(folder: Path, rounds: int) -> dict[str, Row]:
    """So many rounds of each case; the forms of the file take turns."""
    rows = {case: Row() for case in CASES}
    for case, row in rows.items():
        for number in range(rounds):
            row.add(once(case, folder / f"{case}.cassette.{SUFFIXES[number % 2]}", number * 37 + 11))
    return rows


def table(rows: dict[str, Row]) -> str:
    """One line for each case."""
    heads = ("rounds", "handed in", "kept", "lost", "not said", "> 100 ms", "unreadable")
    lines = [" " * 10 + "".join(f"{head:>11}" for head in heads)]
    for case, row in rows.items():
        counts = (row.rounds, row.handed_in, row.kept, row.lost, row.unsaid, row.late, row.unread)
        lines.append(f"{case:10}" + "".join(f"{count:>11,}" for count in counts))
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make crash", description=__doc__)
    parser.add_argument("--rounds", type=int, default=100, help="of each case (default: 100)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = crash(Path(folder), options.rounds)
    print(table(rows))
    return int(any(row.unsaid or row.unread for row in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
