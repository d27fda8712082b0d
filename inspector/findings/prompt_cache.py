"""What a request could have read from the API's prompt cache, and whether it did. All counts are tokens."""

from ..wire.values import Usage
from .rule_context import RuleContext

CACHEABLE = 1024
"""Below so many tokens no API caches."""
_NEARLY = 0.9
"""A cache that is read to this share of what it holds was read whole: APIs cut at blocks of up to 128 tokens."""
_NEARLY_ALL = 0.8
"""The same share of a whole input, where the API does not count what it writes."""


def at_stake(context: RuleContext) -> bool:
    """True when the last request was long enough for a cache, and the API is known to use one."""
    then = context.previous.reading.usage if context.previous is not None else None
    if then is not None and then.input is not None and then.input < CACHEABLE:
        return False
    if context.thread.cached:
        return True
    if then is None:
        return False
    counted = then.cache_read is not None and not context.protocol.caching.on_request
    return bool(then.cache_read or then.cache_write) or counted


def shown(context: RuleContext) -> bool:
    """True when the counts of the last answer show that there was a cache to lose."""
    then = context.previous.reading.usage if context.previous is not None else None
    return then is not None and bool(then.cache_read or then.cache_write)


def still_read(then: Usage | None, now: Usage | None) -> bool:
    """True when the request read nearly all that the one before had left in the cache."""
    again = now.cache_read if now is not None else None
    if then is None or not again:
        return False
    if then.cache_write:
        return again >= _NEARLY * ((then.cache_read or 0) + then.cache_write)
    return again >= _NEARLY * (then.cache_read or 0) and again >= _NEARLY_ALL * (then.input or 0)


def lost(context: RuleContext) -> bool:
    """True when a cache is used and this request did not read what the one before had left there for its model."""
    before = context.previous
    if before is None or before.reading.request.model != context.request.model:
        return False
    return at_stake(context) and not still_read(before.reading.usage, context.reading.usage)
