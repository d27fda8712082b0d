"""Token counts of Chat Completions and the APIs of its shape, under our convention.

Servers agree on the names and not on what they count: cached tokens, sound and reasoning are inside `prompt_tokens`
and `completion_tokens`, or beside them. Where they differ the answer's own total decides: it is the sum of the parts.
"""

from itertools import product
from typing import NamedTuple

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


class _Sums(NamedTuple):
    """The counts that depend on each other, None where the answer lacks one."""

    prompt: int | None
    completion: int | None
    total: int | None
    read: int | None
    """Tokens of the prompt that a cache held."""
    written: int | None
    """Tokens of the prompt that were put into a cache."""
    reasoning: int | None
    heard: int
    """Tokens of sound in the prompt."""


def chat_usage(usage: Object, only_in_total: OnlyInTotal = "cached") -> Usage:
    """`input` includes cached tokens and `output` includes reasoning, however the server counts them.

    `only_in_total` says which kind of tokens this server counts only in its total.
    """
    counts = Counts(usage)
    sums = _Sums(
        prompt=counts.first("prompt_tokens", "input_tokens"),
        completion=counts.first("completion_tokens", "output_tokens"),
        total=counts.first("total_tokens"),
        read=counts.first(*_CACHED),
        written=counts.first(*_WRITTEN),
        reasoning=counts.first(*_REASONING),
        heard=counts.first("prompt_tokens_details.audio_tokens", "input_tokens_details.audio_tokens") or 0,
    )
    sums, doubled = _cached_once(sums, counts.first("prompt_cache_miss_tokens"))
    sums, unexplained = _with_parts_beside(sums)
    if unexplained:
        sums, unexplained = _with_part_of_total(sums, unexplained, only_in_total)
    seen = counts.first("prompt_tokens_details.image_tokens", "input_tokens_details.image_tokens") or 0
    cached = "tokens_details.cached_tokens_details"
    return Usage(
        sums.prompt,
        sums.read,
        sums.written,
        sums.completion,
        sums.reasoning,
        input_audio=sums.heard,
        output_audio=counts.first("completion_tokens_details.audio_tokens", "output_tokens_details.audio_tokens") or 0,
        input_image=seen,
        output_image=counts.first("completion_tokens_details.image_tokens", "output_tokens_details.image_tokens") or 0,
        cached_audio=counts.first(f"input_{cached}.audio_tokens", f"prompt_{cached}.audio_tokens"),
        cached_image=counts.first(f"input_{cached}.image_tokens", f"prompt_{cached}.image_tokens"),
        # A server that does not count them apart says 0 too.
        input_media=sums.heard + seen or None,
        # xAI's Live Search costs a fee for each source; 0 in every recorded answer of its chat API.
        other_fees=("live search",) if counts.first("num_sources_used") else (),
        unexplained=unexplained,
        problems=(*counts.problems, *doubled),
    )


def _cached_once(sums: _Sums, missed: int | None) -> tuple[_Sums, tuple[str, ...]]:
    """The sums without cached tokens that the prompt holds a second time, and the problem in words."""
    prompt, read, total = sums.prompt, sums.read, sums.total
    if prompt is None or not read or not counted_twice(prompt, read, missed):
        return sums, ()
    if total is not None and total >= prompt + (sums.completion or 0):
        total -= read
    problem = f"The input is counted as {prompt} tokens, with {read} cached ones in it twice."
    return sums._replace(prompt=prompt - read, total=total), (problem,)


def _with_parts_beside(sums: _Sums) -> tuple[_Sums, int]:
    """The sums with the parts that the server counts beside them, and the tokens of its total that are in no part."""
    prompt, completion, total = sums.prompt, sums.completion, sums.total
    if prompt is None or completion is None:
        return sums, 0
    read, written, reasoning = sums.read or 0, sums.written or 0, sums.reasoning or 0
    for thoughts, more in product((0, reasoning), (0, read + written, read, written, sums.heard)):
        if total == prompt + more + completion + thoughts:
            return sums._replace(prompt=prompt + more, completion=completion + thoughts), 0
    if total is not None and total > prompt + completion:
        return sums, total - prompt - completion
    if max(read, written) > prompt:
        return sums._replace(prompt=prompt + read + written), 0
    return sums, 0


def _with_part_of_total(sums: _Sums, unexplained: int, kind: OnlyInTotal) -> tuple[_Sums, int]:
    """The sums with the tokens that only the total holds, where these are of `kind`; and those still unexplained."""
    if kind == "thoughts" and not sums.reasoning:
        return sums._replace(completion=(sums.completion or 0) + unexplained, reasoning=unexplained), unexplained
    if kind == "sound":
        return sums._replace(prompt=(sums.prompt or 0) + unexplained, heard=unexplained), 0
    if kind == "cached" and not sums.read:
        return sums._replace(prompt=(sums.prompt or 0) + unexplained, read=unexplained), unexplained
    return sums, unexplained


def usage_of(exchange: Exchange, usage: Object) -> Usage:
    """As `chat_usage`, for the server that gave this answer."""
    row = provider_of(provider(exchange.round_trip, exchange))
    return chat_usage(usage, row.only_in_total)
