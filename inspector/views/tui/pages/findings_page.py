"""The page of findings: all of the run, the gravest first, each leading to its evidence."""

from ....findings.finding import Finding
from ....run.row import SEVEREST_FIRST
from ....run.rows import Rows
from ...text.terminal_text import GLYPHS, clip
from ..formatting import SEVERITY, dollars, several
from .page import Block, Goto, Page, Prose, Spans, lines
from .turn_page import evidence


def findings_page(rows: Rows) -> Page:
    """All findings in order: errors, warnings, the rest; within these as they happened."""
    found = [(place, number, mark) for place, row in enumerate(rows.all) for number, mark in enumerate(row.findings)]
    rank = {severity: at for at, severity in enumerate(SEVEREST_FIRST)}
    found.sort(key=lambda one: (rank.get(one[2].severity, 9), one[0]))
    if not found:
        return Page("findings", [Block("none", (), lines([("✓ ", "good"), ("nothing was found wrong", "plain")]))])
    counted = [(severity, sum(mark.severity == severity for *_, mark in found)) for severity in SEVEREST_FIRST]
    told = " · ".join(several(count, name if name != "info" else "note") for name, count in counted if count)
    first = min(place for place, *_ in found)
    head: Spans = [(told, "title"), (f"   first in turn {rows.all[first].turn} (#{rows.all[first].index})", "dim")]
    blocks = [Block("head", head), Block("gap:head", (), lines(()))]
    for place, number, mark in found:
        blocks.append(_block(rows, place, number, mark))
    return Page("findings", blocks)


def _block(rows: Rows, place: int, number: int, mark: Finding) -> Block:
    row = rows.all[place]
    glyph, look = SEVERITY.get(mark.severity, ("?", "dim"))
    where = f"turn {row.turn} of {row.thread}" if row.is_turn else f"#{row.index}"
    title: Spans = [
        (f"{glyph} ", look),
        (f"{GLYPHS.get(mark.layer, ' ')} {mark.layer} ", mark.layer),
        (mark.id, look),
        (f"  {where}", "dim"),
        (f"  {dollars(row.cost)}" if row.cost is not None else "", "money"),
    ]

    def body(width: int) -> list[Spans]:
        out: list[Spans] = [list(line) for line in Prose(mark.message, width)]
        if mark.fix:
            out += [
                [("fix  " if not at else "     ", "good"), *line] for at, line in enumerate(Prose(mark.fix, width - 5))
            ]
        if mark.because_of:
            out.append([("because of ", "dim"), (", ".join(mark.because_of), "plain")])
        if mark.evidence:
            out.append([("see  ", "dim"), (clip(" · ".join(mark.evidence), width - 5), "accent")])
        return [*out, ()]

    leads = next((goto for place_ in mark.evidence if (goto := evidence(place_, rows))), None)
    goto = leads or Goto(place, f"finding:{number}")
    key = f"finding:{row.index}:{number}"
    return Block(key, title, body, goto=goto, indent=0, anchors=(f"{place}:{number}",))
