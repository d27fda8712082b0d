"""A run, or a thread, summed up."""

from collections import Counter
from collections.abc import Iterable
from decimal import Decimal

from turntape.cassettes.frozen import frozen

from .row import Row


@frozen
class Totals:
    """A run, or a thread, summed up."""

    turns: int
    """The attempts of one turn count once."""
    retries: int
    """Attempts beyond the first of each turn."""
    others: int
    """Round trips that are neither turns nor messages of tool servers."""
    tool_runs: int
    tool_messages: int
    """Round trips between the client and tool servers."""
    threads: int
    input: int
    cache_read: int
    output: int
    cost: Decimal | None
    """None when no turn has a price."""
    unpriced: int
    """Turns without a known price; if there are any, the real cost is higher than `cost`."""
    errors: int
    warnings: int
    seconds: float
    models: tuple[str, ...]


def totals(rows: Iterable[Row]) -> Totals:
    """The sums of these rows."""
    rows = list(rows)
    turns = [row for row in rows if row.is_turn]
    priced = [row.cost for row in turns if row.cost is not None]
    # A refused request has no tokens, so a missing price is not a gap.
    unpriced = sum(row.cost is None and (row.error is None or row.usage.input is not None) for row in turns)
    severities = Counter(found.severity for row in rows for found in row.findings)
    ends = [row.started_at + (row.duration_ms or 0) / 1000 for row in rows]
    models = dict.fromkeys(row.model for row in turns if row.model)
    distinct = len({(row.thread, row.turn) for row in turns})
    return Totals(
        turns=distinct,
        retries=len(turns) - distinct,
        others=sum(not row.is_turn and not row.is_tool_wire for row in rows),
        tool_runs=sum(len(row.tool_runs) for row in rows),
        tool_messages=sum(row.is_tool_wire for row in rows),
        threads=len({row.thread for row in turns}),
        input=sum(row.usage.input or 0 for row in turns),
        cache_read=sum(row.usage.cache_read or 0 for row in turns),
        output=sum(row.usage.output or 0 for row in turns),
        cost=sum(priced, Decimal(0)) if priced else None,
        unpriced=unpriced,
        errors=severities["error"],
        warnings=severities["warning"],
        seconds=max(ends) - min(row.started_at for row in rows) if rows else 0.0,
        models=tuple(models),
    )
