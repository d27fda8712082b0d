"""What the views of a team's runs show: figures by day, branch, agent and model, and runs with their addresses."""

from collections.abc import Sequence
from dataclasses import field
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Literal, Protocol

from turntape.cassettes.frozen import frozen

type By = Literal["branch", "agent", "model", "day", "finding"]
"""What runs are grouped by."""
type Order = Literal["worst", "dearest", "newest"]
"""The order of runs."""
ORDERS: dict[Order, str] = {"worst": "worst", "dearest": "most expensive", "newest": "newest"}
"""The orders, with their words on the screen."""


@frozen
class Group:
    """The runs that have one day, branch, agent or model."""

    name: str
    """Empty where it is not known."""
    runs: int
    turns: int
    """The attempts of one turn count once, as in `show` and `view`."""
    cost: Decimal | None
    """US dollars; None when no price is known."""
    errors: int
    """Findings with severity error that follow from no other."""
    warnings: int
    failed: int
    """Runs with the verdict `fail`."""
    unpriced: int = 0
    """Turns whose cost is not known, or not known as a whole: the real cost is then higher than `cost`."""


@frozen
class FindingCount:
    id: str
    layer: str
    severity: str
    count: int
    runs: int


@frozen
class RunFigures:
    address: str
    name: str
    branch: str
    agent: str
    task: str
    verdict: str
    started_at: datetime
    turns: int
    cost: Decimal | None
    errors: int
    warnings: int
    findings: tuple[str, ...]
    """The most frequent classes of findings above info, the worst first."""
    unpriced: int = 0
    """As in a group."""
    without_price: tuple[str, ...] = ()
    """The models and fees without a known price, the most frequent first."""


@frozen
class Overview:
    store: str
    first: date
    last: date
    whole: Group
    input: int
    """Input tokens."""
    cached: int
    """Of these, read from a cache."""
    unpriced: int
    """That of `whole`."""
    without_price: list[str] = field(default_factory=list[str])
    """The models and fees without a known price, the most frequent first; a model may have no name."""
    days: list[Group] = field(default_factory=list[Group])
    """Every day, in order; those without runs too."""
    branches: list[Group] = field(default_factory=list[Group])
    agents: list[Group] = field(default_factory=list[Group])
    models: list[Group] = field(default_factory=list[Group])
    findings: list[FindingCount] = field(default_factory=list[FindingCount])
    worst: list[RunFigures] = field(default_factory=list[RunFigures])


@frozen
class SomeRuns:
    """Runs in an order, of which only the first may be listed."""

    count: int
    """How many there are."""
    listed: Sequence[RunFigures]


class FleetSource(Protocol):
    """Where the figures come from. It is used on one thread at a time; each method raises TurntapeError."""

    def overview(self) -> Overview:
        """The figures of the last days, read again each time. A store without rows of these days has an empty one."""
        ...

    def groups(self, by: By) -> Sequence[Group]:
        """The groups, the dearest first; days in order. Not for findings."""
        ...

    def findings(self) -> Sequence[FindingCount]:
        """The classes of findings, errors first."""
        ...

    def runs(self, by: By | None, name: str, order: Order) -> SomeRuns:
        """The runs of a group, or with None all runs."""
        ...

    def tape(self, address: str) -> Path:
        """The recording at an address as a local file."""
        ...
