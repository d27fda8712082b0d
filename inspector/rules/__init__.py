"""The rules: every class of failure that turntape knows, as one literal table.

Within a moment the order counts: roots stand before what they explain.
"""

from ..finding import Rule
from . import (
    advice,
    emission,
    errors,
    fidelity,
    finish,
    hints,
    loop,
    ours,
    pairing,
    prefix,
    results,
    retries,
    shapes,
    transport,
    usage,
)

RULES: tuple[Rule, ...] = (
    *ours.RULES,
    *fidelity.RULES,
    *prefix.RULES,
    *usage.AFTER,
    *pairing.RULES,
    *pairing.FOLLOWED,
    *shapes.RULES,
    *results.RULES,
    *loop.RULES,
    *transport.RULES,
    *finish.RULES,
    *emission.RULES,
    *usage.RULES,
    *loop.FOLLOWED,
    *loop.CLOSED,
    *retries.RULES,
    *retries.CLOSED,
    *errors.RULES,
    *errors.LAST,
)
"""Proven and strongly inferred."""

HINTS: tuple[Rule, ...] = (*hints.RULES, *loop.HINTS)
"""Heuristics, asked only when hints are wanted."""

ADVICE: tuple[Rule, ...] = (*advice.RULES, *advice.CLOSED)
"""Lint, asked only when advice is wanted."""

ALL: tuple[Rule, ...] = (*RULES, *HINTS, *ADVICE)


def by_id(name: str) -> Rule | None:
    """The rule of that id; where it is asked at several moments, the first."""
    return next((rule for rule in ALL if rule.id == name), None)


__all__ = ["ADVICE", "ALL", "HINTS", "RULES", "by_id"]
