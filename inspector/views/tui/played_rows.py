"""Rows as they were while the run happened: a turn that is being answered has no finish, no result and no findings."""

from dataclasses import replace
from decimal import Decimal

from ...findings.finding import Layer
from ...run.row import Row
from ...run.rows import Rows
from ...run.totals import Totals, added_up, totals
from .headings import Summary, summarize

AT_ONCE: frozenset[Layer] = frozenset({"model", "api"})
"""Layers whose findings are known when the answer is complete; the others are known when the next turn begins."""


def played_row(row: Row, share: float) -> Row:
    """The turn when that share of its answer has arrived: the whole input is paid, and a part of the output."""
    if share >= 1:
        found = tuple(one for one in row.findings if one.layer in AT_ONCE)
        return replace(row, findings=found, outcome="open", results=0, failed_results=0, tool_runs=())
    output = row.usage.output
    usage = replace(row.usage, output=None if output is None else int(output * share))
    return replace(
        row,
        usage=usage,
        cost=_cost(row, share),
        emitted=None,
        calls=(),
        done=(),
        said="",
        finish=None,
        error=None,
        status=None,
        outcome=None,
        results=0,
        failed_results=0,
        findings=(),
        duration_ms=None,
        tool_runs=(),
    )


def _cost(row: Row, share: float) -> Decimal | None:
    parts = row.cost_parts
    if row.cost is None or parts is None:
        return None
    return row.cost - parts.output * (1 - Decimal(str(round(share, 4))))


class PlayedSummary:
    """The totals of a run up to a turn that is being played. What came before it is summed up once."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._before: tuple[int, Summary] | None = None

    def at(self, place: int, share: float) -> Summary:
        """The totals when that share of the turn's answer has arrived."""
        if self._before is None or self._before[0] != place:
            seen = Rows()
            seen.put(self._rows.all[:place])
            self._before = place, summarize(seen)
        before = self._before[1]
        whole = self._rows.all[place]
        row = played_row(whole, share)
        is_new = row.thread is not None and self._rows.threads[row.thread][0] == place
        wrong = any(one.severity in ("error", "warning") for one in row.findings)
        name = self._rows.name_of(place) if wrong else ""
        sums = _sum(before.totals, row, threads=int(is_new), unpriced=int(whole.unpriced))
        return Summary(sums, before.trouble or name)


def _sum(before: Totals, row: Row, *, threads: int, unpriced: int) -> Totals:
    """`threads`: how many begin with this row. `unpriced`: whether its cost will not be known either."""
    now = totals([row])
    known = [cost for cost in (before.cost, now.cost) if cost is not None]
    again = row.attempt > 1
    return replace(
        before,
        turns=before.turns + (not again),
        retries=before.retries + again,
        input=added_up((before.input, now.input)),
        cache_read=added_up((before.cache_read, now.cache_read)),
        output=added_up((before.output, now.output)),
        cost=sum(known, Decimal(0)) if known else None,
        errors=before.errors + now.errors,
        warnings=before.warnings + now.warnings,
        infos=before.infos + now.infos,
        unpriced=before.unpriced + unpriced,
        billed=before.billed + now.billed,
        threads=before.threads + threads,
        tool_runs=before.tool_runs + now.tool_runs,
        models=tuple(dict.fromkeys((*before.models, *now.models))),
    )
