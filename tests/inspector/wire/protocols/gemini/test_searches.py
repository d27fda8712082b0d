"""Searches by Google, as they are billed: the price list then has a fee for them."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from round_trips import GEMINI, GEMINI_STREAM, exchanged, sse

from turntape.inspector.analysis.pricing import cost_of
from turntape.inspector.wire.parse import read

ASK: dict[str, Any] = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "tools": [{"googleSearch": {}}]}
USAGE = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}
NOVEMBER = datetime(2026, 11, 20, tzinfo=UTC).timestamp()
"""The list has the fee of Gemini 3 from the day on which Google began to bill it."""
INTERACTIONS = "https://generativelanguage.googleapis.com/v1beta/interactions"


def grounded(*queries: object, model: str = "gemini-3-flash-preview", usage: Any = (), more: Any = ()) -> int:
    """The searches of an answer that lists these queries."""
    reading = read(exchanged(GEMINI, ASK, body(queries, model, dict(usage), dict(more))))
    assert reading.usage is not None
    return reading.usage.web_searches


def body(queries: object, model: str, usage: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    text = {"role": "model", "parts": [{"text": "It rains."}]}
    candidate = {"content": text, "finishReason": "STOP", "groundingMetadata": {"webSearchQueries": queries, **more}}
    return {"candidates": [candidate], "usageMetadata": {**USAGE, **usage}, "modelVersion": model}


def test_from_gemini_3_on_each_query_is_a_search_but_not_an_empty_or_an_equal_one() -> None:
    assert grounded("", "weather", "rain", "weather", " ") == 2


@pytest.mark.parametrize("model", ["gemini-2.5-flash", "models/gemini-2.0-flash", "gemini-1.5-pro"])
def test_before_it_each_prompt_is_one(model: str) -> None:
    assert grounded("weather", "rain", model=model) == 1
    assert grounded("", model=model) == 0


def test_nothing_was_searched_on_the_web_for_documents_and_pages() -> None:
    chunks = [{"web": {"uri": "https://example.org"}}, {"retrievedContext": {"title": "a"}}]
    assert grounded(more={"groundingChunks": chunks, "retrievalQueries": ["weather"]}) == 0


def test_what_the_usage_says_of_searches_comes_before_the_queries() -> None:
    billed = [
        {"tool": "GOOGLE_SEARCH_RETRIEVAL", "successfulToolCallCount": 3},
        {"tool": "google_maps", "successfulToolCallCount": 5},
    ]
    assert grounded("weather", usage={"billedToolCalls": billed}) == 3
    assert grounded("weather", "rain", usage={"billedToolCalls": []}) == 2


def test_values_of_other_types_count_nothing() -> None:
    assert grounded(7, None, ["rain"]) == 0
    assert grounded(usage={"billedToolCalls": [None, {"tool": 5}, {"tool": "google_search"}]}) == 0


def test_a_stream_lists_its_queries_in_any_chunk() -> None:
    first = {"candidates": [{"content": {"parts": [{"text": "It"}]}, "groundingMetadata": {"webSearchQueries": ["a"]}}]}
    last = {"candidates": [{"content": {"parts": [{"text": " rains."}]}, "finishReason": "STOP"}]}
    end = {"usageMetadata": USAGE, "modelVersion": "gemini-3-flash-preview"}
    reading = read(exchanged(GEMINI_STREAM, ASK, sse({**first, **end}, {**last, **end})))
    assert reading.usage is not None and reading.usage.web_searches == 1


def test_an_interaction_counts_its_searches() -> None:
    counts = [{"type": "google_search", "count": 2}, {"type": "google_maps", "count": 4}, None]
    usage = {"total_input_tokens": 4, "total_output_tokens": 2, "grounding_tool_count": counts}
    for model, searches in (("gemini-3-flash-preview", 2), ("gemini-2.5-flash", 1)):
        answer = {"id": "v1", "status": "completed", "model": model, "steps": [], "usage": usage}
        reading = read(exchanged(INTERACTIONS, {"model": model, "input": "hi"}, answer))
        assert reading.usage is not None and reading.usage.web_searches == searches


@pytest.mark.parametrize(("model", "fee"), [("gemini-3-flash-preview", "0.028"), ("gemini-2.5-flash", "0.035")])
def test_the_bill_has_the_fee_of_the_price_list(model: str, fee: str) -> None:
    made = (exchanged(GEMINI, ASK, body(queries, model, {}, {})) for queries in (["weather", "rain"], []))
    trip, bare = (replace(one, started_at=NOVEMBER) for one in made)
    with_fee, without = cost_of(trip, read(trip)), cost_of(bare, read(bare))
    assert with_fee is not None and without is not None and with_fee.parts is not None
    assert with_fee.amount - without.amount == with_fee.parts.other == Decimal(fee)


MAPS = {"maps": {"uri": "https://maps.google.com/?cid=1", "title": "Café", "placeId": "places/1"}}
OWN = {"retrievedContext": {"uri": "gs://ours/a.txt", "title": "a", "documentName": "projects/p/documents/1"}}
STORE = {"retrievedContext": {"text": "a", "fileSearchStore": "fileSearchStores/ours-1"}}
WEB = {"web": {"uri": "https://example.org", "title": "example.org"}}


@pytest.mark.parametrize(
    ("chunks", "fees"),
    [
        ([MAPS, MAPS], ("Google Maps",)),
        ([WEB, OWN, MAPS], ("Google Maps", "search in your documents")),
        ([WEB, STORE], ()),
        ([{"maps": None}, {"maps": []}, None, {"retrievedContext": 5}], ()),
        (None, ()),
    ],
)
def test_grounding_with_a_fee_that_no_list_has_makes_the_cost_a_lower_bound(
    chunks: object, fees: tuple[str, ...]
) -> None:
    trip = exchanged(GEMINI, ASK, body([], "gemini-3-flash-preview", {}, {"groundingChunks": chunks}))

    cost = cost_of(trip, read(trip))

    assert cost is not None and cost.unpriced_fees == fees


def test_maps_that_the_usage_bills_are_a_fee_too() -> None:
    billed = [{"tool": "google_maps", "successfulToolCallCount": 5}, None, {"tool": 3}]
    trip = exchanged(GEMINI, ASK, body([], "gemini-3-flash-preview", {"billedToolCalls": billed}, {}))
    usage = read(trip).usage
    assert usage is not None and usage.other_fees == ("Google Maps",)


@pytest.mark.parametrize(("count", "fees"), [(4, ("Google Maps",)), (0, ()), (None, ()), ([1], ())])
def test_an_interaction_counts_its_uses_of_maps(count: object, fees: tuple[str, ...]) -> None:
    usage = {"total_input_tokens": 4, "grounding_tool_count": [{"type": "google_maps", "count": count}]}
    answer = {"id": "v1", "status": "completed", "model": "gemini-3-flash-preview", "steps": [], "usage": usage}
    reading = read(exchanged(INTERACTIONS, {"model": "gemini-3-flash-preview", "input": "hi"}, answer))
    assert reading.usage is not None and reading.usage.other_fees == fees
