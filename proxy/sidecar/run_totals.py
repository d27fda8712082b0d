"""Running totals of a recording, summed up from its labels."""

from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from decimal import Decimal

from turntape.cassettes.frozen import frozen
from turntape.inspector.run.label_costs import is_unpriced

SEVERITIES = ("error", "warning", "info")
"""Worst first."""
_WORST = 3
"""How many findings are named at the end of a run."""
_RUNS = 10_000
"""So many runs have their own cost; the one that was silent longest is forgotten."""
TOKENS = ("input", "cache_read", "cache_write", "output", "reasoning")
_NAMES = ("round_trips", "turns", "tool_messages", "tool_runs", "failed", "tool_calls", *TOKENS) + (
    "uncounted",
    "counted",
    "unpriced",
)


@frozen
class _Counted:
    """What the totals need from one label."""

    numbers: Counter[str]
    run: object
    cost: Decimal | None
    findings: tuple[tuple[str, str], ...]
    """(severity, one line)."""


class RunTotals:
    """Sums up labels as `show --json` writes them."""

    def __init__(self) -> None:
        self._counted: dict[tuple[int, object, object], _Counted] = {}
        """What was counted of each turn of the current segment."""
        self._numbers: Counter[str] = Counter()
        self._costs: OrderedDict[object, Decimal] = OrderedDict()
        """The cost of each run that was seen lately."""
        self._cost: Decimal | None = None
        self._worst: list[tuple[str, str]] = []
        """The worst findings of the earlier segments."""
        self._faults: list[str] = []

    def fault(self, sentence: str) -> None:
        """Note that turntape failed to label something; the first one is shown at the end of the run."""
        self._faults = [*self._faults, sentence][:1]

    def add(self, index: int, label: Mapping[str, object]) -> None:
        """Count the label of round trip `index`. A later label of the same turn replaces the earlier one."""
        # A WebSocket session is one round trip with many turns.
        key = (index, label.get("thread"), label.get("turn"))
        new, old = _counted(index, label), self._counted.get(key)
        self._counted[key] = new
        self._numbers.update(new.numbers)
        if old is not None:
            self._numbers.subtract(old.numbers)
        if new.cost is None and (old is None or old.cost is None):
            return
        more = (new.cost or Decimal(0)) - ((old.cost if old else None) or Decimal(0))
        self._cost = (self._cost or Decimal(0)) + more
        self._costs[new.run] = self._costs.get(new.run, Decimal(0)) + more
        self._costs.move_to_end(new.run)
        if len(self._costs) > _RUNS:
            self._costs.popitem(last=False)

    def next_segment(self) -> None:
        """The next labels are of another file; the sums go on."""
        self._worst = self._worst_so_far()
        self._counted.clear()

    @property
    def cost(self) -> Decimal | None:
        """The cost so far in US dollars; None when no price is known."""
        return self._cost

    def cost_of(self, run: object) -> Decimal | None:
        """The cost of one run so far; None when no price is known."""
        return self._costs.get(run)

    @property
    def numbers(self) -> Mapping[str, int]:
        """The sums so far, by name; those of findings as `findings.error`."""
        return self._numbers

    def as_json(self) -> dict[str, object]:
        """The totals as the labeller process sends them, for `summary_lines`."""
        return {
            **{name: self._numbers[name] for name in _NAMES},
            "cost_usd": None if self.cost is None else str(self.cost),
            "findings": {s: found for s in SEVERITIES if (found := self._numbers[f"findings.{s}"])},
            "faults": self._faults,
            "worst": [text for _, text in self._worst_so_far()],
        }

    def _worst_so_far(self) -> list[tuple[str, str]]:
        found = [*self._worst, *(finding for one in self._counted.values() for finding in one.findings)]
        return [one for name in SEVERITIES[:2] for one in found if one[0] == name][:_WORST]


def _counted(index: int, label: Mapping[str, object]) -> _Counted:
    model, api, cost = as_mapping(label.get("model")), as_mapping(label.get("api")), label.get("cost_usd")
    status, tool_wire = label.get("status"), label.get("kind") == "tools"
    failed = not tool_wire and (api.get("error") is not None or not isinstance(status, int) or status >= 400)
    turn = label.get("turn") is not None
    usage = as_mapping(label.get("usage") if turn else None)
    counted = usage.get("input") is not None or usage.get("output") is not None
    findings = tuple(
        (str(found.get("severity")), f"{found.get('layer')}: {found.get('message')} ({_where(found, index)})")
        for found in map(as_mapping, as_list(label.get("findings")))
    )
    numbers = Counter(
        round_trips=1,
        turns=int(turn),
        tool_messages=int(tool_wire),
        tool_runs=len(as_list(label.get("tool_runs"))),
        failed=int(failed),
        tool_calls=len(as_list(model.get("tool_calls"))),
        uncounted=int(turn and not counted and not failed),
        counted=int(counted),
        unpriced=int(is_unpriced(label)),
        **{name: as_number(usage.get(name)) for name in TOKENS},
    )
    numbers.update(f"findings.{severity}" for severity, _ in findings)
    return _Counted(numbers, label.get("run"), Decimal(cost) if isinstance(cost, str) else None, findings)


def as_mapping(value: object) -> Mapping[str, object]:
    """The value, or an empty mapping when it is something else."""
    return value if isinstance(value, Mapping) else {}  # pyright: ignore[reportUnknownVariableType]


def as_list(value: object) -> Sequence[object]:
    """The value, or an empty list when it is something else."""
    return value if isinstance(value, list | tuple) else ()  # pyright: ignore[reportUnknownVariableType]


def as_number(value: object) -> int:
    """The value, or 0 when it is something else."""
    return value if isinstance(value, int) else 0


def _where(finding: Mapping[str, object], index: int) -> str:
    evidence = as_list(finding.get("evidence"))
    return str(evidence[0]) if evidence else f"#{index}"
