"""The rules: every class of failure that turntape knows, as one literal table.

Within a moment the order counts: roots stand before what they explain.
"""

from ..finding import Rule
from . import (
    emission,
    errors,
    finish,
    heuristics,
    history,
    lint,
    loop,
    pairing,
    request_schema,
    results,
    retries,
    stable_prefix,
    transport,
    turntape_actions,
    usage,
)

RULES: tuple[Rule, ...] = (
    *turntape_actions.RULES,
    *history.RULES,
    *stable_prefix.RULES,
    *usage.AFTER,
    *pairing.RULES,
    *pairing.FOLLOWED,
    *request_schema.RULES,
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

HINTS: tuple[Rule, ...] = (*heuristics.RULES, *loop.HINTS)
"""Heuristics, asked only when hints are wanted."""

ADVICE: tuple[Rule, ...] = (*lint.RULES, *lint.CLOSED)
"""Lint, asked only when advice is wanted."""

ALL: tuple[Rule, ...] = (*RULES, *HINTS, *ADVICE)


def by_id(name: str) -> Rule | None:
    """The rule of that id; where it is asked at several moments, the first."""
    return next((rule for rule in ALL if rule.id == name), None)


__all__ = ["ADVICE", "ALL", "HINTS", "RULES", "by_id"]
