"""The lines of the fleet's screen: the totals, the days as bars, the groups and the runs."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from ...fleet_figures import By, FindingCount, Group, Overview, RunFigures
from ...text.fleet_costs import bill, highest_bill, missing, named
from ...text.number_format import spent
from ...text.terminal_text import GLYPHS, clip, clip_path, width_of
from ..formatting import bar, count, several
from ..pages.blocks import Spans

UNKNOWN = "not known"
ALL = "all runs"
STEPS = " ▁▂▃▄▅▆▇█"
"""A cell of an upright bar, by eighths."""
_SCALE = 9
"""Cells of the scale beside the days."""
_WIDEST = 8
"""Cells of a day at most."""
_BAR = 60
"""From this width on a group has a bar."""
_WIDEST_BAR = 40
_COUNTS = 18
"""Cells of the number of runs, errors and warnings."""


def heading(store: str, period: str, width: int) -> Spans:
    """The first line: the store on the left, the days on the right."""
    lead = " turntape fleet "
    room = width - width_of(lead) - width_of(period) - 4
    if room < 8:
        return [(lead, "title"), (clip(period, max(1, width - width_of(lead))), "dim")]
    shown = clip_path(store, room)
    gap = " " * (room - width_of(shown) + 1)
    return [(lead, "title"), (f" {shown}", "plain"), (gap, "plain"), (f" {period} ", "dim")]


def summary(found: Overview, width: int) -> Spans:
    """The totals; what has no room is left out."""
    whole = found.whole
    if not whole.runs:
        return [(" no runs in these days", "warn"), ("; `turntape ship` puts some there, r reads again", "dim")]
    parts: list[list[tuple[str, str]]] = [
        [(f" {whole.runs:,} {'run' if whole.runs == 1 else 'runs'}", "bold")],
        [(spent(whole.cost, whole.unpriced), "money")],
        [_marks(whole.errors, "✗", "bad"), (" ", "plain"), _marks(whole.warnings, "!", "warn")],
    ]
    parts += [[(f"{several(whole.failed, 'run')} failed", "bad")]] if whole.failed else []
    parts += [[(words, "warn")]] if (words := _missing(found, width - 40)) else []
    parts += [[(several(whole.turns, "turn"), "plain")]]
    share = f", {found.cached * 100 // found.input} % from the cache" if found.input else ""
    parts += [[(f"{count(found.input)} input tokens{share}", "plain")]]
    shown: list[tuple[str, str]] = []
    for part in parts:
        more = [*([(" · ", "dim")] if shown else []), *part]
        if _width(shown) + _width(more) <= width:
            shown += more
    return shown


def _missing(found: Overview, width: int) -> str:
    """What has no known price; without the names where these have no room."""
    named, count = missing(found), missing(replace(found, without_price=[]))
    return named if width_of(named) <= width else count


def _width(spans: Sequence[tuple[str, str]]) -> int:
    return sum(width_of(text) for text, _ in spans)


def _marks(number: int, sign: str, look: str) -> tuple[str, str]:
    return (f"{count(number)} {sign}", look if number else "dim")


def strip_lines(days: Sequence[Group], width: int, height: int, chosen: str = "") -> list[Spans]:
    """The days as upright bars, with their errors and names below; `height` lines, from 3.

    The bars are dollars, or runs where no price is known. Of more days than fit, the newest are shown.
    """
    room = max(1, width - _SCALE)
    shown = days[-room:]
    if not shown:
        return [()] * height
    cells = max(1, min(_WIDEST, room // len(shown)))
    by_cost = any(one.cost for one in shown)
    values = [(one.cost or Decimal(0)) if by_cost else Decimal(one.runs) for one in shown]
    highest = max(values)
    top = highest_bill(shown) if by_cost else several(int(highest), "run")
    lines: list[Spans] = []
    for row in range(height - 2, 0, -1):
        scale = f"{clip(top, _SCALE - 1):>{_SCALE - 1}} " if row == height - 2 else " " * _SCALE
        line: list[tuple[str, str]] = [(scale, "dim")]
        for one, value in zip(shown, values, strict=True):
            eighths = _eighths(value, highest, 8 * (height - 2)) - 8 * (row - 1)
            step = STEPS[max(0, min(8, eighths))]
            line.append(((step * max(1, cells - 1)).ljust(cells), "accent" if one.name == chosen else "money"))
        lines.append(line)
    lines.append([(f"{'errors':>{_SCALE - 1}} ", "dim"), *(_errors(one, cells) for one in shown)])
    lines.append([(" " * _SCALE, "dim"), *_names(shown, cells, chosen)])
    return lines


def _eighths(value: Decimal, highest: Decimal, most: int) -> int:
    return max(1, int(most * value / highest)) if highest and value else 0


def _errors(one: Group, cells: int) -> tuple[str, str]:
    text = count(one.errors) if one.errors else ""
    return ((text if width_of(text) < cells or cells == len(text) == 1 else "✗").ljust(cells), "bad")


def _names(shown: Sequence[Group], cells: int, chosen: str) -> Spans:
    if cells >= 3:
        long = cells >= 6
        names = [(one.name[5:] if long else one.name[8:]).ljust(cells) for one in shown]
        return [
            (name, "bold" if one.name == chosen else "dim" if one.runs else "faint")
            for name, one in zip(names, shown, strict=True)
        ]
    first, last = shown[0].name[5:], shown[-1].name[5:]
    if len(shown) * cells < 11:
        return [(last, "dim")]
    return [(first + last.rjust(len(shown) * cells - len(first)), "dim")]


def group_heads(by: By, width: int, longest: int) -> Spans:
    """The names of the columns of the groups; the longest name of a group has so many cells."""
    if by == "finding":
        return [(f" {'finding':<{max(8, width - 13)}}", "dim"), ("times   runs", "dim")]
    name, bars = _columns(width, longest)
    return [(f" {by:<{name + bars}}{'cost':>10}{'runs':>7}{'✗':>5}{'!':>6}", "dim")]


def _columns(width: int, longest: int) -> tuple[int, int]:
    """Cells of the name, with the gap behind it, and of the bar."""
    left = max(8, width - 1 - 10 - _COUNTS)
    if width < _BAR:
        return left, 0
    name = min(max(12, longest + 2), left * 2 // 3)
    bars = min(_WIDEST_BAR, left - name)
    return left - bars, bars


def group_line(one: Group, highest: Decimal, longest: int, width: int, look: str = "plain") -> Spans:
    """A group; `highest` is the cost of the dearest one, `longest` the cells of the longest name."""
    name, bars = _columns(width, longest)
    shown = clip(one.name or UNKNOWN, name - 1)
    part = bar(float(one.cost / highest), bars) if bars and one.cost and highest else " " * bars
    faint = "faint" if not one.runs else look if one.name else "dim"
    return [
        (f" {shown}{' ' * (name - width_of(shown))}", faint),
        (part, "gauge"),
        (f"{bill(one):>10}", "money" if one.cost else "dim"),
        (f"{count(one.runs):>7}", "plain" if one.runs else "faint"),
        (f"{count(one.errors) if one.errors else '·':>5}", "bad" if one.errors else "faint"),
        (f"{count(one.warnings) if one.warnings else '·':>6}", "warn" if one.warnings else "faint"),
    ]


def finding_line(one: FindingCount, width: int) -> Spans:
    """A class of findings, with the sign of the layer to blame."""
    look = "bad" if one.severity == "error" else "warn"
    room = max(8, width - 17)
    shown = clip(one.id, room)
    return [
        (f" {GLYPHS.get(one.layer, '·')} ", one.layer if one.layer in GLYPHS else "dim"),
        (f"{shown}{' ' * (room - width_of(shown))}", "plain"),
        (f"{count(one.count):>7}", look),
        (f"{count(one.runs):>7}", "plain"),
    ]


def run_heads(width: int, what: str) -> Spans:
    """The names of the columns of the runs."""
    turns, began = _room(width)
    head = f" {'✗':>4} {'!':>4} {'cost':>10} "
    head += f"{'turns':>6} " if turns else ""
    head += f"{'began (UTC)':<12}" if began else ""
    return [(head, "dim"), (clip(what, max(8, width - width_of(head))), "dim")]


def _room(width: int) -> tuple[bool, bool]:
    """Whether there is room for the turns, and for the time."""
    return width >= 48, width >= 64


def run_line(one: RunFigures, width: int) -> Spans:
    """A run: its findings, cost, turns and time, then what it was."""
    turns, began = _room(width)
    spans: list[tuple[str, str]] = [
        (f" {count(one.errors) if one.errors else '·':>4}", "bad" if one.errors else "faint"),
        (f" {count(one.warnings) if one.warnings else '·':>4}", "warn" if one.warnings else "faint"),
        (f" {bill(one):>10} ", "money" if one.cost else "dim"),
    ]
    spans += [(f"{count(one.turns):>6} ", "plain")] if turns else []
    spans += [(f"{one.started_at:%m-%d %H:%M} ", "dim")] if began else []
    verdict = [(f"{clip(one.verdict, 12)} ", "bad" if one.verdict == "fail" else "dim")] if one.verdict else []
    about = " · ".join(clip(text, 60) for text in (one.branch, one.task, one.name, one.agent) if text)
    spans += [*verdict, (about or one.address.rpartition("#")[2][:12], "plain")]
    spans += [(f"  {', '.join(one.findings)}", "dim")] if one.findings else []
    return [*spans, (f"  {named(one.without_price, 'no known price: ')}", "warn")] if one.without_price else spans
