"""Which rule the prompt cache behind a turn has, and on which fields of the request it depends."""

from .cache_rules import CacheRule, Setting, rule_for
from .json_value import compact, value_at
from .providers import provider_of
from .registry import traits_of
from .values import Reading, RequestReading


def rule_of(reading: Reading) -> CacheRule | None:
    """The rule of the cache behind a turn; None when nothing is known of it."""
    provider = provider_of(reading.provider)
    table = provider.caches.get(reading.protocol or "", provider.cache)
    if table is None:
        table = traits_of(reading.protocol).caching.rules
    return rule_for(table, reading.request.model) or rule_for(table, reading.response_model)


def settings_of(request: RequestReading, rule: CacheRule) -> tuple[tuple[Setting, str], ...]:
    """The fields beside the prompt on which the cache depends, as JSON."""
    found: list[tuple[Setting, str]] = []
    for one in rule.settings:
        if one.path == ("tool_choice",):
            value: object = request.tool_choice and [request.tool_choice.mode, *request.tool_choice.names]
        else:
            value = value_at(request.parameters, one.path)
        found.append((one, compact(value)))
    return tuple(found)
