"""Cohere's counts: `tokens` is what the model read and wrote, `billed_units` is what is billed."""

from ...json_value import Object, as_object
from ...values import FinishLabel, Usage
from ..shared.counts import Counts

FINISH: dict[str, FinishLabel] = {
    "COMPLETE": "complete",
    "STOP_SEQUENCE": "stop_sequence",
    "MAX_TOKENS": "length",
    "TOOL_CALL": "tool_calls",
    "ERROR": "error",
    "TIMEOUT": "error",
    "ERROR_TOXIC": "content_filter",
    "ERROR_LIMIT": "context_full",
    "USER_CANCEL": "cancelled",
}


def cohere_usage(usage: Object) -> Usage | None:
    """The tokens if the answer has them, else the billed units."""
    named = next((name for name in ("tokens", "billed_units") if as_object(usage.get(name))), None)
    if named is None:
        return None
    counts = Counts(usage)
    return Usage(
        input=counts.first(f"{named}.input_tokens"),
        cache_read=counts.first("cached_tokens"),
        output=counts.first(f"{named}.output_tokens"),
        problems=counts.problems,
    )
