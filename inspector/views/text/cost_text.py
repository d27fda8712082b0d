"""The cost of a run as text: a bar for each turn with its tokens by kind, then the sums by kind and by thread."""

from collections.abc import Iterator, Sequence
from typing import cast

from ...ledger.allocate import shared_out
from ...run.growth import KINDS, GrowthStep, Tokens, steps, summed
from ...run.rows import Rows
from ...run.totals import Totals, totals
from ..vocabulary.kinds import KIND_LOOKS
from .number_format import count, counted, percent, price, several, spent, turn_count
from .terminal_text import Line, Style, clip, fit, flow

MARKS: dict[str, tuple[str, Style]] = {kind.name: (kind.shade, cast(Style, kind.name)) for kind in KIND_LOOKS}
"""The character and style of each kind of token in a bar; the characters also work without colours."""


WIDE, MIDDLE, LEAST = 72, 56, 40
"""From `WIDE` cells on a turn has a bar and how full its window is, from `MIDDLE` on its tokens. No line is narrower
than `LEAST`."""


def cost_text(rows: Rows, title: str, *, thread: str | None = None, width: int = 100) -> Iterator[Line]:
    """The growth of a run, or of one thread, line by line."""
    width = max(LEAST, width)
    grown = [
        step
        for step in steps((p, row) for p, row in enumerate(rows.all) if thread is None or row.thread == thread)
        if step.row.is_turn
    ]
    sums = totals(row for row in rows.all if row.is_billed and thread in (None, row.thread))
    yield [(title, "bold")]
    yield from flow(_head(sums), width, "  ")
    if not grown:
        return
    yield []
    sums_by_kind = summed(grown)
    yield from flow(_legend(sums_by_kind), width, "")
    yield []
    threads = len({step.row.thread for step in grown}) > 1
    top = max((step.tokens.total for step in grown if step.tokens), default=0)
    yield fit(_heads(width), width)
    for step in grown:
        yield fit(_turn(step, top, threads, width), width)
    yield []
    yield from _kinds(sums_by_kind, width)
    if threads:
        yield []
        for name in dict.fromkeys(step.row.thread or "" for step in grown):
            mine = [step for step in grown if step.row.thread == name]
            yield from flow(_thread(name, mine), width, " " * 15)


def _head(sums: Totals) -> Line:
    missing = sums.unpriced and sums.cost is not None
    facts = [turn_count(sums.turns, sums.turns + sums.retries)]
    facts += [counted(sums.input, sums.output)] if sums.turns else []
    facts += [f"{several(sums.unpriced, 'request')} without a known price"] if missing else []
    if not sums.billed:
        return [(fact, "dim") for fact in facts]
    ends = [*(f"{fact} · " for fact in facts[:-1]), facts[-1]]
    return [(f"{spent(sums.cost, sums.unpriced)} · ", "money"), *((end, "dim") for end in ends)]


def _counted(tokens: Tokens) -> list[tuple[str, str]]:
    """The kinds that some turn has, with their names."""
    return [(name, label) for name, label in KINDS if getattr(tokens, name)]


def _legend(tokens: Tokens) -> Line:
    return [(f"{MARKS[name][0]} {label}  ", MARKS[name][1]) for name, label in _counted(tokens)]


def _bar_cells(width: int) -> int:
    return width - 63 if width >= WIDE else 0


def _heads(width: int) -> Line:
    """The names of the columns."""
    bar, tokens = " " * _bar_cells(width), f"{'tokens':>21}" if width >= MIDDLE else ""
    return [(f"{'turn':>8}  {bar}{tokens}{'cost':>11}{'so far':>11}{'  context' if bar else ''}", "dim")]


def _turn(step: GrowthStep, top: int, threads: bool, width: int) -> Line:
    row, tokens = step.row, step.tokens
    name = f"{row.thread}:{row.label}" if threads else row.label
    cells = _bar_cells(width)
    fill = percent(step.fill) if step.fill is not None else ""
    line: Line = [(f"{name:>8}  ", "bold")]
    if cells and tokens:
        line += _bar(tokens, top, cells)
    elif cells:
        line.append((clip("tokens unknown", cells).ljust(cells), "dim"))
    if width >= MIDDLE:
        line.append((f" {count(row.usage.input):>6} in {count(row.usage.output):>6} out", "plain"))
    line.append((f"{price(row.cost, unpriced=row.unpriced):>11}", "money" if row.cost is not None else "dim"))
    line.append((f"{spent(step.cumulative, step.unpriced):>11}", "dim"))
    return [*line, (f"  {fill}", "dim")] if cells else line


def _bar(tokens: Tokens, top: int, cells: int) -> list[tuple[str, Style]]:
    """The kinds as one stacked bar, as long as the turn's share of the largest turn; at least one cell if not empty."""
    amounts = [getattr(tokens, name) for name, _ in KINDS]
    length = max(1, round(tokens.total / top * cells)) if tokens.total else 0
    shares = shared_out(length, amounts)
    bar: list[tuple[str, Style]] = [
        (MARKS[name][0] * share, MARKS[name][1]) for (name, _), share in zip(KINDS, shares, strict=True) if share
    ]
    return [*bar, (" " * (cells - length), "plain")]


def _kinds(tokens: Tokens, width: int) -> Iterator[Line]:
    cells = min(40, width - 40) if width >= MIDDLE else 0
    whole = tokens.total or 1
    for name, label in _counted(tokens):
        amount = getattr(tokens, name)
        mark, style = MARKS[name]
        length = max(1, round(amount / whole * cells))
        bar = (mark * length).ljust(cells) if cells else ""
        yield fit(
            [(f"{label:>13}  ", "plain"), (bar, style), (f" {amount:>13,}  {percent(amount / whole):>5}", "plain")],
            width,
        )


def _thread(name: str, mine: Sequence[GrowthStep]) -> Line:
    sums = totals(step.row for step in mine)
    models = clip(", ".join(sums.models), 40)
    return [
        (f"{name:>13}  ", "bold"),
        (f"{spent(sums.cost, sums.unpriced):>10}", "money" if sums.cost is not None else "dim"),
        (f"  {several(sums.turns, 'turn')}, ", "plain"),
        (f"{counted(sums.input, sums.output)}  ", "plain"),
        (models, "dim"),
    ]
