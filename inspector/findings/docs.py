"""The classes of failure as a person looks them up: what one means, how sure it is, what it looks like, how to mend it.

Everything is read from the table of rules; a class that is asked at several moments is one class.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache

from ..views.text.terminal_text import GLYPHS, Line, Style, fit, width_of, wrap
from ..wire.printable import safe
from .examples import EXAMPLES, Example
from .finding import SEVERITIES, Layer, Rule, Severity, Tier
from .rules import ADVICE, ALL, HINTS

LAYERS: dict[Layer, str] = {
    "model": "what was emitted",
    "api": "how the answer was labelled, cut, filtered or carried",
    "client": "what was sent: history, results, ids, tools, the loop",
}
TIERS: dict[Tier, str] = {
    "P": "proven by the bytes",
    "S": "strong inference: one benign reading is left",
    "H": "heuristic: a threshold or a pattern of words",
}
GLYPH: dict[Severity, tuple[str, Style]] = {"error": ("✗", "bad"), "warning": ("!", "warn"), "info": ("i", "dim")}
_ASIDE = 12
_WIDE = 140
"""In so many columns the sentence of a class stands beside its id."""


@dataclass(frozen=True, slots=True)
class FailureClass:
    """One class, whatever number of rules finds it."""

    rule: Rule
    """The first of its rules, which holds the words."""
    tiers: tuple[Tier, ...]
    severities: tuple[Severity, ...]
    """Gravest first."""
    switch: str | None
    """What turns it on: `--hints`, `--lint`, or None when it is always on."""

    @property
    def id(self) -> str:
        return self.rule.id

    @property
    def group(self) -> str:
        """Where it is listed: its layer, or `advice`."""
        return "advice" if self.rule.advice else self.rule.layer

    @property
    def example(self) -> Example | None:
        return EXAMPLES.get(self.id)

    def as_json(self) -> dict[str, object]:
        """The class for a script."""
        return {
            "id": self.id,
            "layer": self.rule.layer,
            "severities": list(self.severities),
            "tiers": list(self.tiers),
            "says": self.rule.says,
            "fix": self.rule.fix,
            "not_when": self.rule.not_when or None,
            "protocols": list(self.rule.protocols) or None,
            "advice": self.rule.advice,
            "switch": self.switch,
            "example": None
            if self.example is None
            else {"message": self.example.message, "evidence": list(self.example.evidence)},
        }


GROUPS: tuple[str, ...] = ("model", "api", "client", "advice")
_TIER_ORDER: tuple[Tier, ...] = ("P", "S", "H")


@cache
def classes() -> tuple[FailureClass, ...]:
    """Every class once, in the order of the table."""
    by_id: dict[str, list[Rule]] = {}
    for rule in ALL:
        by_id.setdefault(rule.id, []).append(rule)
    return tuple(_joined(rules) for rules in by_id.values())


def _joined(rules: list[Rule]) -> FailureClass:
    first = rules[0]
    switch = "--lint" if first in ADVICE else "--hints" if all(rule in HINTS for rule in rules) else None
    return FailureClass(
        first,
        tuple(tier for tier in _TIER_ORDER if any(rule.tier == tier for rule in rules)),
        tuple(s for s in reversed(SEVERITIES) if any(rule.severity == s for rule in rules)),
        switch,
    )


def class_of(name: str) -> FailureClass | None:
    """The class of that id."""
    return next((one for one in classes() if one.id == name), None)


def unknown(name: str) -> str:
    """One sentence for an id that no class has, with the nearest."""
    names = [one.id for one in classes()]
    near = get_close_matches(name.lower(), names, n=1, cutoff=0.4) or [n for n in names if name.lower() in n][:1]
    tip = f"the nearest is {near[0]!r}; " if near else ""
    return f"no class of finding is called {name!r}; {tip}`turntape explain` lists all {len(names)}"


def explained(one: FailureClass, width: int) -> Iterator[Line]:
    """A class, whole."""
    rule = one.rule
    layer_style: Style = rule.layer
    yield [(one.id, "bold")]
    yield []
    yield from _paragraph(rule.says, "  ", width)
    yield []
    yield from _aside("layer", f"{GLYPHS[rule.layer]} {rule.layer}: {LAYERS[rule.layer]}", width, layer_style)
    severities = " or ".join(one.severities)
    yield from _aside("severity", severities + (", as advice that blames nobody" if rule.advice else ""), width)
    yield from _aside("tier", "; or ".join(f"{tier}, {TIERS[tier]}" for tier in one.tiers), width)
    yield from _aside("protocols", ", ".join(rule.protocols) or "all", width)
    if one.switch:
        yield from _aside("asked for", f"only with {one.switch}", width)
    if rule.not_when:
        yield from _aside("not when", rule.not_when, width)
    if one.example:
        yield []
        yield from _aside("looks like", one.example.message, width)
        yield from _aside("evidence", " · ".join(one.example.evidence), width, "dim")
    yield []
    yield from _aside("fix", rule.fix, width, "good")


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
    yield [("turntape explain ID", "bold"), (" says more of one", "dim")]


def _group(group: str, chosen: list[FailureClass], widest: int, width: int) -> Iterator[Line]:
    if chosen[0].rule.advice:
        yield fit([(group, "bold"), ("  what could be better; with --lint", "dim")], width)
    else:
        layer = chosen[0].rule.layer
        yield fit([(f"{GLYPHS[layer]} {layer}", layer), (f"  {LAYERS[layer]}", "dim")], width)
    for one in sorted(chosen, key=lambda one: -SEVERITIES.index(one.severities[0])):
        glyph, style = GLYPH[one.severities[0]]
        head: Line = [(f"  {glyph} ", style), (f"{one.id:<{widest}} ", "plain"), (f"{'/'.join(one.tiers):<4}", "dim")]
        if width >= _WIDE:
            yield fit([*head, (one.rule.says, "dim")], width)
            continue
        yield fit(head, width)
        yield from _paragraph(one.rule.says, "    ", width, "dim")


def _paragraph(text: str, indent: str, width: int, style: Style = "plain") -> Iterator[Line]:
    for line in wrap(safe(text), max(20, width - width_of(indent))):
        yield [(indent, "plain"), (line, style)]


def _aside(name: str, text: str, width: int, style: Style = "plain") -> Iterator[Line]:
    first, *rest = wrap(safe(text), max(20, width - _ASIDE - 2))
    yield [(f"  {name:<{_ASIDE}}", "dim"), (first, style)]
    for line in rest:
        yield [(" " * (_ASIDE + 2), "plain"), (line, style)]
