"""`turntape check`: the selected findings of a recording, and the budgets that it exceeds.

A recording is read once, round trip by round trip. Only findings and numbers are kept in memory.
"""

from collections.abc import Iterable, Iterator
from dataclasses import field
from decimal import Decimal
from typing import cast

from turntape.cassettes.frozen import frozen, mutable
from turntape.cassettes.tape.model import RoundTrip

from ..findings.docs import FailureClass, class_of, classes
from ..findings.finding import SEVERITIES, Finding, Severity
from ..run.label_costs import is_unpriced
from ..run.labels import Key, Label, label_stream
from ..wire.json_value import as_array, as_object
from .budgets import Budgets, Spent, Step, Verdict, verdicts


@frozen
class Asked:
    """What to look for, and what to fail on."""

    fail_on: Severity = "error"
    only: frozenset[str] = frozenset()
    """Ids, also former ones, and layers; none is all."""
    ignore: frozenset[str] = frozenset()
    hints: bool = False
    lint: bool = False
    budgets: Budgets = Budgets()

    def wants(self, finding: Finding) -> bool:
        """Whether a finding is selected."""
        if not self.ignore.isdisjoint(finding.names):
            return False
        return not self.only or not self.only.isdisjoint((finding.layer, *finding.names))

    def fails(self, finding: Finding) -> bool:
        """Whether a finding is severe enough to fail the check."""
        return SEVERITIES.index(finding.severity) >= SEVERITIES.index(self.fail_on)

    @property
    def switches(self) -> tuple[bool, bool]:
        """Whether hints and lint run: because of their options, or because a class that needs them was named."""
        named = [one for name in self.only if (one := class_of(name)) is not None]
        return (
            self.hints or any("H" in one.tiers for one in named),
            self.lint or any(one.switch == "--lint" for one in named),
        )

    @property
    def classes(self) -> tuple[FailureClass, ...]:
        """Every class that is looked for."""
        hints, lint = self.switches
        on = {None: True, "--hints": hints, "--lint": lint}
        return tuple(
            one
            for one in classes()
            if on[one.switch]
            and self.ignore.isdisjoint(one.names)
            and (not self.only or not self.only.isdisjoint((one.rule.layer, *one.names)))
        )


@frozen
class Found:
    """A finding and its turn."""

    finding: Finding
    index: int
    run: str | None = None
    thread: str | None = None
    turn: int | None = None

    def as_json(self) -> dict[str, object]:
        return {
            "index": self.index,
            "run": self.run,
            "thread": self.thread,
            "turn": self.turn,
            **self.finding.as_json(),
        }


@frozen
class Node:
    """A finding with those that only follow from it."""

    found: Found
    consequences: tuple["Node", ...] = ()


@frozen
class Checked:
    """What was found in one recording."""

    name: str
    round_trips: int
    turns: int
    """The attempts of one turn count once."""
    threads: int
    input: int
    cost: Decimal | None
    """None when nothing could be priced."""
    findings: tuple[Found, ...]
    """In order of the round trips."""
    verdicts: tuple[Verdict, ...]
    problems: tuple[str, ...] = ()
    """What could not be read, one sentence each."""
    attempts: int = 0
    """Requests for an answer: the turns, and every retry of one."""
    runs: tuple[str, ...] = ()
    """The names of its runs."""
    unpriced: int = 0
    """Requests without a known price; if there are any, the real cost is higher than `cost`."""

    def failing(self, asked: Asked) -> list[Found]:
        return [found for found in self.findings if asked.fails(found.finding)]

    @property
    def broken(self) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if verdict.state == "broken"]


@frozen
class Report:
    """All recordings that were checked, and those that could not be."""

    asked: Asked
    checked: tuple[Checked, ...]
    unread: tuple[tuple[str, str], ...] = ()
    """Name and sentence of each file that is not a cassette."""

    @property
    def failed(self) -> bool:
        """Whether a finding is severe enough or a budget is broken."""
        return any(one.failing(self.asked) or one.broken for one in self.checked)


@mutable
class _Row:
    run: str | None
    step: Step | None
    beside: Spent | None
    """What a request outside generation cost; None for one that is not billed."""
    unpriced: bool
    thread: str | None
    turn: int | None
    findings: list[Finding] = field(default_factory=list[Finding])


def check(name: str, round_trips: Iterable[RoundTrip], asked: Asked) -> Checked:
    """Check one recording. The caller adds the problems of the reader."""
    hints, lint = asked.switches
    rows: dict[Key, _Row] = {}
    for key, one in label_stream(round_trips, hints=hints, advice=lint):
        rows[key] = _row(one.label, asked)
    ordered = [(key[0], rows[key]) for key in sorted(rows)]
    steps = [(row.run, row.step) for _, row in ordered if row.step is not None]
    beside = [(row.run, row.beside) for _, row in ordered if row.beside is not None]
    priced = [step.cost for _, step in [*steps, *beside] if step.cost is not None]
    return Checked(
        name,
        round_trips=len({index for index, _ in ordered}),
        turns=len({(run, step.thread, step.turn) for run, step in steps}),
        threads=len({(run, step.thread) for run, step in steps}),
        input=sum(step.input or 0 for _, step in steps),
        cost=sum(priced, Decimal(0)) if priced else None,
        findings=tuple(
            Found(finding, index, row.run, row.thread, row.turn) for index, row in ordered for finding in row.findings
        ),
        verdicts=tuple(_judged(asked.budgets, steps, beside)),
        attempts=len(steps),
        unpriced=sum(row.unpriced for _, row in ordered),
        runs=tuple(dict.fromkeys(row.run for _, row in ordered if row.run)),
    )


def _judged(
    budgets: Budgets, steps: list[tuple[str | None, Step]], beside: list[tuple[str | None, Spent]]
) -> Iterator[Verdict]:
    """Each run separately: one cassette may hold several."""
    for run in dict.fromkeys(run for run, _ in [*steps, *beside]) or [None]:
        others = [spent for owner, spent in beside if owner == run]
        yield from verdicts(budgets, (step for owner, step in steps if owner == run), run, others)


def _row(label: Label, asked: Asked) -> _Row:
    thread, turn = cast(str | None, label["thread"]), cast(int | None, label["turn"])
    step, beside = None, None
    index, price = cast(int, label["index"]), label["cost_usd"]
    cost = Decimal(price) if isinstance(price, str) else None
    if turn is None and (cost is not None or is_unpriced(label)):
        beside = Spent(index, cost, is_unpriced(label))
    if thread is not None and turn is not None:
        effective = as_object(label["api"]).get("effective")
        step = Step(
            index,
            thread,
            turn,
            cast(int | None, as_object(label["usage"]).get("input")),
            cost,
            failed=effective in ("error", "cut", "cancelled"),
            unpriced=cost is not None and is_unpriced(label),
        )
    findings = [finding for item in as_array(label["findings"]) if asked.wants(finding := Finding.from_json(item))]
    return _Row(cast(str | None, label["run"]), step, beside, is_unpriced(label), thread, turn, findings)


def rooted(findings: Iterable[Found]) -> list[Node]:
    """Findings as trees: roots first, by severity; findings that follow from a root are below it.

    A finding names its root by class (`because_of`). Its root is the latest such finding before it, of the same thread
    if there is one. A finding whose root is missing is a root itself.
    """
    given = list(findings)
    parents: dict[int, int] = {}
    under: dict[int, list[int]] = {}
    by_id: dict[str, list[int]] = {}
    for place, found in enumerate(given):
        for name in found.finding.names:
            by_id.setdefault(name, []).append(place)
    for place, found in enumerate(given):
        root = above = _root_of(place, found, given, by_id)
        while above is not None and above != place:
            above = parents.get(above)
        if root is not None and above is None:  # two findings that name each other would otherwise be lost
            parents[place] = root
            under.setdefault(root, []).append(place)

    def node(place: int) -> Node:
        return Node(given[place], tuple(node(consequence) for consequence in under.get(place, ())))

    roots = [place for place in range(len(given)) if place not in parents]
    roots.sort(key=lambda place: (-_rank(given[place]), given[place].finding.id, given[place].index, place))
    return [node(place) for place in roots]


def _rank(found: Found) -> int:
    return SEVERITIES.index(found.finding.severity)


def _root_of(place: int, found: Found, given: list[Found], by_id: dict[str, list[int]]) -> int | None:
    best: tuple[tuple[bool, bool, int], int] | None = None
    for name in found.finding.because_of:
        for other in by_id.get(name, ()):
            one = given[other]
            fits = (one.thread == found.thread, one.index <= found.index, -abs(found.index - one.index))
            if other != place and (best is None or fits > best[0]):
                best = (fits, other)
    return best[1] if best else None
