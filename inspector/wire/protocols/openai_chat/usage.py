"""Token counts of Chat Completions and the APIs of its shape, under our convention.

Servers agree on the names and not on what they count: cached tokens, sound and reasoning are inside `prompt_tokens`
and `completion_tokens`, or beside them. Where they differ the answer's own total decides: it is the sum of the parts.
"""

from itertools import product

from ...exchange import Exchange
from ...json_value import Object
from ...providers import provider, provider_of
from ...values import OnlyInTotal, Usage
from ..shared.cached_input import counted_twice
from ..shared.counts import Counts

_CACHED = (
    "prompt_tokens_details.cached_tokens",
    "input_tokens_details.cached_tokens",
    "cached_tokens",
    "prompt_cache_hit_tokens",
    "cache_read_input_tokens",
)
_WRITTEN = (
    "prompt_tokens_details.cache_write_tokens",
    "prompt_tokens_details.cache_creation_tokens",
    "input_tokens_details.cache_write_tokens",
    "input_tokens_details.cache_creation_tokens",
    "cache_creation_input_tokens",
)
_REASONING = (
    "completion_tokens_details.reasoning_tokens",
    "output_tokens_details.reasoning_tokens",
    "reasoning_tokens",
)


def chat_usage(usage: Object, only_in_total: OnlyInTotal = "cached") -> Usage:
    """`input` includes cached tokens and `output` includes reasoning, however the server counts them.

    `only_in_total` says which kind of tokens this server counts only in its total.
    """
    counts = Counts(usage)
    prompt = counts.first("prompt_tokens", "input_tokens")
    completion = counts.first("completion_tokens", "output_tokens")
    total = counts.first("total_tokens")
    read, written, reasoning = counts.first(*_CACHED), counts.first(*_WRITTEN), counts.first(*_REASONING)
    heard = counts.first("prompt_tokens_details.audio_tokens", "input_tokens_details.audio_tokens") or 0
    seen = counts.first("prompt_tokens_details.image_tokens", "input_tokens_details.image_tokens") or 0
    spoken = counts.first("completion_tokens_details.audio_tokens", "output_tokens_details.audio_tokens") or 0
    drawn = counts.first("completion_tokens_details.image_tokens", "output_tokens_details.image_tokens") or 0
    held = "tokens_details.cached_tokens_details"
    cached_audio = counts.first(f"input_{held}.audio_tokens", f"prompt_{held}.audio_tokens")
    cached_image = counts.first(f"input_{held}.image_tokens", f"prompt_{held}.image_tokens")
    missed = counts.first("prompt_cache_miss_tokens")
    doubled: tuple[str, ...] = ()
    if prompt is not None and read and counted_twice(prompt, read, missed):
        doubled = (f"The input is counted as {prompt} tokens, with {read} cached ones in it twice.",)
        if total is not None and total >= prompt + (completion or 0):
            total -= read
        prompt -= read
    unexplained = 0
    if prompt is not None and completion is not None:
        beside = (0, (read or 0) + (written or 0), read or 0, written or 0, heard)
        fits = (
            (more, thoughts)
            for thoughts, more in product((0, reasoning or 0), beside)
            if total == prompt + more + completion + thoughts
        )
        more, thoughts = next(fits, (None, None))
        if more is not None and thoughts is not None:
            prompt, completion = prompt + more, completion + thoughts
        elif total is not None and total > prompt + completion:
            unexplained = total - prompt - completion
        elif max(read or 0, written or 0) > prompt:
            prompt += (read or 0) + (written or 0)
    if unexplained and only_in_total == "thoughts" and not reasoning:
        completion, reasoning = (completion or 0) + unexplained, unexplained
    elif unexplained and only_in_total == "sound":
        prompt, heard, unexplained = (prompt or 0) + unexplained, unexplained, 0
    elif unexplained and only_in_total == "cached" and not read:
        prompt, read = (prompt or 0) + unexplained, unexplained
    return Usage(
        prompt,
        read,
        written,
        completion,
        reasoning,
        input_audio=heard,
        output_audio=spoken,
        input_image=seen,
        output_image=drawn,
        cached_audio=cached_audio,
        cached_image=cached_image,
        # A server that does not count them apart says 0 too.
        input_media=heard + seen or None,
        unexplained=unexplained,
        problems=(*counts.problems, *doubled),
    )


def usage_of(exchange: Exchange, usage: Object) -> Usage:
    """As `chat_usage`, for the server that gave this answer."""
    row = provider_of(provider(exchange.round_trip, exchange))
    return chat_usage(usage, row.only_in_total)
