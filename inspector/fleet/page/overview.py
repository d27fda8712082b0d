"""The figures of the last days: cost and findings by day, branch, agent and model, and the worst runs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, cast

from ..asking.database import Database

LISTED = 8
"""Branches, agents, models and findings that are listed by name."""
WORST = 15


@dataclass(frozen=True, slots=True)
class Group:
    """The runs that have one day, branch, agent or model."""

    name: str
    """Empty where it is not known."""
    runs: int
    turns: int
    cost: Decimal | None
    """US dollars; None when no price is known."""
    errors: int
    """Findings with severity error that follow from no other."""
    warnings: int
    failed: int
    """Runs with the verdict `fail`."""


@dataclass(frozen=True, slots=True)
class FindingCount:
    id: str
    layer: str
    severity: str
    count: int
    runs: int


@dataclass(frozen=True, slots=True)
class WorstRun:
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


@dataclass(frozen=True, slots=True)
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
    """Answered turns without a price."""
    days: list[Group] = field(default_factory=list[Group])
    """Every day, in order; those without runs too."""
    branches: list[Group] = field(default_factory=list[Group])
    agents: list[Group] = field(default_factory=list[Group])
    models: list[Group] = field(default_factory=list[Group])
    findings: list[FindingCount] = field(default_factory=list[FindingCount])
    worst: list[WorstRun] = field(default_factory=list[WorstRun])


_ONE = """
  count(distinct (recording, run)) as runs, count(*) as turns, sum(cost_usd) as cost,
  coalesce(sum(errors), 0)::bigint as errors, coalesce(sum(warnings), 0)::bigint as warnings,
  count(distinct (recording, run)) filter (verdict = 'fail') as failed
"""
_TURNS = """
create temp table shown as select recording, run, day, cost_usd, input, cache_read, status, verdict,
  coalesce(branch, '') as branch, coalesce(agent, service, client, '') as agent,
  coalesce(response_model, request_model, '') as model,
  len([f for f in findings if f.severity = 'error' and f.root]) as errors,
  len([f for f in findings if f.severity = 'warning' and f.root]) as warnings
from turns
"""
_FINDINGS = """
select id, layer, severity, count(*) as count, count(distinct (recording, run)) as runs from findings
where severity in ('error', 'warning') and root and thread is not null group by all
order by severity, runs desc, count desc, id limit $limit
"""
_WORST = """
select address, coalesce(run, '') as name, coalesce(branch, '') as branch,
  coalesce(agent, service, client, '') as agent, coalesce(task, job, '') as task, coalesce(verdict, '') as verdict,
  started_at, turns, cost_usd as cost, errors, warnings, recording, run
from runs order by errors desc, verdict = 'fail' desc nulls last, warnings desc, cost_usd desc nulls last, address
limit $limit
"""
_CLASSES = """
select recording, run, id, count(*) as count from findings where severity in ('error', 'warning') and root
  and recording in (select unnest($recordings))
group by recording, run, id, severity order by severity, count desc, id
"""


def overview(database: Database, store: str, first: date, last: date) -> Overview:
    """The figures of the recordings that `database` reads, which began from `first` to `last`. Raises StoreError."""
    database.ask(_TURNS)

    def rows(sql: str, **given: object) -> list[dict[str, Any]]:
        return database.ask(sql, given).to_pylist()

    def groups(column: str, order: str, limit: int) -> list[Group]:
        sql = f"select {column} as name, {_ONE} from shown group by {column} order by {order} limit $limit"
        return [_group(one) for one in rows(sql, limit=limit)]

    dearest = "cost desc nulls last, turns desc, name"
    sums = rows(
        f"select '' as name, {_ONE}, coalesce(sum(input), 0)::bigint as input, "
        "coalesce(sum(cache_read), 0)::bigint as cached, "
        "count(*) filter (cost_usd is null and status < 400) as unpriced from shown"
    )[0]
    tokens = {name: cast(int, sums.pop(name)) for name in ("input", "cached", "unpriced")}
    return Overview(
        store,
        first,
        last,
        Group(**sums),
        **tokens,
        days=_every_day(groups("day", "name", 100_000), first, last),
        branches=groups("branch", dearest, LISTED),
        agents=groups("agent", dearest, LISTED),
        models=groups("model", dearest, LISTED),
        findings=[FindingCount(**one) for one in rows(_FINDINGS, limit=LISTED)],
        worst=_worst(rows(_WORST, limit=WORST), rows),
    )


def _group(row: dict[str, Any]) -> Group:
    row["name"] = str(row["name"])
    return Group(**row)


def _worst(found: Sequence[dict[str, Any]], rows: Any) -> list[WorstRun]:
    recordings = [one["recording"] for one in found]
    classes: dict[tuple[object, object], list[str]] = {}
    for one in rows(_CLASSES, recordings=recordings) if recordings else ():
        classes.setdefault((one["recording"], one["run"]), []).append(one["id"])
    worst: list[WorstRun] = []
    for one in found:
        run = one.pop("recording"), one.pop("run")
        worst.append(WorstRun(**one, findings=tuple(classes.get(run, ())[:3])))
    return worst


def _every_day(found: Sequence[Group], first: date, last: date) -> list[Group]:
    known = {one.name: one for one in found}
    names = [(first + timedelta(days=k)).isoformat() for k in range((last - first).days + 1)]
    return [known.get(name) or Group(name, 0, 0, None, 0, 0, 0) for name in names]
