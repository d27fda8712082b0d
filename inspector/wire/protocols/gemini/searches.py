"""Searches by Google, as they are billed.

https://ai.google.dev/gemini-api/docs/google-search and /pricing: from Gemini 3 on each search query has a fee; empty
ones have none, and equal ones have one together. Up to Gemini 2.5 each prompt that was searched for has one fee,
however many queries it took. Maps and a customer's own documents have other prices, which are not counted here.
What a customer may search without a fee each day or month is not on the wire.
"""

from collections.abc import Sequence

from turntape.cassettes.regex import regex

from ...json_value import Object, as_array, as_count, as_object, as_text
from .parts import get

_SEARCH = "google_search"
_BY_PROMPT = regex(r"gemini-[12](?![0-9])")
"""The models with one fee for a prompt."""


def billed_searches(candidates: Sequence[Object], usage: Object, model: str | None) -> int:
    """The searches of an answer of generateContent: those that its usage counts, else the queries that it lists."""
    tools = as_array(get(usage, "billedToolCalls"))
    if tools:
        return _fees(sum(_count(tool, "tool", "successfulToolCallCount") for tool in tools), model)
    queries: set[str] = set()
    for candidate in candidates:
        listed = as_array(get(as_object(get(candidate, "groundingMetadata")), "webSearchQueries"))
        queries.update(query for one in listed if (query := (as_text(one) or "").strip()))
    return _fees(len(queries), model)


def billed_interaction_searches(usage: Object, model: str | None) -> int:
    """The searches of an interaction: its usage counts the uses of each tool."""
    return _fees(sum(_count(tool, "type", "count") for tool in as_array(usage.get("grounding_tool_count"))), model)


def _count(tool: object, name: str, count: str) -> int:
    fields = as_object(tool)
    is_search = (as_text(get(fields, name)) or "").lower().startswith(_SEARCH)
    return as_count(get(fields, count)) or 0 if is_search else 0


def _fees(searches: int, model: str | None) -> int:
    return min(searches, 1) if _BY_PROMPT.search(model or "") else searches
