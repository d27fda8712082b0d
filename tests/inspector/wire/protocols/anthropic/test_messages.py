"""Anthropic Messages, streamed and whole."""

from typing import Any

import pytest
from round_trips import MESSAGES, exchanged, sse

from turntape.inspector.wire.parse import read
from turntape.inspector.wire.protocols.anthropic.answer import anthropic_usage
from turntape.inspector.wire.values import Reading, ToolChoice, Usage

ASK: dict[str, Any] = {"model": "claude-x", "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}]}


def whole(content: list[Any], stop: str | None = "end_turn", **more: Any) -> Reading:
    body = {"type": "message", "id": "msg_1", "role": "assistant", "model": "claude-x-1", "content": content}
    return read(exchanged(MESSAGES, ASK, {**body, "stop_reason": stop, **more}))


def stream(*events: dict[str, Any]) -> Reading:
    return read(exchanged(MESSAGES, {**ASK, "stream": True}, sse(*events, names=True)))


def start(**usage: int) -> dict[str, Any]:
    message = {"type": "message", "id": "msg_1", "model": "claude-x-1", "content": [], "stop_reason": None}
    return {"type": "message_start", "message": {**message, "usage": usage}}


def block(index: int, block: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, **delta: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def stopped(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def end(stop: str | None, **usage: int) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}


def verdict(reading: Reading) -> tuple[str | None, str, str, str]:
    assert reading.finish is not None
    assert reading.emission is not None
    return reading.finish.raw, reading.finish.label, reading.finish.effective, reading.emission.emitted


def test_the_request_is_read_with_pointers_calls_and_results() -> None:
    body = {
        **ASK,
        "system": [{"type": "text", "text": "be brief"}],
        "messages": [
            {"role": "user", "content": "hi"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "sig"},
                    {"type": "tool_use", "id": "t1", "name": "f", "input": {"x": 1}},
                    {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": "no"},
                    {"type": "image", "source": {}},
                ],
            },
        ],
        "tools": [
            {"name": "f", "input_schema": {"type": "object"}},
            {"type": "bash_20250124", "name": "bash"},
            {"type": "web_search_20250305", "name": "web_search"},
        ],
        "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
        "stop_sequences": ["END"],
        "thread": {"type": "continue", "previous_message_id": "msg_0"},
    }
    request = read(exchanged(MESSAGES, body, {"type": "message", "content": []})).request
    assert [p.text for p in request.system] == ["be brief"]
    assert [[(p.kind, p.pointer) for p in m.parts] for m in request.messages[1:]] == [
        [
            ("reasoning", "/messages/1/content/0"),
            ("call", "/messages/1/content/1"),
            ("call", "/messages/1/content/2"),
        ],
        [("result", "/messages/2/content/0"), ("media", "/messages/2/content/1")],
    ]
    assert [(r.call_id, r.is_error, r.text) for r in request.results] == [("t1", True, "no")]
    assert [p.call and p.call.server for p in request.messages[1].parts] == [None, False, True]
    assert [(t.name, t.server) for t in request.tools] == [("f", False), ("bash", False), ("web_search", True)]
    assert request.tool_choice == ToolChoice("required")
    assert (request.parallel_tool_calls, request.max_output, request.stop) == (False, 5, ("END",))
    assert request.previous_id == "msg_0"


@pytest.mark.parametrize(
    ("stop", "label"),
    [
        ("end_turn", "complete"),
        ("max_tokens", "length"),
        ("stop_sequence", "stop_sequence"),
        ("pause_turn", "pause"),
        ("compaction", "pause"),
        ("refusal", "refusal"),
        ("model_context_window_exceeded", "context_full"),
        ("never_seen", "unknown"),
        (None, "unknown"),
    ],
)
def test_stop_reasons(stop: str | None, label: str) -> None:
    assert verdict(whole([{"type": "text", "text": "a"}], stop))[1] == label


def test_a_refusal_carries_its_category() -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "no"}
    reading = whole([], "refusal", stop_details=details)
    assert reading.finish is not None
    assert reading.finish.detail == "cyber: no"
    assert verdict(reading) == ("refusal", "refusal", "refusal", "refusal")


def test_blocks_of_every_kind_keep_their_order_and_pointers() -> None:
    reading = whole(
        [
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "redacted_thinking", "data": "enc"},
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": 1}},
            {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
            {"type": "text", "text": "a"},
            {"type": "tool_use", "id": "t", "name": "f", "input": {}},
        ],
        "tool_use",
    )
    emission = reading.emission
    assert emission is not None
    assert [(p.kind, p.pointer) for p in emission.content][2:4] == [("call", "/content/2"), ("result", "/content/3")]
    assert (emission.text, emission.reasoning, emission.signatures) == ("a", "hm", ("sig", "enc"))
    assert [c.name for c in emission.calls] == ["f"]
    assert [c.name for c in emission.server_calls] == ["web_search"]


def test_a_stream_is_put_together() -> None:
    reading = stream(
        start(input_tokens=3, cache_read_input_tokens=4, cache_creation_input_tokens=5, output_tokens=1),
        {"type": "ping"},
        block(0, {"type": "thinking", "thinking": ""}),
        delta(0, type="thinking_delta", thinking="hm"),
        delta(0, type="signature_delta", signature="sig"),
        stopped(0),
        block(1, {"type": "tool_use", "id": "t", "name": "f", "input": {}}),
        delta(1, type="input_json_delta", partial_json=""),
        delta(1, type="input_json_delta", partial_json='{"x": '),
        delta(1, type="input_json_delta", partial_json="1}"),
        stopped(1),
        block(2, {"type": "tool_use", "id": "u", "name": "g", "input": {}}),
        stopped(2),
        end("tool_use", output_tokens=9),
        {"type": "message_stop"},
    )
    emission = reading.emission
    assert emission is not None
    assert [(c.name, c.id, c.arguments, c.arguments_raw) for c in emission.calls] == [
        ("f", "t", {"x": 1}, '{"x": 1}'),
        ("g", "u", {}, "{}"),
    ]
    assert (emission.reasoning, emission.signatures) == ("hm", ("sig",))
    assert verdict(reading) == ("tool_use", "tool_calls", "tool_calls", "calls")
    assert reading.usage == Usage(input=12, cache_read=4, cache_write=5, output=9)
    assert (reading.response_model, reading.response_id) == ("claude-x-1", "msg_1")


def test_a_stop_reason_ends_the_message_even_when_its_stop_was_lost() -> None:
    text = [start(), block(0, {"type": "text", "text": ""}), delta(0, type="text_delta", text="a"), stopped(0)]
    assert verdict(stream(*text, end("end_turn")))[2] == "complete"
    assert verdict(stream(*text))[1:] == ("cut", "cut", "text")


def test_a_call_that_the_stream_ended_inside_is_partial_and_keeps_its_text() -> None:
    reading = stream(
        start(),
        block(0, {"type": "tool_use", "id": "t", "name": "f", "input": {}}),
        delta(0, type="input_json_delta", partial_json='{"x": "unfin'),
    )
    assert verdict(reading) == (None, "cut", "cut", "partial_call")
    assert reading.emission is not None
    call = reading.emission.calls[0]
    assert (call.arguments, call.arguments_raw, call.complete) == (None, '{"x": "unfin', False)


def test_an_error_event_after_200_is_an_error() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "r"}
    reading = stream(start(), error)
    assert reading.error is not None
    assert (reading.error.type, reading.error.status, reading.error.in_stream) == ("overloaded_error", 529, True)
    assert verdict(reading)[2] == "error"


def test_usage_without_cache_counts_is_the_input_alone() -> None:
    reading = whole([{"type": "text", "text": "a"}], usage={"input_tokens": 3, "output_tokens": 4})
    assert reading.usage == Usage(input=3, output=4)


@pytest.mark.parametrize(
    ("url", "model"),
    [
        ("http://localhost:1/proxy/anthropic/v1/messages", "claude-x"),
        ("http://localhost:1/foo/messages", "claude-x"),
        ("http://localhost:1/anything", "claude-x"),
        (
            "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/anthropic/models/claude-y:streamRawPredict",
            "claude-y",
        ),
    ],
)
def test_messages_are_recognised_under_any_prefix(url: str, model: str) -> None:
    body: dict[str, Any] = {**ASK, "anthropic_version": "x"}
    if model == "claude-y":
        del body["model"]
    reading = read(exchanged(url, body, {"type": "message", "content": [], "stop_reason": "end_turn"}))
    assert (reading.protocol, reading.kind, reading.request.model) == ("anthropic-messages", "generation", model)


@pytest.mark.parametrize(("path", "kind"), [("/count_tokens", "count_tokens"), ("/batches", "batches")])
def test_the_endpoints_beside_it_have_other_kinds(path: str, kind: str) -> None:
    reading = read(exchanged(MESSAGES + path, ASK, {"input_tokens": 3}))
    assert (reading.kind, reading.emission, reading.finish) == (kind, None, None)


def test_writes_that_are_kept_for_an_hour_and_searches_are_counted() -> None:
    usage = anthropic_usage(
        {
            "input_tokens": 5,
            "cache_creation_input_tokens": 90,
            "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 70},
            "output_tokens": 3,
            "server_tool_use": {"web_search_requests": 2},
        }
    )

    assert usage == Usage(95, None, 90, 3, cache_write_1h=70, web_searches=2)


@pytest.mark.parametrize(
    ("counted", "total", "whole"),
    [
        # Of a server that took over Anthropic's fields: the cached tokens are inside, or beside.
        (100, 120, 100),
        (100, 160, 140),
        # More cached tokens than input are never inside it.
        (30, 50, 70),
        # Anthropic states no total.
        (100, None, 140),
    ],
)
def test_a_total_shows_whether_the_input_holds_the_cached_tokens(counted: int, total: int | None, whole: int) -> None:
    usage = {"input_tokens": counted, "cache_read_input_tokens": 40, "output_tokens": 20, "total_tokens": total}

    assert anthropic_usage(usage).input == whole


def test_the_terms_of_an_answer_are_read() -> None:
    answer = {
        "type": "message",
        "content": [],
        "usage": {"input_tokens": 5, "output_tokens": 3, "service_tier": "priority", "speed": "fast"},
    }

    assert read(exchanged(MESSAGES, {"messages": []}, answer)).price_terms == {
        "service_tier": "priority",
        "speed": "fast",
    }


def test_the_place_where_another_model_continues_is_named() -> None:
    block = {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}, "trigger": {"type": "refusal"}}
    emission = whole([block, {"type": "text", "text": "Hi"}], "end_turn").emission
    assert emission is not None
    assert [part.text for part in emission.content] == ["a declined; b continues", "Hi"]


@pytest.mark.parametrize(
    ("first", "last", "counts"),
    [
        ({"input_tokens": 90, "output_tokens": 1}, {"input_tokens": 0, "output_tokens": 7}, (90, 7)),
        ({"input_tokens": 0, "output_tokens": 0}, {"input_tokens": 90, "output_tokens": 7}, (90, 7)),
        ({"input_tokens": 90, "output_tokens": 9}, {"input_tokens": 80, "output_tokens": 7}, (80, 7)),
    ],
)
def test_the_end_of_a_stream_that_counts_no_input(
    first: dict[str, int], last: dict[str, int], counts: tuple[int, int]
) -> None:
    usage = stream(start(**first), end("end_turn", **last), {"type": "message_stop"}).usage

    assert usage is not None
    assert (usage.input, usage.output) == counts
