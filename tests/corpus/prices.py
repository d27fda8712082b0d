"""`make corpus-prices`: our cost beside the one that the answer states, and the price list beside it as a check.

The stated cost is found by a second reader, which shares no code with turntape's: it searches the bytes of the answer.
The corpus has no times, so the price list is that of the day that an answer names, or of today.
"""

import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    __package__ = "corpus"

from corpus import corpus
from turntape.inspector.analysis.pricing import cost_of, listed_cost
from turntape.inspector.wire.parse import read

_NUMBER = rb"\s*:\s*\"?([0-9.]+(?:[eE][-+]?[0-9]+)?)"
_DOLLARS: tuple[tuple[re.Pattern[bytes], Decimal], ...] = (
    (re.compile(rb'"cost_in_usd_ticks"' + _NUMBER), Decimal("1e-10")),
    (re.compile(rb'"total_nano_aiu"' + _NUMBER), Decimal("1e-11")),
    (re.compile(rb'"total_cost"' + _NUMBER), Decimal(1)),
    (re.compile(rb'"cost"\s*:\s*\{[^{}]*"usd"' + _NUMBER), Decimal(1)),
    (re.compile(rb'"cost_estimate"' + _NUMBER), Decimal(1)),
    (re.compile(rb'"cost"' + _NUMBER), Decimal(1)),
)
"""What states a cost, most specific first, and what one of it is in dollars."""
_OWN_KEY = re.compile(rb'"is_byok"\s*:\s*true')
_OWN_KEY_COST = re.compile(rb'"upstream_inference_cost"' + _NUMBER)
_CREATED = re.compile(rb'"created(?:_at)?"\s*:\s*(1[5-9]\d{8})\b')
_NEAR, _FAR = Decimal("0.02"), Decimal("0.10")

COLUMNS = ("answers", "missing", "> 2 %", "> 10 %")


@dataclass(frozen=True, slots=True)
class Priced:
    """One answer that states its cost."""

    api: str
    model: str
    stated: Decimal
    ours: Decimal | None
    source: str | None
    listed: Decimal | None


def stated(body: bytes) -> Decimal | None:
    """The cost that an answer states, of a stream the last one; with what the user's own key paid upstream."""
    for pattern, unit in _DOLLARS:
        if found := pattern.findall(body):
            upstream = _OWN_KEY_COST.findall(body) if _OWN_KEY.search(body) else []
            return sum((Decimal(one.decode()) for one in (found[-1], *upstream[-1:])), Decimal(0)) * unit
    return None


def priced() -> Iterator[Priced]:
    """Every answer of the corpus that states its cost."""
    now = time.time()
    for path in corpus.files():
        for recorded in corpus.read_file(path):
            response = recorded.round_trip.response
            if not recorded.generation or response is None or (amount := stated(response.body)) is None:
                continue
            created = _CREATED.search(response.body)
            trip = replace(recorded.round_trip, started_at=float(created[1]) if created else now)
            reading = read(trip)
            cost = cost_of(trip, reading)
            yield Priced(
                recorded.api,
                reading.response_model or reading.request.model or "",
                amount,
                cost.amount if cost else None,
                cost.source if cost else None,
                listed_cost(trip, reading),
            )


def verdict(ours: Decimal | None, stated: Decimal) -> str | None:
    """The column in which an answer counts beside the first; None when it is within 2 %."""
    if ours is None:
        return "missing"
    off = abs(ours - stated)
    return "> 10 %" if off > _FAR * stated else "> 2 %" if off > _NEAR * stated else None


def table(answers: list[Priced]) -> str:
    """Ours and the price list's, by API."""
    ours: Counter[tuple[str, str]] = Counter()
    listed: Counter[tuple[str, str]] = Counter()
    for one in answers:
        for counts, amount in ((ours, one.ours), (listed, one.listed)):
            for api in (one.api, "all"):
                counts[api, "answers"] += 1
                if (column := verdict(amount, one.stated)) is not None:
                    counts[api, column] += 1
    lines = [f"{'states its cost':<26}{'':<8}{'ours: ':<28}by the price list alone:"]
    lines.append(f"{'api':<26}" + "".join(f"{name:>9}" for name in (*COLUMNS, *COLUMNS[1:])))
    for api in [*sorted({one.api for one in answers}), "all"]:
        cells = [ours[api, name] for name in COLUMNS] + [listed[api, name] for name in COLUMNS[1:]]
        lines.append(f"{api:<26}" + "".join(f"{cell:>9}" for cell in cells))
    return "\n".join(lines)


def main() -> int:
    """Print the table, and each answer that is off; or say where the corpus should be."""
    if corpus.folder() is None:
        print(corpus.ABSENT, file=sys.stderr)
        return 2
    answers = list(priced())
    print(table(answers))
    off = [one for one in answers if verdict(one.ours, one.stated) is not None]
    for one in off:
        print(f"{one.api} {one.model}: stated {one.stated}, ours {one.ours}")
    return 1 if off else 0


if __name__ == "__main__":
    raise SystemExit(main())
