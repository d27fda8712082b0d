"""OTLP/JSON: spans by the GenAI conventions, the same each time."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tool_tapes
from conversations import HELLO, START, chat, loop, said, sent, user
from opentelemetry.semconv._incubating.attributes import (
    error_attributes,
    gen_ai_attributes,
    http_attributes,
    server_attributes,
)

from turntape.cassettes.recording.recorder import Recorder
from turntape.cassettes.tape.model import Chunk, Failure, Response, RoundTrip
from turntape.cassettes.tape.reader import Cassette
from turntape.cassettes.tape.recording_id import recording_id
from turntape.inspector.exporters.otel import otel

ATTRIBUTES = (error_attributes, gen_ai_attributes, http_attributes, server_attributes)


def spans(trips: Iterable[RoundTrip], **options: Any) -> list[dict[str, Any]]:
    found = json.loads(otel(trips, **options))["resourceSpans"]
    return [span for resource in found for scope in resource["scopeSpans"] for span in scope["spans"]]


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    return {item["key"]: next(iter(item["value"].values())) for item in span["attributes"]}


def test_a_turn_is_a_client_span_under_its_thread() -> None:
    thread, first, _ = spans(loop())

    assert (thread["name"], thread["kind"], thread.get("parentSpanId")) == ("invoke_agent", 1, None)
    assert (first["name"], first["kind"], first["parentSpanId"]) == ("chat gpt-5", 3, thread["spanId"])
    assert first["traceId"] == thread["traceId"]
    assert (len(first["traceId"]), len(first["spanId"])) == (32, 16)
    assert first["startTimeUnixNano"] == str(int(START) * 10**9)
    assert first["endTimeUnixNano"] == str(int(START) * 10**9 + 250_000_000)


def test_attributes_are_those_of_the_conventions() -> None:
    reported = attributes(spans([chat([HELLO], said("Hi."), temperature=1, seed=7, n=2, stop=["x"], max_tokens=5)])[1])

    assert reported["gen_ai.operation.name"] == "chat"
    assert reported["gen_ai.provider.name"] == "openai"
    assert reported["gen_ai.request.model"] == "gpt-5"
    assert reported["gen_ai.response.model"] == "gpt-5-2025-08-07"
    assert reported["gen_ai.request.temperature"] == 1.0
    assert reported["gen_ai.request.seed"] == "7"
    assert reported["gen_ai.request.choice.count"] == "2"
    assert reported["gen_ai.request.max_tokens"] == "5"
    assert reported["gen_ai.response.finish_reasons"] == {"values": [{"stringValue": "stop"}]}
    assert reported["gen_ai.usage.input_tokens"] == "100"
    assert reported["gen_ai.usage.cache_read.input_tokens"] == "0"
    assert (reported["server.address"], reported["server.port"]) == ("api.openai.com", "443")


def test_a_thread_names_the_provider_and_a_turn_the_form_of_its_output() -> None:
    thread, turn = spans([chat([HELLO], said("{}"), response_format={"type": "json_object"})])

    assert attributes(thread)["gen_ai.provider.name"] == "openai"
    assert attributes(turn)["gen_ai.output.type"] == "json"
    assert "gen_ai.output.type" not in attributes(spans(loop())[1])


def test_values_have_their_types() -> None:
    span = spans([chat([HELLO], said("Hi."), temperature=1, seed=7, stop=["x"], stream=True)])[1]
    types = {item["key"]: next(iter(item["value"])) for item in span["attributes"]}

    assert types["gen_ai.request.temperature"] == "doubleValue"
    assert types["gen_ai.request.seed"] == "intValue"
    assert types["gen_ai.request.stream"] == "boolValue"
    assert types["gen_ai.request.stop_sequences"] == "arrayValue"
    assert types["gen_ai.request.model"] == "stringValue"


def test_every_name_is_one_of_the_conventions() -> None:
    known = {value for names in ATTRIBUTES for key, value in vars(names).items() if key.isupper()}
    turn = chat([HELLO], said("Hi."), temperature=1, top_p=1, top_k=1, seed=7, n=2, stop=["x"], max_tokens=5, index=2)
    used = {key for span in spans([*loop(), turn]) for key in attributes(span)}

    assert len(used) > 15
    assert not {key for key in used if not key.startswith("turntape.")} - known


def test_messages_keep_to_their_schema() -> None:
    reported = attributes(spans(loop())[2])

    _, call, result = json.loads(reported["gen_ai.input.messages"])
    assert call["parts"] == [{"type": "tool_call", "id": "call_1", "name": "look_up", "arguments": {"word": "tape"}}]
    assert result["parts"] == [
        {"type": "tool_call_response", "id": "call_1", "response": "a strip that holds a recording"}
    ]
    [output] = json.loads(reported["gen_ai.output.messages"])
    assert output == {
        "role": "assistant",
        "parts": [{"type": "text", "content": "It holds a recording."}],
        "finish_reason": "stop",
    }


def test_without_content_nothing_that_was_said_is_in_it() -> None:
    shown = otel(loop(), content=False)

    assert "tape" not in shown.replace("turntape", "")
    assert "gen_ai.usage.input_tokens" in shown


def test_an_error_is_the_status_of_its_span() -> None:
    [_, span] = spans([chat([HELLO], error={"error": {"message": "busy", "type": "overloaded"}}, status=503)])

    assert span["status"] == {"code": 2, "message": "busy"}
    assert attributes(span)["error.type"] == "overloaded"
    [_, quiet] = spans(
        [chat([HELLO], error={"error": {"message": "busy", "type": "overloaded"}}, status=503)], content=False
    )
    assert quiet["status"] == {"code": 2}  # what the API says of an error may quote the prompt
    assert "gen_ai.output.messages" not in attributes(span)


THEIRS = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_a_request_of_the_users_own_trace_continues_it() -> None:
    first, second = loop()

    one, two = spans([sent(first, traceparent=THEIRS, tracestate="vendor=1"), sent(second, traceparent=THEIRS)])

    assert (one["traceId"], one["parentSpanId"]) == tuple(THEIRS.split("-")[1:3])
    assert (one["flags"], one["traceState"]) == (0x301, "vendor=1")
    assert (two["traceId"], two["parentSpanId"], two["name"]) == (one["traceId"], one["parentSpanId"], "chat gpt-5")
    assert "traceState" not in two
    assert one["spanId"] != two["spanId"]


def test_turns_without_a_trace_join_the_only_one_of_their_run() -> None:
    first, second = loop()

    thread, one, two = spans([sent(first, traceparent=THEIRS), second])

    assert thread["traceId"] == one["traceId"] == two["traceId"] == THEIRS.split("-")[1]
    assert one["parentSpanId"] == THEIRS.split("-")[2]
    assert two["parentSpanId"] == thread["spanId"]
    assert thread["startTimeUnixNano"] == two["startTimeUnixNano"]


@pytest.mark.parametrize("parent", ["", "nonsense", THEIRS.replace("0af7651916cd43dd8448eb211c80319c", "0" * 32)])
def test_a_context_that_is_not_valid_is_not_continued(parent: str) -> None:
    thread, *turns = spans([sent(trip, traceparent=parent) for trip in loop()])

    assert {turn["parentSpanId"] for turn in turns} == {thread["spanId"]}


def test_a_conversation_has_an_id_that_no_other_recording_has(tmp_path: Path) -> None:
    def conversations(trips: Iterable[RoundTrip]) -> set[str]:
        return {attributes(span)["gen_ai.conversation.id"] for span in spans(trips)}

    def recorded(name: str) -> Cassette:
        with Recorder(tmp_path / name) as recorder:
            for trip in loop():
                recorder.write(trip)
        return Cassette.load(tmp_path / name)

    one, other = recorded("one.jsonl"), recorded("other.jsonl")
    later = [chat([HELLO], said("Hi."), at=50)]
    two = [*loop(), chat([user("Ho")], said("Hi."), index=2)]

    assert conversations(one) == {f"{recording_id(one.header)}/t1"}
    assert not conversations(one) & conversations(other)
    assert not conversations(loop()) & conversations(later)
    assert len(conversations(two)) == 2
    assert conversations([sent(trip, x_claude_code_session_id="s-7") for trip in one]) != {"s-7/t1"}


def test_a_stream_that_broke_off_has_the_finish_reason_error() -> None:
    data = b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Hal"}}]}\n\n'
    answer = Response(200, "OK", (("content-type", "text/event-stream"),), data, (Chunk(len(data), 250_000),))
    cut = replace(chat([HELLO], stream=True), response=answer, failure=Failure("cut", "gone"), closed_first="server")

    [_, span] = spans([cut])

    assert attributes(span)["gen_ai.response.finish_reasons"] == {"values": [{"stringValue": "error"}]}
    assert "gen_ai.response.finish_reasons" not in attributes(spans([chat([HELLO], failure=Failure("dns", "no"))])[1])


def test_runs_are_traces_and_ids_are_the_same_each_time() -> None:
    trips = [chat([HELLO], said("Hi."), run="a"), chat([user("Ho")], said("Hi."), index=1, run="b")]

    found = spans(trips)

    assert len({span["traceId"] for span in found}) == 2
    assert len({span["spanId"] for span in found}) == 4
    assert otel(trips) == otel(trips)


def test_tool_runs_are_spans_beside_the_turn_that_called_them() -> None:
    found = spans(tool_tapes.story().trips)
    thread = next(span for span in found if span["name"] == "invoke_agent")

    assert [span["name"] for span in found] == [
        "invoke_agent",
        *["chat gpt-5"] * 3,
        "execute_tool mcp__files__read",
        "tools/call read",
        "execute_tool mcp__files__search",
        "tools/call search",
        "execute_tool mcp__files__write",
        "tools/call write",
        "tools/call stop",
    ]
    tools = [span for span in found if span["name"].startswith("execute_tool")]
    assert {span["parentSpanId"] for span in tools} == {thread["spanId"]}
    assert {span["traceId"] for span in found} == {thread["traceId"]}
    assert len({span["spanId"] for span in found}) == len(found)
    assert "parentSpanId" not in found[-1]
    assert attributes(tools[2])["error.type"] == "tool_error"
