"""`make corpus`: how our reading agrees with an independent one, protocol by fact.

A cell is agreed/total; `+n` are differences that `agreement.EXPLANATIONS` gives a reason for.
"""

import sys
import time
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    __package__ = "corpus"

from corpus import corpus
from corpus.agreement import FACTS, compare, count


def table() -> str:
    """The agreement of the whole corpus as text."""
    agreed: Counter[tuple[str, str]] = Counter()
    total: Counter[tuple[str, str]] = Counter()
    explained: Counter[tuple[str, str]] = Counter()
    for path in corpus.files():
        for counts in count(path).values():
            for row in compare(counts):
                key = (row.protocol or "other", row.fact)
                agreed[key] += row.agreed
                explained[key] += row.total - row.agreed if row.explanation else 0
                total[key] += row.total
    names = sorted({protocol for protocol, _ in total})
    head = ["protocol", *(fact.replace("_in_response", "").replace("_", " ") for fact in FACTS)]
    lines = [head]
    for name in [*names, "all"]:
        cells = [_cell(*(_sum(counter, name, fact) for counter in (agreed, explained, total))) for fact in FACTS]
        lines.append([name, *cells])
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in lines)


def costs() -> str:
    """What the corpus would cost at today's prices, and the share of turns with an answer that could be priced."""
    from turntape.inspector.analysis.pricing import cost
    from turntape.inspector.wire.parse import read

    turns: Counter[str] = Counter()
    priced: Counter[str] = Counter()
    dollars: dict[str, Decimal] = {}
    now = time.time()
    for path in corpus.files():
        for recorded in corpus.read_file(path):
            trip = replace(recorded.round_trip, started_at=now)
            reading = read(trip)
            if not reading.is_generation or reading.error is not None:
                continue
            price = cost(trip, reading)
            turns[reading.protocol] += 1
            priced[reading.protocol] += price is not None
            dollars[reading.protocol] = dollars.get(reading.protocol, Decimal(0)) + (price or 0)
    lines = [f"{'protocol':<22}{'turns':>7}{'priced':>8}{'share':>8}{'cost':>12}"]
    for name in sorted(turns):
        share = priced[name] / turns[name]
        lines.append(f"{name:<22}{turns[name]:>7}{priced[name]:>8}{share:>8.0%}{dollars[name]:>12.4f}")
    whole, all_priced = sum(turns.values()), sum(priced.values())
    lines.append(f"{'all':<22}{whole:>7}{all_priced:>8}{all_priced / whole:>8.0%}{sum(dollars.values()):>12.4f}")
    return "\n".join(lines)


def _sum(counter: Counter[tuple[str, str]], protocol: str, fact: str) -> int:
    """The count of one protocol, or of all of them."""
    if protocol != "all":
        return counter[protocol, fact]
    return sum(count for (_, name), count in counter.items() if name == fact)


def _cell(agreed: int, explained: int, total: int) -> str:
    more = f"+{explained}" if explained else ""
    return f"{agreed}{more}/{total}" if total else "-"


def main() -> int:
    """Print the table, or say where the corpus should be."""
    if corpus.folder() is None:
        print(corpus.ABSENT, file=sys.stderr)
        return 2
    print(table())
    print()
    print(costs())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
