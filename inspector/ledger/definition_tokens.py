"""What a tool's definition is in tokens, compared with its JSON.

Each API has its own form for definitions. OpenAI's and Google's is shorter than the JSON. Anthropic adds a prompt
about the use of tools, which is shared out among the definitions: 346 tokens by
platform.claude.com/docs/en/agents-and-tools/tool-use/overview (read 2026-11-22). The factors are from the first
requests of half of the recorded corpus; `make ledger` reports on the other half.
"""

import re

from turntape.cassettes.frozen import frozen
from turntape.cassettes.regex import regex


@frozen
class Definitions:
    """How a model's API writes definitions."""

    factor: float = 1.0
    """Tokens of a definition, as a share of those of its JSON as a text."""
    added: int = 0
    """Tokens that the API adds once when a request has tools."""


_TABLE: tuple[tuple[re.Pattern[str], Definitions], ...] = (
    (regex(r"claude"), Definitions(added=346)),
    (regex(r"gpt-oss|llama|qwen|mistral"), Definitions()),
    (regex(r"gpt-|chatgpt|(^|[/.-])o[1-9]"), Definitions(0.7)),
    (regex(r"gemini"), Definitions(0.55)),
)
_OTHERS = Definitions()


def definitions_of(model: str) -> Definitions:
    """How the API of a model writes definitions; as their JSON where nothing is known."""
    return next((found for pattern, found in _TABLE if pattern.search(model.lower())), _OTHERS)
