"""Mixed faults from raw upstreams for ten minutes, 64 clients at once, both routes: what is lost, mixed up or changed?

`make soak`, or `make soak ARGS="--seconds 30 --at-once 16"`. Every request has an id, which healthy answers repeat.
What each client sees is compared with what it sees without the proxy, and afterwards with the tape.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from .run import Count, soak


def table(counts: dict[str, Count]) -> str:
    """The counts, one line for each kind of traffic."""
    lines = [f"{'':24}{'exchanges':>10}{'lost':>6}{'mixed up':>10}{'bytes differ':>14}"]
    for name, count in [*sorted(counts.items()), ("all", sum(counts.values(), Count()))]:
        lines.append(f"{name:24}{count.asked:>10,}{count.lost:>6,}{count.mixed_up:>10,}{count.differ:>14,}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="how long (default: 600)")
    parser.add_argument("--at-once", type=int, default=64, help="how many clients (default: 64)")
    parser.add_argument("--seed", type=int, default=1, help="of the order of the faults (default: 1)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = soak(Path(folder), at_once=options.at_once, seconds=options.seconds, seed=options.seed)
    sys.stdout.write(table(result.counts) + "\n\n")
    first, last = result.memory
    sys.stdout.write(f"memory of the proxy: {first:,} kB after a tenth of the time, {last:,} kB at the end\n")
    for sentence in result.examples:
        sys.stdout.write(f"{sentence}\n")
    return 1 if result.failed else 0


if __name__ == "__main__":
    sys.exit(main())
