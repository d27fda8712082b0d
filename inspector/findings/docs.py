"""The documentation of the classes of findings: what each means, how sure it is, an example, and what to do.

Everything is read from the active rules. A class that several rules find is one class.
"""

from difflib import get_close_matches
from functools import cache

from turntape.cassettes.frozen import frozen

from ..wire.registry import protocols
from .catalogue import Catalogue, catalogue
from .example import Example
from .examples import EXAMPLES
from .finding import SEVERITIES, Layer, Severity, Tier
from .rule import Rule

LAYERS: dict[Layer, str] = {
    "model": "what was emitted",
    "api": "how the answer was labelled, cut, filtered or carried",
    "client": "what was sent: history, results, ids, tools, the loop",
    "tool": "what a tool and its server answered, or did not",
}
NAMING: tuple[Layer, ...] = ("model", "api", "client")
"""The layers that an id may begin with. Ids with `tool-` existed before the layer and blame others too."""
TIERS: dict[Tier, str] = {
    "P": "proven by the bytes",
    "S": "strong inference: one harmless explanation is left",
    "H": "heuristic: a threshold or a pattern of words",
}


@frozen
class FailureClass:
    """One class, found by one or several rules."""

    rule: Rule
    """The first of its rules; all share its words."""
    tiers: tuple[Tier, ...]
    severities: tuple[Severity, ...]
    """Most severe first."""
    switch: str | None
    """The option that turns it on: `--hints` or `--lint`; None when it is always on."""

    @property
    def id(self) -> str:
        return self.rule.id

    @property
    def names(self) -> tuple[str, ...]:
        """Its id, then the former ones."""
        return (self.id, *self.rule.aliases)

    @property
    def group(self) -> str:
        """Where it is listed: its layer, or `advice`."""
        return "advice" if self.rule.advice else self.rule.layer

    @property
    def protocols(self) -> tuple[str, ...]:
        """The names of the protocols that it is for; empty means all."""
        if self.rule.trait is None:
            return self.rule.protocols
        return tuple(sorted(protocol.name for protocol in protocols() if self.rule.applies_to(protocol)))

    @property
    def example(self) -> Example | None:
        return EXAMPLES.get(self.id)

    def as_json(self) -> dict[str, object]:
        """The object that `turntape explain --json` prints."""
        return {
            "id": self.id,
            "aliases": list(self.rule.aliases),
            "layer": self.rule.layer,
            "severities": list(self.severities),
            "tiers": list(self.tiers),
            "says": self.rule.says,
            "fix": self.rule.fix,
            "not_when": self.rule.exceptions or None,
            "protocols": list(self.protocols) or None,
            "advice": self.rule.advice,
            "switch": self.switch,
            "example": None
            if self.example is None
            else {"message": self.example.message, "evidence": list(self.example.evidence)},
        }


GROUPS: tuple[str, ...] = ("model", "api", "client", "tool", "advice")
_TIER_ORDER: tuple[Tier, ...] = ("P", "S", "H")


def classes() -> tuple[FailureClass, ...]:
    """Every class once, in the order of the rules."""
    return _classes(catalogue())


@cache
def _classes(table: Catalogue) -> tuple[FailureClass, ...]:
    by_id: dict[str, list[Rule]] = {}
    for rule in table.rules:
        by_id.setdefault(rule.id, []).append(rule)
    return tuple(_joined(rules) for rules in by_id.values())


def _joined(rules: list[Rule]) -> FailureClass:
    first = rules[0]
    return FailureClass(
        first,
        tuple(tier for tier in _TIER_ORDER if any(rule.tier == tier for rule in rules)),
        tuple(s for s in reversed(SEVERITIES) if any(rule.severity == s for rule in rules)),
        first.switch if all(rule.switch for rule in rules) else None,
    )


def class_of(name: str) -> FailureClass | None:
    """The class of that id, which may be a former one."""
    return next((one for one in classes() if name in one.names), None)


def unknown(name: str) -> str:
    """The error for an unknown id, with the nearest known one."""
    names = [one.id for one in classes()]
    near = get_close_matches(name.lower(), names, n=1, cutoff=0.4) or [n for n in names if name.lower() in n][:1]
    tip = f"the nearest is {near[0]!r}; " if near else ""
    return f"no class of finding is called {name!r}; {tip}`turntape explain` lists all {len(names)}"
