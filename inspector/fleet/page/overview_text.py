"""The overview as lines for a terminal."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import groupby

from ...views.fleet_figures import Group, Overview
from ...views.text.fleet_costs import bill, missing, named
from ...views.text.number_format import count, several, spent
from ...views.text.terminal_text import GLYPHS, Line, Span, clip, fit, plain, width_of

_BAR = "█▉▊▋▌▍▎▏"
_GAP = 4
"""So many days without runs, one after the other, are one line."""
UNKNOWN = "not known"


def overview_text(found: Overview, width: int) -> Iterator[Line]:
    """Lines of at most `width` cells, from 40; only addresses, which are copied, are not cut."""
    addresses = {run.address for run in found.worst}
    for line in _lines(found, width):
        yield line if line and line[-1][0] in addresses else fit(line, width)


def _lines(found: Overview, width: int) -> Iterator[Line]:
    whole = found.whole
    yield [("turntape fleet", "bold"), (f"  {clip(found.store, max(10, width - 40))}", "dim")]
    yield [(f"{found.first} to {found.last}", "dim")]
    sums: Line = [
        (several(whole.runs, "run"), "bold"),
        (f" · {several(whole.turns, 'turn')} · ", "plain"),
        (spent(whole.cost, whole.unpriced), "money"),
    ]
    with_tokens: Line = [*sums, (f" · {_cached(found)}", "plain")]
    if width_of(plain(with_tokens)) <= width:
        yield with_tokens
    else:
        yield sums
        yield [(_cached(found), "plain")]
    yield [*_marks(whole), *_failed(whole)]
    if words := missing(found):
        yield [(words, "warn")]
    yield []
    yield from _block("by day", found.days, width)
    yield from _block("by branch", found.branches, width)
    yield from _block("by agent", found.agents, width)
    yield from _block("by model", found.models, width)
    if found.findings:
        yield [("findings", "bold")]
        names = min(34, width - 24)
        for one in found.findings:
            style = "bad" if one.severity == "error" else "warn"
            sign: Span = (f"  {GLYPHS.get(one.layer, '·')} ", style)
            yield [
                sign,
                (f"{clip(one.id, names):{names}}", "plain"),
                (f"{one.count:>6}", style),
                (f"  in {several(one.runs, 'run')}", "dim"),
            ]
        yield []
    yield [("worst runs", "bold"), ("  turntape view ADDRESS opens one", "dim")]
    for run in found.worst:
        marks = f"{run.errors} ✗ {run.warnings} !"
        about = " · ".join(one for one in (run.branch, run.task, run.agent, run.verdict) if one)
        yield [
            (f"  {marks:>9}", "bad" if run.errors else "warn" if run.warnings else "dim"),
            (f"  {bill(run):>10}", "money"),
            (f"  {run.started_at:%m-%d %H:%M}", "dim"),
            (f"  {clip(about, max(8, width - 38))}", "plain"),
        ]
        if run.findings:
            yield [("             " + clip(", ".join(run.findings), max(20, width - 14)), "plain")]
        if run.without_price:
            yield [("             " + clip(named(run.without_price, "no known price: "), max(20, width - 14)), "warn")]
        yield [("             ", "plain"), (run.address, "dim")]


def _block(title: str, groups: Sequence[Group], width: int) -> Iterator[Line]:
    if not groups:
        return
    name = max(8, min(28, width - 45, max(width_of(one.name or UNKNOWN) for one in groups)))
    bar = max(0, min(30, width - name - 37))
    highest = max((one.cost or Decimal(0) for one in groups), default=Decimal(0))
    yield [(title, "bold")]
    for empty, row in groupby(groups, lambda one: not one.runs):
        same = list(row)
        if empty and len(same) >= _GAP:
            yield [(f"  · {len(same)} days without runs", "dim")]
            continue
        for one in same:
            shown = clip(one.name or UNKNOWN, name)
            yield [
                ("  " + shown + " " * (name - width_of(shown)), "plain" if one.name else "dim"),
                (f" {_bar(one.cost, highest, bar)}", "money"),
                (f" {bill(one):>10}", "money"),
                (f" {count(one.runs):>5}", "plain"),
                (" run " if one.runs == 1 else " runs", "dim"),
                *([("  ", "plain"), *_marks(one)] if one.errors or one.warnings else []),
            ]
    yield []


def _bar(cost: Decimal | None, highest: Decimal, cells: int) -> str:
    eighths = int(cells * 8 * (cost or 0) / highest) if highest else 0
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_BAR[8 - rest] if rest else "")).ljust(cells)


def _cached(found: Overview) -> str:
    share = f", {found.cached * 100 // found.input} % from the cache" if found.input else ""
    return f"{count(found.input)} input tokens{share}"


def _marks(one: Group) -> list[Span]:
    return [
        (f"{one.errors} ✗", "bad" if one.errors else "dim"),
        (" ", "plain"),
        (f"{one.warnings} !", "warn" if one.warnings else "dim"),
    ]


def _failed(one: Group) -> list[Span]:
    return [(f"  {several(one.failed, 'run')} failed", "bad")] if one.failed else []
