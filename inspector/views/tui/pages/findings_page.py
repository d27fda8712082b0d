"""The page of findings: all of the run, errors first. Each leads to its evidence."""

from collections.abc import Iterator, Sequence

from ....findings.finding import Finding
from ....run.row import SEVEREST_FIRST
from ....run.rows import Rows
from ....wire.printable import safe
from ...text.number_format import price
from ...text.terminal_text import GLYPHS, width_of
from ...vocabulary.repeats import repeats
from ..formatting import SEVERITY, several
from .blocks import Block, Goto, Spans
from .evidence import evidence
from .page import Page
from .sections import gap, rule
from .text_lines import Prose, flowing, lines

SHOWN = 20
"""Problems of the file that are listed."""

type _Found = tuple[int, int, Finding]
"""The place of a row, the number of a finding in it, and the finding."""


def findings_page(rows: Rows, problems: Sequence[str] = ()) -> Page:
    """All findings: errors, warnings, the rest; findings of one severity in the order of the turns.

    Before them is what could not be read of the file.
    """
    damage = [*_damage(problems)]
    found: list[_Found] = [
        (place, n, mark) for place, row in enumerate(rows.all) for n, mark in enumerate(row.findings)
    ]
    if not found:
        none = "no problems were found" + (" in the rest of it" if damage else "")
        return Page("findings", [*damage, Block("none", (), flowing([("✓ ", "good"), (none, "plain")]))])
    rank = {severity: at for at, severity in enumerate(SEVEREST_FIRST)}
    found.sort(key=lambda one: (rank.get(one[2].severity, len(rank)), one[0]))
    blocks = [Block("head", _head(rows, found)), Block("gap:head", (), lines(()))]
    first = repeats(mark for *_, mark in found)
    names = ["" if at is None else rows.name_of(found[at][0]) for at in first]
    listed = (_block(rows, *one, name) for one, name in zip(found, names, strict=True))
    return Page("findings", [*damage, *blocks, *listed])


def _damage(problems: Sequence[str]) -> Iterator[Block]:
    """What could not be read of the file."""
    if problems:
        yield Block("damage", rule("the file is damaged", several(len(problems), "problem")), group=True)
        for number, problem in enumerate(problems[:SHOWN]):
            yield Block(f"damage:{number}", (), flowing([(safe(problem), "warn")]), indent=2, parent="damage")
        if len(problems) > SHOWN:
            more = f"… {len(problems) - SHOWN:,} more; `turntape show` lists all"
            yield Block("damage:rest", (), lines([(more, "dim")]), indent=2, parent="damage")
        yield gap("damage")


def _head(rows: Rows, found: list[_Found]) -> Spans:
    counts = {severity: sum(mark.severity == severity for *_, mark in found) for severity in SEVEREST_FIRST}
    words = (
        f"{number:,} info" if name == "info" else several(number, name) for name, number in counts.items() if number
    )
    text = " · ".join(words)
    trouble = rows.first_trouble()
    place = min(place for place, *_ in found) if trouble is None else trouble
    number = f" (#{rows.all[place].index})" if rows.all[place].is_turn else ""
    return [(text, "title"), (f"   first in {rows.name_of(place)}{number}", "dim")]


def _block(rows: Rows, place: int, number: int, mark: Finding, first: str) -> Block:
    """A finding; of one that repeats the words of the one at `first`, only where it is."""
    row = rows.all[place]
    glyph, look = SEVERITY.get(mark.severity, ("?", "dim"))
    spans: list[tuple[str, str]] = [
        (f"{glyph} ", look),
        (f"{GLYPHS.get(mark.layer, ' ')} {mark.layer} ", mark.layer),
        (mark.id, look),
        (f"  {rows.name_of(place)}", "dim"),
        (f"  {price(row.cost, unpriced=row.unpriced)}" if row.cost is not None else "", "money"),
    ]

    def title(width: int) -> Spans:
        # A cost that is cut would be another cost.
        return spans if sum(width_of(text) for text, _ in spans) <= width else spans[:-1]

    def body(width: int) -> list[Spans]:
        said = f"the same as in {first}" if first else mark.message
        out: list[Spans] = [list(line) for line in Prose(said, width)]
        if mark.fix and not first:
            out += [
                [("fix  " if not at else "     ", "good"), *line] for at, line in enumerate(Prose(mark.fix, width - 5))
            ]
        if mark.because_of:
            out.append([("because of ", "dim"), (", ".join(mark.because_of), "plain")])
        if mark.evidence:
            out += [
                [("see  " if not at else "     ", "dim"), *line]
                for at, line in enumerate(Prose(" · ".join(mark.evidence), width - 5, "accent"))
            ]
        return [*out, ()]

    leads = next((goto for place_ in mark.evidence if (goto := evidence(place_, rows))), None)
    goto = leads or Goto(place, f"finding:{number}")
    key = f"finding:{row.index}:{number}"
    return Block(key, title, body, goto=goto, indent=0, anchors=(f"{place}:{number}",))
