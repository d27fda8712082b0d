"""How the counted input contradicts the request itself: fewer tokens than it has words, more than it has bytes."""

import re

from turntape.cassettes.regex import regex

from ...wire.per_message import PerMessage
from ...wire.printable import several
from ...wire.values import Message, Usage
from ..model_words import THOUGHT_ENDS
from ..rule_context import RuleContext
from .input_growth import MEDIA_FIELDS, is_plain


def underread(context: RuleContext, usage: Usage) -> str | None:
    """How the input counts far fewer tokens than the request has words: something on the way dropped or miscounted them.

    Servers that count no cached prompt, and those that drop the beginning of one, have a rule of their kind.
    """
    tokens, size = usage.input or 0, len(context.turn.round_trip.request.body)
    if not tokens or size < tokens * _READ_A_TOKEN * 2 or not _SHORTENING.isdisjoint(context.request.parameters):
        return None
    if context.protocol.answers.drops_prompt_silently or context.provider.local or context.exchange.host in _HERE:
        return None
    words = sum(_words_of.of(context.request.messages))
    if words < _READ or tokens * _READ_A_TOKEN >= words:
        return None
    return f"{several(tokens, 'input token')} are counted for a history of {words:,} words"


_READ, _READ_A_TOKEN = 100, 3
"""Words of a history, and how many of them no server counts as one token: in recorded requests it was 0.8 at most."""
_SHORTENING = frozenset({"truncation", "transforms", "context_management", "plugins"})
"""Fields of a request that ask the API to leave parts of a long history out."""
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})


def _count_words(message: Message) -> int:
    """The words that a server has to read: none of a message with thoughts in tags, of which templates leave much out."""
    parts = (part for part in message.parts if part.kind not in ("media", "reasoning"))
    own = (p for p in parts if not (p.call is not None and p.call.server) and not (p.result and p.result.server))
    texts = [p.result.text if p.result else p.call.arguments_raw if p.call else p.text for p in own]
    if any(_THOUGHT_ENDS.search(text) for text in texts):
        return 0
    return sum(1 for text in texts for _ in _LETTERS.finditer(text))


_LETTERS = regex(r"[A-Za-z]{3,}")
_THOUGHT_ENDS = regex(THOUGHT_ENDS, re.IGNORECASE)
_words_of = PerMessage(_count_words)


def overread(context: RuleContext, usage: Usage) -> str | None:
    """How the input counts far more tokens than the whole request has bytes."""
    size, request = len(context.turn.round_trip.request.body), context.request
    if (usage.input or 0) <= _READ_A_BYTE * size + _ADDED or request.continues is not None:
        return None
    if (
        context.emission.server_calls
        or any(tool.server for tool in request.tools)
        or not is_plain(request.messages)
        or not request.messages
    ):
        return None
    if not _HOLDERS.isdisjoint(request.parameters) or MEDIA_FIELDS.search(context.turn.round_trip.request.body):
        return None
    return f"{usage.input:,} input tokens are counted for a request of {size:,} bytes"


_READ_A_BYTE, _ADDED = 2, 8_000
"""No token is shorter than a byte. So many tokens at most does an API add to a request without its own tools."""
_HOLDERS = frozenset(
    {"cachedContent", "cached_content", "connectors", "documents", "mcp_servers", "plugins", "prompt", "prompt_id"}
    | {"search_parameters", "web_search_options", "venice_parameters", "compound_custom", "data_sources"}
)
"""Fields of a request that name what the API puts into the prompt."""
