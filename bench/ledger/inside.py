"""Inside a turn: what the ledger says of each piece, beside the truth of the backend.

Nothing of a backend but its round trips reaches the ledger.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from statistics import median

from bench.faults.dialects import DIALECTS
from turntape.inspector.ledger import Ledger, TurnEntry, ledger_of
from turntape.inspector.run.labels import label_all

from .backend import Backend, Served, served
from .talk import talk
from .tokenizers import TOKENIZERS

TURNS = (3, 8, 25)


@dataclass(slots=True)
class Score:
    """How good the figures of some runs are."""

    added: Counter[bool] = field(default_factory=Counter[bool])
    """Whether what a turn added is exact, for each pair of turns with unchanged tools and system."""
    within: Counter[bool] = field(default_factory=Counter[bool])
    """Whether the bounds have the truth in them."""
    errors: list[float] = field(default_factory=list[float])
    """Of what is not exact, the difference from the truth as a share of it."""
    by_bytes: list[float] = field(default_factory=list[float])
    """The same for a share of the input by bytes."""
    certain: Counter[str] = field(default_factory=Counter[str])
    sums: Counter[bool] = field(default_factory=Counter[bool])
    """Whether the pieces add up to the input and to its price."""
    newest: list[float] = field(default_factory=list[float])
    """The price of the newest result, by the truth: the difference as a share of it."""
    newest_by_bytes: list[float] = field(default_factory=list[float])
    anchors: list[float] = field(default_factory=list[float])
    """The tokens up to a mark that the ledger was not shown: the difference as a share of the truth."""

    def __iadd__(self, other: "Score") -> "Score":
        for counts in ("added", "within", "certain", "sums"):
            getattr(self, counts).update(getattr(other, counts))
        for values in ("errors", "by_bytes", "newest", "newest_by_bytes", "anchors"):
            getattr(self, values).extend(getattr(other, values))
        return self


def backends() -> Iterator[tuple[str, str, Backend]]:
    """Every dialect with every tokenizer, rendered in different ways."""
    for number, (dialect_name, dialect) in enumerate(DIALECTS.items()):
        for place, (name, make) in enumerate(TOKENIZERS.items()):
            kind = (number + place) % 4
            yield (
                dialect_name,
                name,
                Backend(
                    dialect,
                    make(),
                    hidden=(0, 12, 120, 346)[kind],
                    role=(4, 3, 6, 0)[kind],
                    block=(2, 0, 5, 1)[kind],
                    keeps_reasoning=(number + place) % 2 == 0,
                    renders_calls=kind == 2,
                    marks=dialect.upstream in ("anthropic", "bedrock"),
                ),
            )


def scores(chosen: Sequence[str] = ()) -> Iterator[tuple[str, str, Score]]:
    """The score of each backend, or of those with one of these words in their names, over runs of several lengths."""
    for dialect, tokenizer, backend in backends():
        if chosen and not any(word in f"{dialect}, {tokenizer}" for word in chosen):
            continue
        score = Score()
        for turns in TURNS:
            name = f"{dialect}/{tokenizer}/{turns}"
            said = talk(name, backend.dialect, turns)
            run = served(backend, said, name)
            score += judged(run, ledger_of(label_all(run.trips)))
            silent = served(replace(backend, shows=False), said, name)
            score.anchors += _anchors(silent, ledger_of(label_all(silent.trips)))
        yield dialect, tokenizer, score


def judged(run: Served, ledger: Ledger) -> Score:
    """What a ledger says of a run beside the truth."""
    score = Score()
    seen: set[int] = set()
    for entry, truths in zip(ledger.turns, run.truths, strict=True):
        uses = [use for use in entry.uses if use.piece.kind != "other"]
        assert len(uses) == len(truths), (entry.place, [use.piece.name for use in uses], len(truths))
        tokens, cost = sum(u.tokens.value for u in entry.uses if u.tokens), [u.cost for u in entry.uses]
        priced = entry.input_cost is None or sum((one or Decimal(0) for one in cost), Decimal(0)) == entry.input_cost
        score.sums[tokens == entry.input and priced] += 1
        if entry.turn > 1:
            score.added[entry.added is not None and entry.added.certainty == "exact"] += 1
        whole = sum(max(1, use.piece.size) for use in uses)
        for use, truth in zip(uses, truths, strict=True):
            figure = use.tokens
            assert figure is not None
            if use.piece.id in seen or truth == 0:
                continue
            seen.add(use.piece.id)
            score.within[figure.low <= truth <= figure.high] += 1
            score.certain[figure.certainty] += 1
            if figure.certainty != "exact":
                score.errors.append(abs(figure.value - truth) / truth)
                score.by_bytes.append(abs((entry.input or 0) * use.piece.size / whole - truth) / truth)
        score_newest(score, entry, truths, whole)
    return score


def score_newest(score: Score, entry: TurnEntry, truths: list[int], whole: int) -> None:
    """The price of the newest result alone, which no cache had."""
    uses = [use for use in entry.uses if use.piece.kind != "other"]
    last, truth = uses[-1], truths[-1]
    if last.piece.kind != "result" or last.cost is None or not last.cost or entry.input_cost is None:
        return
    rate = last.cost / (last.read + last.written + last.fresh)
    wanted = rate * truth
    score.newest.append(float(abs(last.cost - wanted) / wanted))
    score.newest_by_bytes.append(float(abs(entry.input_cost * last.piece.size / whole - wanted) / wanted))


def _anchors(run: Served, ledger: Ledger) -> Iterator[float]:
    """What the ledger says of the tokens up to the system prompt's end, when the API does not show what it cached."""
    for entry, anchors in zip(ledger.turns, run.anchors, strict=True):
        mark, truth = anchors[0]
        shift = len(entry.uses) - len(run.truths[entry.place])
        said = sum(use.tokens.value for use in entry.uses[: mark + shift] if use.tokens)
        yield abs(said - truth) / truth


def middle(values: list[float]) -> float:
    """The median; 0 for no values."""
    return median(values) if values else 0.0
