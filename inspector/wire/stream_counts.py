"""The token counts that a stream gives more than once: an answer only grows, and its prompt stays the same."""

from collections.abc import Iterable, Iterator

from .json_value import Object, as_object, value_at

_HOLDERS = (("usage",), ("message", "usage"), ("response", "usage"), ("usageMetadata",), ("response", "usageMetadata"))
_FIRST = frozenset(path[0] for path in _HOLDERS)
_OUTPUT = tuple(
    (key,) for key in ("completion_tokens", "output_tokens", "outputTokens", "candidatesTokenCount", "eval_count")
)
_PROMPT = ("prompt_tokens",)
"""The field of chat streams. Other APIs count what their own tools read as they go on."""
_CACHED = (
    ("cache_read_input_tokens",),
    ("cache_creation_input_tokens",),
    ("prompt_tokens_details", "cached_tokens"),
    ("input_tokens_details", "cached_tokens"),
    ("cachedContentTokenCount",),
)
"""What was read from the cache or written to it, before the first word of the answer. Here 0 is a count too."""


def count_breaks(events: Iterable[Object]) -> Iterator[str]:
    """One sentence for each count that falls, or that is another one, later in the stream."""
    last: dict[tuple[str, ...], int] = {}
    for body in events:
        if body.keys().isdisjoint(_FIRST):  # as of most events
            continue
        for usage in (as_object(value_at(body, path)) for path in _HOLDERS):
            if not usage:
                continue
            for key in (*_OUTPUT, _PROMPT, *_CACHED):
                now = value_at(usage, key)
                if not isinstance(now, int) or isinstance(now, bool) or now < 0 or (now == 0 and key not in _CACHED):
                    continue
                before, name = last.get(key) or now, key[-1]
                if now < before:
                    yield f"`{name}` is {now:,} at the end of the stream and {before:,} before it"
                elif now != before and key not in _OUTPUT:
                    yield f"`{name}` is {before:,} in the stream and then {now:,}"
                last[key] = now
