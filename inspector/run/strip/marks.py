"""The marks of a turn: what a bar cannot say."""

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from turntape.cassettes.frozen import frozen

from ...wire.printable import dollars
from ..row import Row

if TYPE_CHECKING:
    from ...ledger import TurnEntry

type MarkKind = Literal["error", "warning", "failed", "window", "miss", "compaction", "retry"]

MARK_KINDS: tuple[MarkKind, ...] = ("error", "warning", "failed", "window", "miss", "compaction", "retry")
"""The most important first: a folded bar has room for one."""

FULL = 0.9
"""From this share on the context window is nearly full."""
LEAST_MISS = Decimal("0.05")
"""From this share of the turn's cost on a cache miss has a mark: the last few tokens are paid again in most runs."""
_MISSES = frozenset(
    {"api-cache-drop", "client-cache-prefix-busted", "client-system-prompt-changed", "client-tools-changed"}
)
"""Findings that say that a cache was not read. With the severity info nothing was lost."""


@frozen
class Mark:
    """Something that happened in a turn."""

    kind: MarkKind
    text: str
    """What happened, in a sentence without a full stop."""


def marks_of(row: Row, fill: float | None, entry: "TurnEntry | None" = None) -> Iterator[Mark]:
    """The marks of a turn; `fill` is the share of the context window that it took.

    `entry` is its entry in the ledger, which knows every cache miss and its price. Without it, findings say which. A
    miss that no provider promised to avoid has no mark: a long run has one in most of its turns.
    """
    for found in row.findings:
        if found.severity == "error":
            yield Mark("error", found.message)
        elif found.severity == "warning":
            yield Mark("warning", found.message)
    if row.failed:
        yield Mark("failed", failure_words(row))
    if row.finish == "context_full" or (fill is not None and fill >= FULL):
        share = f"{fill:.0%} of the context window is used" if fill is not None else "the context window is full"
        yield Mark("window", share)
    yield from _misses(row, entry)
    if row.edge is not None and row.edge.kind == "compaction":
        yield Mark("compaction", "the history was compacted")
    if row.attempt > 1:
        yield Mark("retry", f"attempt {row.attempt} of turn {row.turn}")


def priced_miss(row: Row, entry: "TurnEntry | None") -> Mark | None:
    """The mark of a cache miss whose price is known and is more than a trifle beside what the turn cost."""
    miss = entry.cache.miss if entry is not None and entry.cache is not None else None
    if miss is None or not miss.price or (row.cost and miss.price < LEAST_MISS * row.cost):
        return None
    price = f"{dollars(miss.price)} more"
    return Mark("miss", f"{miss.tokens:,} tokens were paid again ({miss.cause}), {price}: {miss.message}")


def _misses(row: Row, entry: "TurnEntry | None") -> Iterator[Mark]:
    miss = entry.cache.miss if entry is not None and entry.cache is not None else None
    if miss is not None and miss.price:
        found = priced_miss(row, entry) if miss.is_promised else None
        yield from (found,) if found is not None else ()
        return
    for found in row.findings:
        if found.id in _MISSES and found.severity != "info":
            yield Mark("miss", found.message)


def failure_words(row: Row) -> str:
    """Why an attempt got no complete answer: the status and the error, or who closed first."""
    status = f"HTTP {row.status}" if row.status is not None and row.status >= 400 else ""
    return ": ".join(part for part in (status, row.error or "") if part) or (row.finish or "no answer")
