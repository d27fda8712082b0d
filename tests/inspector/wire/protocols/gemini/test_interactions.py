"""Gemini Interactions: steps, states, background runs."""

from typing import Any

import pytest
from round_trips import exchanged, sse

from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import Usage

URL = "https://generativelanguage.googleapis.com/v1beta/interactions"
ASK = {"model": "gemini-3", "input": "hi", "previous_interaction_id": "v0"}


@pytest.mark.parametrize(
    ("status", "label"),
    [
        ("completed", "complete"),
        ("incomplete", "length"),
        ("budget_exceeded", "limit"),
        ("requires_continuation", "pause"),
        ("idle", "complete"),
        ("in_progress", "unknown"),
        ("failed", "error"),
        ("cancelled", "cancelled"),
    ],
)
def test_states_are_labelled(status: str, label: str) -> None:
    steps = [{"type": "model_output", "content": [{"type": "text", "text": "Hey"}]}]
    usage = {"total_input_tokens": 4, "total_output_tokens": 2, "total_thought_tokens": 5, "total_cached_tokens": 0}
    reading = read(exchanged(URL, ASK, {"id": "v1", "status": status, "steps": steps, "usage": usage}))
    assert reading.finish and reading.finish.label == label
    assert reading.usage == Usage(input=4, cache_read=0, output=7, reasoning=5)
    assert reading.request.previous_id == "v0"


def test_a_streamed_call_is_put_together() -> None:
    events: list[dict[str, Any]] = [
        {"event_type": "interaction.created", "interaction": {"id": "v1", "status": "in_progress"}},
        {"event_type": "step.start", "index": 0, "step": {"type": "function_call", "id": "f1", "name": "add"}},
        {"event_type": "step.delta", "index": 0, "delta": {"type": "arguments_delta", "arguments": '{"a":1}'}},
        {"event_type": "step.stop", "index": 0},
        {"event_type": "interaction.completed", "interaction": {"id": "v1", "status": "requires_action"}},
    ]
    reading = read(exchanged(URL, ASK, sse(*events)))
    assert reading.emission and reading.emission.calls[0].arguments == {"a": 1}
    assert reading.finish and reading.finish.label == "tool_calls"
    cut = read(exchanged(URL, ASK, sse(*events[:3])))
    assert cut.finish and cut.finish.label == "cut"
    assert cut.emission and cut.emission.emitted == "partial_call"


def test_media_that_come_in_deltas_are_in_the_answer() -> None:
    events: list[dict[str, Any]] = [
        {"event_type": "step.start", "index": 0, "step": {"type": "model_output"}},
        {"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "See: "}},
        {"event_type": "step.delta", "index": 0, "delta": {"type": "image", "mime_type": "image/png", "data": "iV"}},
        {"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "a "}},
        {"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "cat"}},
        {"event_type": "step.stop", "index": 0},
        {"event_type": "interaction.completed", "interaction": {"id": "v1", "status": "completed"}},
    ]
    emission = read(exchanged(URL, {**ASK, "stream": True}, sse(*events))).emission
    assert emission is not None
    parts = [(part.kind, part.text) for part in emission.content]
    assert parts == [("text", "See: "), ("media", "[image]"), ("text", "a cat")]


def test_an_interaction_is_continued_by_its_token_where_it_is_not_stored() -> None:
    whole = {"id": "v1", "status": "requires_continuation", "steps": [], "continuation_token": "tok"}
    assert read(exchanged(URL, ASK, whole)).answer_ids == ("v1", "tok")

    again = {"model": "gemini-3", "input": "hi", "continuation_token": "tok"}
    request = read(exchanged(URL, again, {})).request
    assert (request.continuation, request.previous_id) == ("tok", None)
    stored = read(exchanged(URL, {**again, "previous_interaction_id": "v1"}, {})).request
    assert (stored.continuation, stored.previous_id) == ("tok", "v1")


def test_only_a_function_result_is_the_clients() -> None:
    steps = [
        {"type": "function_result", "call_id": "f1", "name": "add", "result": "3"},
        {"type": "google_search_result", "call_id": "s1", "result": [{"title": "T"}]},
        {"type": "retrieval_result", "call_id": "r1"},
    ]
    request = read(exchanged(URL, {**ASK, "input": steps}, {})).request
    assert [(result.call_id, result.text) for result in request.results] == [("f1", "3")]
    assert [part.text for m in request.messages for part in m.parts][2] == "[retrieval_result]"
