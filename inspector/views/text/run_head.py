"""The head of a run's text: its name, what it cost, and how much of what is in it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import cast

from turntape.cassettes.frozen import frozen

from ...run.label_costs import is_unpriced
from ...run.labels import Label, LabelledRoundTrip
from ...run.totals import added_up
from ...wire.json_value import as_array
from ...wire.printable import safe, several
from .number_format import begun, spent
from .short_names import distinct_models
from .terminal_text import Line, Span, clip, flow, wrap


@frozen
class TurnFigures:
    """What the head counts of one round trip; no bodies."""

    label: Label
    """Without what the model emitted."""
    input: int | None
    """Input tokens of a turn; None when they are not known."""
    unpriced: bool
    """Whether its cost is not known."""

    @property
    def cost(self) -> Decimal | None:
        """In US dollars; None when it is not known."""
        price = self.label["cost_usd"]
        return None if price is None else Decimal(cast(str, price))


def turn_figures(one: LabelledRoundTrip) -> TurnFigures:
    """The figures of a round trip, of a turn or of anything else."""
    into = one.reading.usage.input if one.reading.usage and one.turn is not None else None
    return TurnFigures({**one.label, "model": None}, into, is_unpriced(one.label))


def head_lines(name: str, rows: Sequence[TurnFigures], width: int) -> Iterator[Line]:
    """The name of the run in one line, then its facts in lines of at most `width` cells, money first."""
    yield [(name, "bold")]
    labels = [row.label for row in rows]
    turns = [label for label in labels if label["turn"] is not None]
    parts = list(_counts(labels, turns))
    into = added_up(row.input for row in rows)
    if into is not None:
        parts.insert(1, f"{into:,} tokens in")
    cost, unpriced = _spent(rows), sum(row.unpriced for row in rows)
    if unpriced and cost is not None:
        parts.insert(1, f"{several(unpriced, 'request')} without a known price")
    money: list[Span] = [(f"{spent(cost, unpriced)} · ", "money")] if turns or cost is not None or unpriced else []
    yield from flow([*money, *_facts(parts, width)], width, "  ")


def _counts(labels: Sequence[Label], turns: Sequence[Label]) -> Iterator[str]:
    """What the run has, and when it began with which models."""
    distinct = len({(label["thread"], label["turn"]) for label in turns})
    yield several(distinct, "turn")
    if again := len(turns) - distinct:
        yield several(again, "more attempt")
    messages = sum(label["kind"] == "tools" for label in labels)
    if runs := sum(len(as_array(label["tool_runs"])) for label in labels):
        yield several(runs, "tool run")
    elif messages:
        yield several(messages, "message") + " of tool servers"
    if others := len(labels) - len(turns) - messages:
        yield several(others, "other round trip")
    if len(threads := {label["thread"] for label in turns}) > 1:
        yield several(len(threads), "thread")
    names = {cast("str | None", label["run"]) for label in turns}
    if len(names) > 1:
        yield several(len(names), "run")
    elif run := next(iter(names), None):
        yield f"run {safe(run)}"
    if not labels:
        return
    if began := begun(datetime.fromisoformat(cast(str, labels[0]["started_at"])).timestamp()):
        yield began
    used = (cast("str | None", label["response_model"] or label["request_model"]) for label in turns)
    for model in distinct_models(model for model, _ in Counter(filter(None, used)).most_common())[:3]:
        yield clip(model, 40)


def _spent(rows: Iterable[TurnFigures]) -> Decimal | None:
    """The cost of these requests; None when none has a price."""
    known = [row.cost for row in rows if row.cost is not None]
    return sum(known, Decimal(0)) if known else None


def _facts(parts: Sequence[str], width: int) -> Iterator[Span]:
    """Facts with a dot between them; a line is broken inside one only where it is wider than a line."""
    for at, part in enumerate(parts):
        dot = " ·" if at + 1 < len(parts) else ""
        for text in wrap(part + dot, width - 3):
            yield f"{text} ", "dim"
