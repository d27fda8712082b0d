"""Searches by Google, as they are billed.

https://ai.google.dev/gemini-api/docs/google-search and /pricing: from Gemini 3 on each search query has a fee; empty
ones have none, and equal ones have one together. Up to Gemini 2.5 each prompt that was searched for has one fee,
however many queries it took. What a customer may search without a fee each day or month is not on the wire.
Grounding with Google Maps, and in a customer's own documents on Vertex, has a fee that no price list has:
https://cloud.google.com/vertex-ai/generative-ai/pricing. A search in a file search store has no fee:
https://ai.google.dev/gemini-api/docs/file-search, read 2026-12-01.
"""

from collections.abc import Sequence

from turntape.cassettes.regex import regex

from ...json_value import Object, as_array, as_count, as_object, as_text
from .parts import get

_SEARCH = "google_search"
_MAPS, _OWN = "Google Maps", "search in your documents"
_BY_PROMPT = regex(r"gemini-[12](?![0-9])")
"""The models with one fee for a prompt."""


def billed_searches(candidates: Sequence[Object], usage: Object, model: str | None) -> int:
    """The searches of an answer of generateContent: those that its usage counts, else the queries that it lists."""
    tools = _tools(usage)
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


def other_fees(candidates: Sequence[Object], usage: Object) -> tuple[str, ...]:
    """What an answer of generateContent was grounded in for a fee that no price list has, in words."""
    found = {_MAPS: any(_is_maps(tool, "tool", "successfulToolCallCount") for tool in _tools(usage)), _OWN: False}
    for candidate in candidates:
        grounding = as_object(get(candidate, "groundingMetadata"))
        for chunk in map(as_object, as_array(get(grounding, "groundingChunks"))):
            own = as_object(get(chunk, "retrievedContext"))
            found[_MAPS] |= bool(as_object(get(chunk, "maps")))
            found[_OWN] |= bool(own) and not get(own, "fileSearchStore")
    return tuple(words for words, is_in_it in found.items() if is_in_it)


def other_interaction_fees(usage: Object) -> tuple[str, ...]:
    """The same of an interaction."""
    tools = as_array(usage.get("grounding_tool_count"))
    return (_MAPS,) if any(_is_maps(tool, "type", "count") for tool in tools) else ()


def _tools(usage: Object) -> Sequence[object]:
    return as_array(get(usage, "billedToolCalls"))


def _is_maps(tool: object, name: str, count: str) -> bool:
    fields = as_object(tool)
    is_maps = (as_text(get(fields, name)) or "").lower().startswith("google_maps")
    return is_maps and bool(as_count(get(fields, count)))


def _count(tool: object, name: str, count: str) -> int:
    fields = as_object(tool)
    is_search = (as_text(get(fields, name)) or "").lower().startswith(_SEARCH)
    return as_count(get(fields, count)) or 0 if is_search else 0


def _fees(searches: int, model: str | None) -> int:
    return min(searches, 1) if _BY_PROMPT.search(model or "") else searches
