"""The figures of the last days: cost and findings by day, branch, agent and model, and the worst runs."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any, cast

from ...views.fleet_figures import By, FindingCount, Group, Order, Overview, RunFigures, SomeRuns
from ..asking.database import Database
from ..asking.views import IS_UNPRICED

LISTED = 8
"""Branches, agents, models and findings that an overview lists by name."""
WORST = 15

_ONE = """
  count(distinct (recording, run)) as runs, count(distinct (recording, run, thread, turn)) as turns,
  sum(cost_usd) as cost, count(*) filter (unpriced) as unpriced,
  coalesce(sum(errors), 0)::bigint as errors, coalesce(sum(warnings), 0)::bigint as warnings,
  count(distinct (recording, run)) filter (verdict = 'fail') as failed
"""
_TURNS = f"""
create temp table shown_turns as select recording, coalesce(run, '') as run, thread, turn, day, cost_usd, input,
  cache_read, {IS_UNPRICED} as unpriced, coalesce(unpriced_fees, []) as fees,
  verdict, coalesce(branch, '') as branch, coalesce(agent, service, client, '') as agent,
  coalesce(response_model, request_model, '') as model,
  len([f for f in findings if f.severity = 'error' and f.root]) as errors,
  len([f for f in findings if f.severity = 'warning' and f.root]) as warnings
from turns
"""
_FINDINGS = """
create temp table shown_findings as select recording, coalesce(run, '') as run, id, layer, severity
from findings where severity in ('error', 'warning') and root and thread is not null
"""
_WITHOUT_PRICE = """
create temp table shown_without_price as
select recording, run, unnest(case when cost_usd is null then [model] else fees end) as name
from shown_turns where unpriced
"""
_RUNS = """
create temp table shown_runs as select address, recording, coalesce(run, '') as run, coalesce(branch, '') as branch,
  coalesce(agent, service, client, '') as agent, coalesce(task, job, '') as task, coalesce(verdict, '') as verdict,
  started_at, turns, cost_usd as cost, unpriced, errors, warnings
from runs
"""
_COUNTS = """
select id, layer, severity, count(*) as count, count(distinct (recording, run)) as runs from shown_findings
group by all order by severity, runs desc, count desc, id limit $limit
"""
_MISSING = """
select name from shown_without_price group by name order by count(*) desc, name limit $limit
"""
_MISSING_OF_RUNS = """
select recording, run, name from shown_without_price
where recording in (select unnest($recordings)) group by recording, run, name order by count(*) desc, name
"""
_CLASSES = """
select recording, run, id, count(*) as count from shown_findings
where recording in (select unnest($recordings)) group by recording, run, id, severity order by severity, count desc, id
"""
_ORDERS: Mapping[Order, str] = {
    "worst": "errors desc, verdict = 'fail' desc nulls last, warnings desc, cost desc nulls last, address",
    "dearest": "cost desc nulls last, turns desc, address",
    "newest": "started_at desc, address",
}
_OF: Mapping[By, str] = {
    "branch": "shown_turns where branch = $name",
    "agent": "shown_turns where agent = $name",
    "model": "shown_turns where model = $name",
    "day": "shown_turns where day = $name::date",
    "finding": "shown_findings where id = $name",
}


class Figures:
    """The figures of the recordings that a database reads. Each method raises StoreError."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # Together: when one is asked again, all are made again.
        database.ask(";".join((_TURNS, _WITHOUT_PRICE, _FINDINGS, _RUNS)))

    def _rows(self, sql: str, **given: object) -> list[dict[str, Any]]:
        return self._database.ask(sql, given).to_pylist()

    def overview(self, store: str, first: date, last: date) -> Overview:
        """What the recordings that began from `first` to `last` come to."""
        sums = self._rows(
            f"select '' as name, {_ONE}, coalesce(sum(input), 0)::bigint as input, "
            "coalesce(sum(cache_read), 0)::bigint as cached from shown_turns"
        )[0]
        tokens = {name: cast(int, sums.pop(name)) for name in ("input", "cached")}
        whole = Group(**sums)
        return Overview(
            store,
            first,
            last,
            whole,
            **tokens,
            unpriced=whole.unpriced,
            without_price=[one["name"] for one in self._rows(_MISSING, limit=LISTED)],
            days=_every_day(self.groups("day", 100_000), first, last),
            branches=self.groups("branch", LISTED),
            agents=self.groups("agent", LISTED),
            models=self.groups("model", LISTED),
            findings=self.findings(LISTED),
            worst=list(self.runs(None, "", "worst", WORST).listed),
        )

    def groups(self, by: By, limit: int) -> list[Group]:
        """The groups, the dearest first; days in order."""
        order = "name" if by == "day" else "cost desc nulls last, turns desc, name"
        sql = f"select {by} as name, {_ONE} from shown_turns group by {by} order by {order} limit $limit"
        return [_group(one) for one in self._rows(sql, limit=limit)]

    def findings(self, limit: int) -> list[FindingCount]:
        """The classes of findings above info that follow from no other, errors first."""
        return [FindingCount(**one) for one in self._rows(_COUNTS, limit=limit)]

    def runs(self, by: By | None, name: str, order: Order, limit: int) -> SomeRuns:
        """The runs of a group, or with None all runs."""
        these = "" if by is None else f"where (recording, run) in (select (recording, run) from {_OF[by]})"
        given = {} if by is None else {"name": name}
        count = self._rows(f"select count(*) as count from shown_runs {these}", **given)[0]["count"]
        sql = f"select * from shown_runs {these} order by {_ORDERS[order]} limit $limit"
        return SomeRuns(count, self._with_findings(self._rows(sql, **given, limit=limit)))

    def _with_findings(self, found: Sequence[dict[str, Any]]) -> list[RunFigures]:
        classes = self._named(_CLASSES, "id", [one for one in found if one["errors"] or one["warnings"]])
        missing = self._named(_MISSING_OF_RUNS, "name", [one for one in found if one["unpriced"]])
        runs: list[RunFigures] = []
        for one in found:
            recording, name = one.pop("recording"), one.pop("run")
            which, without = classes.get((recording, name), ())[:3], missing.get((recording, name), ())[:3]
            runs.append(RunFigures(**one, name=name, findings=tuple(which), without_price=tuple(without)))
        return runs

    def _named(self, sql: str, column: str, of: Sequence[dict[str, Any]]) -> dict[tuple[str, str], list[str]]:
        """What a question about these runs lists for each of them, by recording and run."""
        names: dict[tuple[str, str], list[str]] = {}
        recordings = [one["recording"] for one in of]
        for one in self._rows(sql, recordings=recordings) if recordings else ():
            names.setdefault((one["recording"], one["run"]), []).append(one[column])
        return names


def _group(row: dict[str, Any]) -> Group:
    row["name"] = str(row["name"])
    return Group(**row)


def overview(database: Database, store: str, first: date, last: date) -> Overview:
    """The figures of the recordings that `database` reads, which began from `first` to `last`. Raises StoreError."""
    return Figures(database).overview(store, first, last)


def _every_day(found: Sequence[Group], first: date, last: date) -> list[Group]:
    """All days, also those after `last`, on which runs began by a clock that is ahead: the totals have them too."""
    known = {one.name: one for one in found}
    names = {(first + timedelta(days=k)).isoformat() for k in range((last - first).days + 1)}
    return [known.get(name) or Group(name, 0, 0, None, 0, 0, 0) for name in sorted(names | known.keys())]
