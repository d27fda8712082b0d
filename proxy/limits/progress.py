"""What a run has used so far: counted by the labeller process from its labels, and sent to the proxy."""

from collections.abc import Mapping
from decimal import Decimal
from typing import TypedDict

from turntape.cassettes.frozen import frozen
from turntape.inspector.findings.finding import Finding
from turntape.inspector.run.label_costs import is_unpriced
from turntape.inspector.wire.json_value import as_array

from .turn_paths import path_of

PATIENCE = 60.0
"""Seconds of silence of the labeller process after which the proxy no longer waits for it."""


class ProgressReport(TypedDict):
    """One `progress` line of the labeller process."""

    read: int
    """Round trips whose labels are counted here."""
    turns: int
    cost: str
    """US dollars, as a decimal number."""
    unpriced: int
    """Requests without a known price; `cost` has nothing of them, or not the whole."""
    findings: dict[str, str]
    """Message by finding id; a finding is listed under its former ids too."""
    paths: list[str]
    """Paths of the requests that the labels call turns."""


NO_PROGRESS: ProgressReport = {"read": 0, "turns": 0, "cost": "0", "unpriced": 0, "findings": {}, "paths": []}


@frozen
class _Turn:
    counts: bool
    """False for a WebSocket handshake that failed: nothing was asked of a model."""
    cost: Decimal | None
    unpriced: bool
    findings: tuple[tuple[str, str], ...]
    """(id, message)."""


class ProgressCounter:
    """Sums up labels as `show --json` writes them."""

    def __init__(self) -> None:
        self._turns: dict[tuple[int, object, object], _Turn] = {}
        self._elsewhere: dict[int, tuple[tuple[str, str], ...]] = {}
        """The findings of other round trips, such as messages of tool servers."""
        self._beside: dict[int, tuple[Decimal | None, bool]] = {}
        """The cost of other requests, such as those for embeddings, and whether it is not known as a whole."""
        self._paths: set[str] = set()

    def add(self, index: int, label: Mapping[str, object]) -> None:
        """Count the label of round trip `index`. A later label of the same turn replaces the earlier one."""
        findings = map(Finding.from_json, as_array(label.get("findings")))
        stated, unpriced = label.get("cost_usd"), is_unpriced(label)
        cost = Decimal(stated) if isinstance(stated, str) else None
        if label.get("turn") is None:
            if cost is not None or unpriced:
                self._beside[index] = cost, unpriced
            self._elsewhere[index] = tuple((name, finding.message) for finding in findings for name in finding.names)
            return
        self._turns[(index, label.get("thread"), label.get("turn"))] = _Turn(
            label.get("method") != "GET",
            cost,
            unpriced,
            tuple((name, finding.message) for finding in findings for name in finding.names),
        )
        self._paths.add(path_of(str(label.get("url"))))

    def report(self, read: int) -> ProgressReport:
        """The sums over all labels of the first `read` round trips."""
        turns = [turn for turn in self._turns.values() if turn.counts]
        costs = [*((turn.cost, turn.unpriced) for turn in turns), *self._beside.values()]
        return {
            "read": read,
            "turns": len(turns),
            "cost": str(sum((cost for cost, _ in costs if cost is not None), Decimal(0))),
            "unpriced": sum(unpriced for _, unpriced in costs),
            "findings": dict(
                found
                for findings in (*(turn.findings for turn in self._turns.values()), *self._elsewhere.values())
                for found in findings
            ),
            "paths": sorted(self._paths),
        }
