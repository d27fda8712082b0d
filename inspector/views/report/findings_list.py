"""Findings: the layer to blame, what is wrong, the evidence, and what to do."""

from collections.abc import Iterator

from ...findings.finding import Finding
from ...run.row import SEVEREST_FIRST
from ...run.rows import Rows
from ..text.status_styles import SEVERITY
from ..text.terminal_text import GLYPHS
from .markup import Html, link, span, tag


def findings(rows: Rows) -> Iterator[Html]:
    """All findings of a run: errors, warnings, the rest; those of one severity in the order of the turns."""
    found = [(place, mark) for place, row in enumerate(rows.all) for mark in row.findings]
    rank = {severity: at for at, severity in enumerate(SEVEREST_FIRST)}
    for place, mark in sorted(found, key=lambda one: rank.get(one[1].severity, len(rank))):
        yield tag("li", finding(mark, rows, place), data_severity=mark.severity)


def finding(mark: Finding, rows: Rows, place: int | None = None) -> Html:
    """One finding; with `place` it names its turn, and links to it."""
    glyph, look = SEVERITY.get(mark.severity, ("?", "dim"))
    head = [
        tag("span", glyph, class_=f"mark {look}", title=mark.severity),
        tag("span", f"{GLYPHS.get(mark.layer, '')} {mark.layer}", class_=f"layer {mark.layer}"),
        span("id", mark.id),
    ]
    if place is not None:
        row = rows.all[place]
        where = f"turn {row.turn} of {row.thread}" if row.is_turn else f"round trip #{row.index}"
        head.append(link(place, where, look="where"))
    parts = [tag("div", *head, class_="head"), tag("p", mark.message)]
    if mark.fix:
        parts.append(tag("p", span("good", "fix "), mark.fix, class_="fix"))
    if mark.evidence:
        parts.append(tag("p", span("dim", "see "), *_places(mark, rows), class_="evidence"))
    return tag("div", *parts, class_=f"finding {mark.severity}")


def _places(mark: Finding, rows: Rows) -> Iterator[Html]:
    for at, piece in enumerate(mark.evidence):
        if at:
            yield span("dim", " · ")
        number = piece.partition(" ")[0].removeprefix("#").partition(".")[0].rstrip(":,")
        place = rows.by_index.get(int(number)) if number.isdecimal() and piece.startswith("#") else None
        yield link(place, piece) if place is not None else span("dim", piece)
