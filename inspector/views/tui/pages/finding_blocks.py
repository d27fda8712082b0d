"""Findings of a turn as blocks: what, why, where, and what to do."""

from collections.abc import Iterator, Sequence

from ....findings.finding import Finding
from ..formatting import SEVERITY
from .blocks import Block, Spans
from .text_lines import Prose


def finding_blocks(marks: Sequence[Finding]) -> Iterator[Block]:
    """One block for each finding, without a title."""
    for number, mark in enumerate(marks):
        yield Block(f"mark:{number}", (), _Finding(mark), anchors=(f"finding:{number}",))


class _Finding:
    """The lines of a finding: what, why, where, and what to do."""

    def __init__(self, mark: Finding) -> None:
        self._mark = mark

    def __call__(self, width: int) -> Sequence[Spans]:
        mark = self._mark
        glyph, look = SEVERITY.get(mark.severity, ("?", "dim"))
        out: list[Spans] = [[(f"{glyph} {mark.layer} · {mark.id}", look)]]
        out += [[("  ", "plain"), *line] for line in Prose(mark.message, width - 2)]
        if mark.fix:
            fix = Prose(mark.fix, width - 7)
            out += [[("       " if at else "  fix  ", "good"), *line] for at, line in enumerate(fix)]
        if mark.because_of:
            out.append([("  because of ", "dim"), (", ".join(mark.because_of), "plain")])
        if mark.evidence:
            see = Prose(" · ".join(mark.evidence), width - 7, "accent")
            out += [[("       " if at else "  see  ", "dim"), *line] for at, line in enumerate(see)]
        return out
