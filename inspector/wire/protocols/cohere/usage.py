"""What Cohere counts: `tokens` are what the model saw and said, `billed_units` what is paid for."""

from ...json_value import Object, as_object
from ...values import FinishLabel, Usage
from ..shared.answers import first_count

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
    """Tokens where they are said, else the billed units."""
    counts = as_object(usage.get("tokens")) or as_object(usage.get("billed_units"))
    if not counts:
        return None
    return Usage(
        input=first_count(counts.get("input_tokens")),
        cache_read=first_count(usage.get("cached_tokens")),
        output=first_count(counts.get("output_tokens")),
    )
