"""`turntape explain`: one class of finding in full, or all classes by layer, as lines for a terminal."""

from collections.abc import Iterable, Iterator

from ...findings.docs import GROUPS, LAYERS, TIERS, FailureClass, classes
from ...findings.finding import SEVERITIES, Severity
from ...wire.printable import safe
from .terminal_text import GLYPHS, Line, Style, fit, width_of, wrap

SEVERITY_GLYPHS: dict[Severity, tuple[str, Style]] = {
    "error": ("✗", "bad"),
    "warning": ("!", "warn"),
    "info": ("i", "dim"),
}
_LABEL = 12
"""Columns for the name of a field."""
_WIDE = 140
"""From this width on, the description of a class is on the same line as its id."""


def explained(one: FailureClass, width: int) -> Iterator[Line]:
    """One class in full."""
    rule = one.rule
    layer_style: Style = rule.layer
    yield [(one.id, "bold")]
    yield []
    yield from _paragraph(rule.says, "  ", width)
    yield []
    yield from _field("layer", f"{GLYPHS[rule.layer]} {rule.layer}: {LAYERS[rule.layer]}", width, layer_style)
    severities = " or ".join(one.severities)
    yield from _field("severity", severities + (", advice that blames no layer" if rule.advice else ""), width)
    yield from _field("tier", "; or ".join(f"{tier}, {TIERS[tier]}" for tier in one.tiers), width)
    yield from _field("protocols", ", ".join(one.protocols) or "all", width)
    if rule.aliases:
        yield from _field("former ids", ", ".join(rule.aliases), width)
    if one.switch:
        yield from _field("option", f"only with {one.switch}", width)
    if rule.not_when:
        yield from _field("not when", rule.exceptions, width)
    if one.example:
        yield []
        yield from _field("example", one.example.message, width)
        yield from _field("evidence", " · ".join(one.example.evidence), width, "dim")
    yield []
    yield from _field("fix", rule.fix, width, "good")


def overview(width: int, groups: Iterable[str] = GROUPS) -> Iterator[Line]:
    """All classes by layer, one line each."""
    chosen = [one for one in classes() if one.group in set(groups)]
    widest = max(len(one.id) for one in chosen)
    for place, group in enumerate(group for group in GROUPS if any(one.group == group for one in chosen)):
        if place:
            yield []
        yield from _group(group, [one for one in chosen if one.group == group], widest, width)
    yield []
    yield from _paragraph("P proven by the bytes · S strong inference · H heuristic, with --hints", "", width, "dim")
    yield [("turntape explain ID", "bold"), (" explains one of them", "dim")]


def _group(group: str, chosen: list[FailureClass], widest: int, width: int) -> Iterator[Line]:
    if chosen[0].rule.advice:
        yield fit([(group, "bold"), ("  what could be better; with --lint", "dim")], width)
    else:
        layer = chosen[0].rule.layer
        yield fit([(f"{GLYPHS[layer]} {layer}", layer), (f"  {LAYERS[layer]}", "dim")], width)
    for one in sorted(chosen, key=lambda one: -SEVERITIES.index(one.severities[0])):
        glyph, style = SEVERITY_GLYPHS[one.severities[0]]
        head: Line = [(f"  {glyph} ", style), (f"{one.id:<{widest}} ", "plain"), (f"{'/'.join(one.tiers):<4}", "dim")]
        if width >= _WIDE:
            yield fit([*head, (one.rule.says, "dim")], width)
            continue
        yield fit(head, width)
        yield from _paragraph(one.rule.says, "    ", width, "dim")


def _paragraph(text: str, indent: str, width: int, style: Style = "plain") -> Iterator[Line]:
    for line in wrap(safe(text), max(20, width - width_of(indent))):
        yield [(indent, "plain"), (line, style)]


def _field(name: str, text: str, width: int, style: Style = "plain") -> Iterator[Line]:
    first, *rest = wrap(safe(text), max(20, width - _LABEL - 2))
    yield [(f"  {name:<{_LABEL}}", "dim"), (first, style)]
    for line in rest:
        yield [(" " * (_LABEL + 2), "plain"), (line, style)]
