"""turntape's own rules as one table. Within a moment the order counts: root causes come before what they explain."""

from ..rule import Rule
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
    stream_calls,
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
    *stream_calls.RULES,
    *finish.RULES,
    *emission.RULES,
    *usage.RULES,
    *loop.FOLLOWED,
    *loop.CLOSED,
    *retries.RULES,
    *retries.CLOSED,
    *errors.RULES,
    *errors.LAST,
    *heuristics.RULES,
    *loop.HINTS,
    *lint.RULES,
    *lint.CLOSED,
)

__all__ = ["RULES"]
