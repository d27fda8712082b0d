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
    input: int | None
    cache_read: int | None
    output: int | None
    """Tokens; None when no turn counts them."""
    cost: Decimal | None
    """Of the turns, and of other requests that have a price; None when nothing has."""
    unpriced: int
    """Requests without a known price; if there are any, the real cost is higher than `cost`."""
    errors: int
    warnings: int
    infos: int
    seconds: float
    models: tuple[str, ...]
    billed: int = 0
    """Requests that are in the bill: the turns with all their attempts, and others that cost something."""


def added_up(counts: Iterable[int | None]) -> int | None:
    """The sum of the counts that are known; None when none is."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def totals(rows: Iterable[Row]) -> Totals:
    """The sums of these rows."""
    rows = list(rows)
    turns = [row for row in rows if row.is_turn]
    priced = [row.cost for row in rows if row.cost is not None]
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
        input=added_up(row.usage.input for row in turns),
        cache_read=added_up(row.usage.cache_read for row in turns),
        output=added_up(row.usage.output for row in turns),
        cost=sum(priced, Decimal(0)) if priced else None,
        unpriced=sum(row.unpriced for row in rows),
        errors=severities["error"],
        warnings=severities["warning"],
        infos=severities["info"],
        seconds=max(ends) - min(row.started_at for row in rows) if rows else 0.0,
        models=tuple(models),
        billed=sum(row.is_billed for row in rows),
    )
