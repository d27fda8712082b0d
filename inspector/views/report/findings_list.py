"""Findings: the layer to blame, what is wrong, the evidence, and what to do."""

from collections.abc import Iterator

from turntape.cassettes.whole_number import whole_number

from ...findings.finding import Finding
from ...run.row import SEVEREST_FIRST
from ...run.rows import Rows
from ..text.status_styles import SEVERITY
from ..text.terminal_text import GLYPHS
from ..vocabulary.repeats import repeats
from .markup import Html, link, span, tag


def findings(rows: Rows) -> Iterator[Html]:
    """All findings of a run: errors, warnings, the rest; those of one severity in the order of the turns."""
    found = [(place, mark) for place, row in enumerate(rows.all) for mark in row.findings]
    rank = {severity: at for at, severity in enumerate(SEVEREST_FIRST)}
    found.sort(key=lambda one: rank.get(one[1].severity, len(rank)))
    for (place, mark), first in zip(found, repeats(mark for _, mark in found), strict=True):
        same = None if first is None else found[first][0]
        yield tag("li", finding(mark, rows, place, same), data_severity=mark.severity)


def finding(mark: Finding, rows: Rows, place: int | None = None, same: int | None = None) -> Html:
    """One finding; with `place` it names its turn, and links to it. At `same` another one has the same words."""
    glyph, look = SEVERITY.get(mark.severity, ("?", "dim"))
    head = [
        tag("span", glyph, class_=f"mark {look}", title=mark.severity),
        tag("span", f"{GLYPHS.get(mark.layer, '')} {mark.layer}", class_=f"layer {mark.layer}"),
        span("id", mark.id),
    ]
    if place is not None:
        head.append(link(place, name_of(rows, place), look="where"))
    said = [mark.message] if same is None else ["the same as in ", link(same, name_of(rows, same))]
    parts = [tag("div", *head, class_="head"), tag("p", *said)]
    if mark.fix and same is None:
        parts.append(tag("p", span("good", "fix "), mark.fix, class_="fix"))
    if mark.evidence:
        parts.append(tag("p", span("dim", "see "), *_places(mark, rows), class_="evidence"))
    return tag("div", *parts, class_=f"finding {mark.severity}")


def name_of(rows: Rows, place: int) -> str:
    """A turn or another round trip, as a report calls it."""
    return rows.name_of(place) if rows.all[place].is_turn else f"round trip #{rows.all[place].index}"


def _places(mark: Finding, rows: Rows) -> Iterator[Html]:
    for at, piece in enumerate(mark.evidence):
        if at:
            yield span("dim", " · ")
        number = whole_number(piece.partition(" ")[0].removeprefix("#").partition(".")[0].rstrip(":,"))
        place = rows.by_index.get(number) if number is not None and piece.startswith("#") else None
        yield link(place, piece) if place is not None else span("dim", piece)
