"""Running totals of a recording, summed up from its labels."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

SEVERITIES = ("error", "warning", "info")
"""Worst first."""
_WORST = 3
"""How many findings are named at the end of a run."""


@dataclass(frozen=True, slots=True)
class _Counted:
    """What the totals need from one label."""

    turn: bool
    tool_wire: bool
    """A message between the client and a tool server."""
    tool_runs: int
    calls: int
    usage: tuple[int, int, int] | None
    """Input tokens, cached input tokens, output tokens; None when the API did not report them."""
    cost: Decimal | None
    failed: bool
    findings: tuple[tuple[str, str], ...]
    """(severity, one line)."""


class RunTotals:
    """Sums up labels as `show --json` writes them."""

    def __init__(self) -> None:
        self._counted: dict[tuple[int, object, object], _Counted] = {}
        self._faults: list[str] = []

    def fault(self, sentence: str) -> None:
        """Note that turntape failed to label something; the first one is shown at the end of the run."""
        self._faults.append(sentence)

    def add(self, index: int, label: Mapping[str, object]) -> None:
        """Count the label of round trip `index`. A later label of the same turn replaces the earlier one."""
        model, api, cost = as_mapping(label.get("model")), as_mapping(label.get("api")), label.get("cost_usd")
        status = label.get("status")
        tool_wire = label.get("kind") == "tools"
        # A WebSocket session is one round trip with many turns.
        self._counted[(index, label.get("thread"), label.get("turn"))] = _Counted(
            turn=label.get("turn") is not None,
            tool_wire=tool_wire,
            tool_runs=len(as_list(label.get("tool_runs"))),
            calls=len(as_list(model.get("tool_calls"))),
            usage=_usage(as_mapping(label.get("usage"))),
            cost=Decimal(cost) if isinstance(cost, str) else None,
            failed=not tool_wire and (api.get("error") is not None or not isinstance(status, int) or status >= 400),
            findings=tuple(
                (str(found.get("severity")), f"{found.get('layer')}: {found.get('message')} ({_where(found, index)})")
                for found in map(as_mapping, as_list(label.get("findings")))
            ),
        )

    @property
    def cost(self) -> Decimal | None:
        """The cost so far in US dollars; None when no price is known."""
        priced = [one.cost for one in self._counted.values() if one.cost is not None]
        return sum(priced, Decimal(0)) if priced else None

    def as_json(self) -> dict[str, object]:
        """The totals as the labeller process sends them, for `summary_lines`."""
        counted = self._counted.values()
        turns = [one for one in counted if one.turn]
        usages = [one.usage for one in counted if one.usage is not None]
        findings = [finding for one in counted for finding in one.findings]
        return {
            "round_trips": len(counted),
            "turns": len(turns),
            "tool_messages": sum(one.tool_wire for one in counted),
            "tool_runs": sum(one.tool_runs for one in counted),
            "failed": sum(one.failed for one in counted),
            "tool_calls": sum(one.calls for one in counted),
            "input": sum(usage[0] for usage in usages),
            "cache_read": sum(usage[1] for usage in usages),
            "output": sum(usage[2] for usage in usages),
            "uncounted": sum(one.usage is None and not one.failed for one in turns),
            "counted": len(usages),
            "cost_usd": None if self.cost is None else str(self.cost),
            "unpriced": sum(one.cost is None and not one.failed for one in turns),
            "findings": Counter(severity for severity, _ in findings),
            "faults": self._faults[:1],
            "worst": [text for name in SEVERITIES[:2] for severity, text in findings if severity == name][:_WORST],
        }


def as_mapping(value: object) -> Mapping[str, object]:
    """The value, or an empty mapping when it is something else."""
    return value if isinstance(value, Mapping) else {}  # pyright: ignore[reportUnknownVariableType]


def as_list(value: object) -> Sequence[object]:
    """The value, or an empty list when it is something else."""
    return value if isinstance(value, list | tuple) else ()  # pyright: ignore[reportUnknownVariableType]


def as_number(value: object) -> int:
    """The value, or 0 when it is something else."""
    return value if isinstance(value, int) else 0


def _usage(usage: Mapping[str, object]) -> tuple[int, int, int] | None:
    if usage.get("input") is None and usage.get("output") is None:
        return None
    return as_number(usage.get("input")), as_number(usage.get("cache_read")), as_number(usage.get("output"))


def _where(finding: Mapping[str, object], index: int) -> str:
    evidence = as_list(finding.get("evidence"))
    return str(evidence[0]) if evidence else f"#{index}"
