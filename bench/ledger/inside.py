"""Inside a turn: what the ledger says of each piece, beside the truth of the backend.

Nothing of a backend but its round trips reaches the ledger.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from statistics import median
from typing import Any

from bench.faults.dialects import DIALECTS
from bench.faults.pieces import Result
from turntape.inspector.ledger import Ledger, TurnEntry, ledger_of
from turntape.inspector.ledger.fit import Rates, Sum, fitted
from turntape.inspector.ledger.shape import shape_of, tokens_of
from turntape.inspector.run.labels import label_all

from .backend import Backend, Served, served
from .talk import Talk, talk
from .tokenizers import JUDGES, LOOKED_AT, Count

TURNS = (3, 8, 25)


_VALUES = (
    "errors",
    "by_bytes",
    "newest",
    "newest_by_bytes",
    "newest_alone",
    "newest_sure",
    "newest_of_bill",
    "newest_at_most",
    "anchors",
)
_LARGE = 100
NEAR = 0.05
"""The bar for the newest result: so near to its price."""
TWIN = 4
"""The tokens by which the results of a twin differ: the difference that two of the judges have between what is around
an answer and around a message."""


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
    newest_alone: list[float] = field(default_factory=list[float])
    """The same where it is the only result of its turn and has 100 tokens or more."""
    newest_sure: list[float] = field(default_factory=list[float])
    """The same where its tokens are exact or bounded, so that it is not shown as an estimate."""
    newest_of_bill: list[float] = field(default_factory=list[float])
    """The same as a share of the price of the whole input."""
    newest_at_most: list[float] = field(default_factory=list[float])
    """How likely anybody can be within 5 %. Not at all where even somebody is not who knows the true sum of the results
    of the turn, and the rates that are nearest to the truth of every result of the run; by half where the twin has the
    same round trips, and no number is within 5 % of both truths; else surely."""
    twins: Counter[bool] = field(default_factory=Counter[bool])
    """Whether the twin of a run, whose results have other tokens, has the same round trips."""
    anchors: list[float] = field(default_factory=list[float])
    """The tokens up to a mark that the ledger was not shown: the difference as a share of the truth."""

    def __iadd__(self, other: "Score") -> "Score":
        for counts in ("added", "within", "certain", "sums", "twins"):
            getattr(self, counts).update(getattr(other, counts))
        for values in _VALUES:
            getattr(self, values).extend(getattr(other, values))
        return self


_LOOKED_AT = (
    {"hidden": 0, "role": 4, "block": 2},
    {"hidden": 12, "role": 3, "block": 0},
    {"hidden": 120, "role": 6, "block": 5, "renders_calls": True},
    {"hidden": 346, "role": 0, "block": 1},
)
_JUDGES = (
    {"hidden": 30, "role": 5, "block": 3, "answer": 4},
    {"hidden": 0, "role": 4, "block": 0, "apart": True},
    {"hidden": 210, "role": 7, "block": 2, "answer": 3},
    {"hidden": 64, "role": 2, "block": 6, "answer": 5, "apart": True, "renders_calls": True},
)


@dataclass(frozen=True, slots=True)
class Group:
    """Backends that are scored together."""

    name: str
    tokenizers: Mapping[str, Callable[[], Count]]
    forms: Sequence[Mapping[str, Any]]
    """How they render a prompt."""

    def backends(self) -> Iterator[tuple[str, str, Backend]]:
        """Every dialect with every tokenizer, rendered in different ways."""
        for number, (dialect_name, dialect) in enumerate(DIALECTS.items()):
            for place, (name, make) in enumerate(self.tokenizers.items()):
                backend = Backend(
                    dialect,
                    make(),
                    keeps_reasoning=(number + place) % 2 == 0,
                    states_reasoning=dialect.upstream != "anthropic" or place % 4 < 2,
                    marks=dialect.upstream in ("anthropic", "bedrock"),
                )
                yield dialect_name, name, replace(backend, **self.forms[(number + place) % 4])


SEEN = Group("the half that was looked at", LOOKED_AT, _LOOKED_AT)
UNSEEN = Group("the half that judges", JUDGES, _JUDGES)


def real(tokenizers: Mapping[str, Callable[[], Count]]) -> Group:
    """Backends with the tokenizers of real models; they render a prompt as the judges do."""
    return Group("real tokenizers", tokenizers, _JUDGES)


def scores(group: Group, chosen: Sequence[str] = ()) -> Iterator[tuple[str, str, Score]]:
    """The score of each backend, or of those with one of these words in their names, over runs of several lengths."""
    for dialect, tokenizer, backend in group.backends():
        if chosen and not any(word in f"{dialect}, {tokenizer}" for word in chosen):
            continue
        score = Score()
        for turns in TURNS:
            name = f"{dialect}/{tokenizer}/{turns}"
            said = talk(name, backend.dialect, turns)
            run = served(backend, said, name)
            ledger = ledger_of(label_all(run.trips))
            score += judged(run, said, ledger)
            twin = served(replace(backend, more_in_results=TWIN), said, name)
            score.twins[twin.trips == run.trips] += 1
            # Who reads the round trips cannot know which of the two it is, so the bounds must have both truths.
            score.within += judged(twin, said, ledger).within
            silent = served(replace(backend, shows=False), said, name)
            score.anchors += _anchors(silent, ledger_of(label_all(silent.trips)))
        yield dialect, tokenizer, score


def judged(run: Served, said: Talk, ledger: Ledger) -> Score:
    """What a ledger says of a run beside the truth."""
    score = Score()
    results = [[block.text for block in turn.sent[-1].blocks if isinstance(block, Result)] for turn in said.turns]
    rates = _nearest_rates(results, run.truths)
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
        texts = results[entry.place]
        if texts and entry.input_cost:
            guesses = [tokens_of(shape_of(text.encode()), rates) for text in texts]
            best = guesses[-1] * sum(truths[-len(texts) :]) / sum(guesses)
            reached = abs(best - truths[-1]) <= NEAR * truths[-1]
            both = truths[-1] * (1 + NEAR) >= (truths[-1] + TWIN) * (1 - NEAR)
            score.newest_at_most.append(reached * (1.0 if both else 0.5))
            if len(texts) == 1 and truths[-1] >= _LARGE:
                score.newest_alone.append(score.newest[-1])
    return score


def _nearest_rates(results: Sequence[Sequence[str]], truths: Sequence[Sequence[int]]) -> Rates:
    """The rates that are nearest to the true tokens of all results."""
    known = [
        zip(texts, truth[-len(texts) :], strict=True) for texts, truth in zip(results, truths, strict=True) if texts
    ]
    return fitted([Sum(shape_of(text.encode()), tokens) for turn in known for text, tokens in turn])


def score_newest(score: Score, entry: TurnEntry, truths: list[int], whole: int) -> None:
    """The price of the newest result alone, which no cache had."""
    uses = [use for use in entry.uses if use.piece.kind != "other"]
    last, truth = uses[-1], truths[-1]
    if last.piece.kind != "result" or last.cost is None or not last.cost or entry.input_cost is None:
        return
    rate = last.cost / (last.read + last.written + last.fresh)
    wanted = rate * truth
    score.newest.append(float(abs(last.cost - wanted) / wanted))
    score.newest_of_bill.append(float(abs(last.cost - wanted) / entry.input_cost))
    if last.tokens is not None and last.tokens.certainty != "estimated":
        score.newest_sure.append(score.newest[-1])
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
