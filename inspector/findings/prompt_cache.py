"""What a request could have read from the API's prompt cache, and whether it did. All counts are tokens."""

from ..wire.cache_rules import LIFETIMES, Marks
from ..wire.caching import rule_of, settings_of
from ..wire.values import RequestReading, Usage
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


_FIVE_MINUTES = LIFETIMES["5m"]


def lifetime(context: RuleContext) -> float:
    """How many seconds what the turn before left in the cache surely lives."""
    before, rule = context.previous, rule_of(context.reading)
    words = [mark.lifetime for mark in before.reading.request.cache_marks] if before is not None else []
    return max([rule.lifetime if rule else _FIVE_MINUTES, *(LIFETIMES.get(word or "", 0.0) for word in words)])


def settings_changed(context: RuleContext) -> bool:
    """True when a field beside the prompt differs from the turn before, and the cache depends on it."""
    before, rule = context.previous, rule_of(context.reading)
    if before is None or rule is None:
        return False
    return settings_of(before.reading.request, rule) != settings_of(context.request, rule)


def out_of_reach(context: RuleContext) -> bool:
    """True when no mark of the request looks back as far as the last mark of the one before."""
    before, rule = context.previous, rule_of(context.reading)
    if before is None or not isinstance(rule, Marks) or rule.implicit:
        return False
    kept = [mark.pointer for mark in before.reading.request.cache_marks]
    if not kept or "" in (kept[-1], *(mark.pointer for mark in context.request.cache_marks)):
        return False
    places = {pointer: place for place, pointer in enumerate(_pieces(context.request))}
    last = places.get(kept[-1])
    if last is None:
        return False
    marks = [places[mark.pointer] for mark in context.request.cache_marks if mark.pointer in places]
    return not any(0 <= mark - last < (rule.look_back or len(places)) for mark in marks)


def _pieces(request: RequestReading) -> list[str]:
    """The pointers of the pieces of a prompt, in its order."""
    messages = [part.pointer for message in request.messages for part in message.parts]
    return [*(tool.pointer for tool in request.tools), *(part.pointer for part in request.system), *messages]
