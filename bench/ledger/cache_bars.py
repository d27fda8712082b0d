"""How often the predicted cache is the real one: against the simulated caches, and on recorded traffic.

Only later turns of a thread count: what a cache held before a tape begins is unknown. On recorded traffic, turns are
left out whose cache was filled by earlier recordings (`possible`), because the tape cannot show that.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.ledger import CacheEntry, Figure
from turntape.inspector.ledger.cache import CachePredictor
from turntape.inspector.run.labels import label_all
from turntape.inspector.wire.cache_rules import Grid
from turntape.inspector.wire.caching import rule_of

from .cache_runs import DIALECTS, run
from .corpus_runs import recorded_runs, there

_SEEDS = 4
_STEPS = {"grid of 128": 128, "grid of 64": 64, "grid of 16": 16, "units": 128}
"""The step of each rule that has a grid."""


@dataclass(slots=True)
class Bars:
    """Counts of right (True) and wrong predictions."""

    marks: Counter[bool] = field(default_factory=Counter[bool])
    """Reads where marks rule, to the token."""
    hits: Counter[bool] = field(default_factory=Counter[bool])
    """The same, only where something was read."""
    grid: Counter[bool] = field(default_factory=Counter[bool])
    """Reads where a grid rules, within one step of one of the two ends that the rules have: the earlier request with
    its answer, or without it. Where nothing of the conversation was read, the provider kept to what it promises."""
    own: int = 0
    """Requests of which only the provider's own text was read, where a grid rules."""
    answers: Counter[bool] = field(default_factory=Counter[bool])
    """The same with its answer only."""
    claimed: int = 0
    """Reads that were expected of a provider that promises none."""
    boundaries: Counter[bool] = field(default_factory=Counter[bool])
    """Where the last mark is, within 5 %, from the whole input and the bytes; first turns count too."""
    misses: Counter[str] = field(default_factory=Counter[str])
    """Causes of misses."""

    def add_boundary(self, entry: CacheEntry, end: Figure | None) -> None:
        """The place of a mark, which the counts of the cache then show: they are the sum up to it."""
        kept = (entry.actual_read or 0) + (entry.actual_written or 0)
        if end is not None and kept:
            self.boundaries[abs(end.value - kept) <= 0.05 * kept] += 1

    def add(self, entry: CacheEntry, own: int = 0) -> None:
        """A later turn; `own` tokens are the provider's own text, which is read in any case."""
        if entry.miss is not None:
            self.misses[entry.miss.cause] += 1
        read = entry.actual_read
        if read is None or entry.read is None:
            return
        if entry.rule == "marks":
            self._add_marked(entry, read)
        elif entry.expected == "expected" and entry.read.value:
            self.claimed += 1
        elif entry.rule in _STEPS and 0 < read <= own:
            self.own += 1
        elif entry.rule in _STEPS and read and entry.expected != "unknown":
            step = _STEPS[entry.rule]
            near = abs(entry.read.value - read) <= step
            self.answers[near] += 1
            self.grid[near or (entry.read_less is not None and abs(entry.read_less - read) <= step)] += 1

    def _add_marked(self, entry: CacheEntry, read: int) -> None:
        if entry.expected == "expected" and entry.read is not None:
            self.marks[entry.read.value == read] += 1
            if read:
                self.hits[entry.read.value == read] += 1

    def __iadd__(self, other: "Bars") -> "Bars":
        for name in ("marks", "hits", "grid", "answers", "boundaries", "misses"):
            getattr(self, name).update(getattr(other, name))
        self.claimed += other.claimed
        self.own += other.own
        return self


def judged(trips: Iterable[RoundTrip]) -> Bars:
    """The bars of one run."""
    bars, predictor, seen = Bars(), CachePredictor(), set[str]()
    for place, one in enumerate(label_all(trips)):
        if one.turn is None:
            continue
        entry = predictor.add(place, one.turn)
        sums = one.reading.emission is not None and one.reading.emission.server_calls
        bars.add_boundary(entry, None if sums else predictor.end)
        if one.turn.thread in seen:
            rule = rule_of(one.reading)
            bars.add(entry, rule.own if isinstance(rule, Grid) else 0)
        if one.reading.usage is not None:
            seen.add(one.turn.thread)
    return bars


def simulated() -> Iterator[tuple[str, Bars]]:
    """The bars of each simulated cache."""
    for name in DIALECTS:
        bars = Bars()
        for seed in range(_SEEDS):
            bars += judged(run(name, seed))
        yield name, bars


def recorded() -> Bars | None:
    """The bars on the recorded corpus; None where it is absent."""
    if not there:
        return None
    bars = Bars()
    for _, trips in recorded_runs():
        bars += judged(trips)
    return bars


def vector_10() -> bool:
    """Whether the prices of the reference's test vector come out."""
    from turntape.inspector.analysis.pricing import cost_of
    from turntape.inspector.wire.parse import read

    from .cache_runs import priced_turn

    wanted = {"claude-opus-5-5": Decimal("0.0154"), "claude-haiku-5-5": Decimal("0.01425")}
    counts = {"claude-opus-5-5": (2000, 1000, 0, 3, 500), "claude-haiku-5-5": (100_000, 2000, 3000, 5000, 1000)}
    found = {model: cost_of(trip, read(trip)) for model in wanted for trip in [priced_turn(model, *counts[model])]}
    return all(one is not None and abs(one.amount - wanted[model]) < Decimal("0.00002") for model, one in found.items())


def line(name: str, bars: Bars) -> str:
    """The bars of one cache in a line."""
    misses = ", ".join(f"{cause} {count}" for cause, count in bars.misses.most_common(4))
    return (
        f"{name:24} {_share(bars.marks)} {_share(bars.hits)} {_share(bars.grid)} {_share(bars.answers)} "
        f"{_share(bars.boundaries)} {bars.claimed:7}  {misses}"
    )


def _share(counts: Counter[bool]) -> str:
    whole = counts.total()
    return f"{100 * counts[True] / whole:5.1f} % {whole:5}" if whole else "      –      "


def print_bars() -> None:
    """The caches, beside the bars."""
    print()
    print("The prompt cache, later turns: right, and how many")
    print(f"{'':24} marks, exact  where read    grid ±1 step  with answer   boundary ≤5%  claimed  misses")
    whole = Bars()
    for name, bars in simulated():
        print(line(name, bars), flush=True)
        whole += bars
    print(line("all simulated", whole))
    on_tape = recorded()
    print(line("recorded", on_tape) if on_tape is not None else "recorded: no corpus here")
    print(f"{'the bars':24}        ≥ 95 %        ≥ 95 %        ≥ 90 %          –           ≥ 90 %       0")
    if on_tape is not None and on_tape.own:
        print(f"recorded, in no figure: {on_tape.own} requests of which only the provider's own text was read")
    print(f"prices of the reference's vector 10: {'right' if vector_10() else 'WRONG'}")


if __name__ == "__main__":
    print_bars()
