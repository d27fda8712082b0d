"""How the counted input of a turn contradicts the turns before it: less than before, more than the request can hold."""

import re
from collections.abc import Iterable
from itertools import pairwise

from turntape.cassettes.regex import regex

from ...analysis.history_diff import HistoryDiff
from ...wire.json_value import as_array, as_object, compact
from ...wire.values import Message, Part, PartKind, Usage
from .. import prompt_cache
from ..rule_context import RuleContext

_GROWN = 1000
"""Bytes. Fewer may be hidden by the way in which a server counts."""


def stale(context: RuleContext, usage: Usage) -> str | None:
    """How the counts are those of the turn before, although the request has grown."""
    before, echo = context.previous, context.echo
    then = before.reading.usage if before is not None else None
    if before is None or then is None or echo is None or echo.removed or echo.state == "held" or not usage.input:
        return None
    grown = len(context.turn.round_trip.request.body) - len(before.round_trip.request.body)
    if grown < _GROWN or context.request.tools != before.reading.request.tools:
        return None
    if (usage.input, usage.output) != (then.input, then.output):
        return None
    return f"the counts are those of #{before.round_trip.index} again, although the request is {grown:,} bytes longer"


SHRUNK, LESS = 4.0, 1.1
"""No server counts the same history so many times smaller in the next turn; and none counts texts and calls smaller."""
_FEWEST = 50
"""Tokens. A smaller input may be counted otherwise."""


def is_plain(messages: Iterable[Message], *kinds: PartKind) -> bool:
    """True for texts, calls and results alone: thoughts and media may be counted once and then be left out.

    A text or a call with a signature has a thought in it, which the server can read (Gemini).

    `kinds` are allowed too.
    """
    return all(
        part.kind in ("text", "call", "result", *kinds)
        and not _is_servers(part)
        and not (part.signature and "reasoning" not in kinds)
        for message in messages
        for part in message.parts
    )


def _is_servers(part: Part) -> bool:
    """True for a call or a result of a tool that the API runs, or a result that holds more than text."""
    if part.call is not None and part.call.server:
        return True
    items = as_array(as_object(part.raw).get("content")) if part.result is not None else ()
    served = part.result is not None and part.result.server
    return served or any("text" not in as_object(item) for item in items)


def shrunk(context: RuleContext, usage: Usage, times: float) -> str | None:
    """How the input counts far less than in the turn before, although the request holds that and more."""
    before, echo = context.previous, context.echo
    then = before.reading.usage if before is not None else None
    if before is None or then is None or echo is None or echo.removed or echo.state == "held" or usage.input is None:
        return None
    if context.protocol.answers.drops_prompt_silently or not then.input or then.input < _FEWEST:
        return None
    if len(context.turn.round_trip.request.body) < len(before.round_trip.request.body):
        return None
    if context.request.tools != before.reading.request.tools or times * usage.input > then.input:
        return None
    if any(tool.server for tool in context.request.tools):
        return None
    return f"{usage.input:,} input tokens after {then.input:,} in #{before.round_trip.index}, although the history has grown"


MEDIA_FIELDS = regex(rb'"(?:mime_?type|media_type|image_url|file_?(?:id|uri|url|data))"', re.IGNORECASE)
"""The fields of what costs more tokens than its name has bytes."""
_HIDDEN, _PER_PIECE = 300, 16
"""Tokens that an API may add to a request for its tools, and to each message for its role. In recorded loops with the
same tools and no media it was 182 at most."""


_WITH_THOUGHTS = 2
"""Thoughts that the API holds, or did not count before, may come to so many times what a request and an answer have."""


def outgrown(context: RuleContext, usage: Usage) -> str | None:
    """How the input grew by more tokens than the request by bytes: no token is shorter than a byte.

    Some servers add the cached tokens to a count that contains them already.
    """
    before, echo = context.previous, context.echo
    then = before.reading.usage if before is not None else None
    if before is None or then is None or echo is None or echo.state == "held" or not usage.input:
        return None
    now, was = context.request, before.reading.request
    if (then.input or 0) < _FEWEST or now.model != was.model:
        return None
    longer = max(0, len(context.turn.round_trip.request.body) - len(before.round_trip.request.body))
    grown = usage.input - (then.input or 0)
    hidden = _PER_PIECE if _is_whole_without_cache(usage, then) else _HIDDEN + _PER_PIECE * len(now.messages)
    if grown <= longer + _replaced(echo) + hidden or prompt_cache.settings_changed(context):
        return None  # first, because what follows looks at the whole history
    if context.protocol.answers.drops_prompt_silently or now.tools != was.tools:
        return None
    thoughts = _WITH_THOUGHTS * (longer + _replaced(echo) + hidden + (then.output or 0))
    if not is_plain(now.messages) and not (grown > thoughts and is_plain(now.messages, "reasoning")):
        return None
    if any(tool.server for tool in now.tools) or MEDIA_FIELDS.search(context.turn.round_trip.request.body):
        return None
    cached = f"; {usage.cache_read:,} of them cached, which may be counted twice" if usage.cache_read else ""
    return (
        f"{usage.input:,} input tokens after {then.input:,} in #{before.round_trip.index}, although the request is only "
        f"{longer:,} bytes longer{cached}"
    )


_ENOUGH, _DENSER, _LONGER = 2, 3.0, 1.5
"""Turns before; how many times the tokens of the first turn; how many times its bytes at most."""


def summed(context: RuleContext, usage: Usage) -> str | None:
    """How the input grows with each turn as a sum over the run does, while the request hardly grows."""
    seen, echo, now = context.thread.input_tokens, context.echo, context.request
    if len(seen) < _ENOUGH or not usage.input or echo is None or echo.state == "held":
        return None
    first, count = seen[0]
    size, body = context.thread.first_size, context.turn.round_trip.request.body
    rises = all(before[1] < after[1] for before, after in pairwise([*seen, (context.index, usage.input)]))
    if not rises or count < _FEWEST or usage.input < _DENSER * count or len(body) > _LONGER * size:
        return None
    if context.protocol.answers.drops_prompt_silently or any(tool.server for tool in now.tools):
        return None
    if not is_plain(now.messages) or MEDIA_FIELDS.search(body):
        return None
    return (
        f"{usage.input:,} input tokens after {count:,} in #{first}, although the request has {len(body):,} bytes after "
        f"{size:,}: it may be a sum over the run"
    )


def _is_whole_without_cache(usage: Usage, then: Usage) -> bool:
    """True when what was not read from the cache counts as much as the whole request before: it holds the rest too."""
    fresh = (usage.input or 0) - (usage.cache_read or 0)
    return (usage.cache_read or 0) >= _FEWEST and not then.cache_read and fresh >= (then.input or 0)


def _replaced(echo: HistoryDiff) -> int:
    """Bytes of the last request and its answer that are gone: as many new ones may be in their place."""
    gone = [change.was for change in echo.changes]
    return sum(
        len(text.encode("utf-8", "replace")) for text in [*gone, *(compact(one.part.raw) for one in echo.removed)]
    )
