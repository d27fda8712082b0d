"""OTLP/JSON: spans by the GenAI conventions, the same each time."""

import json
from typing import Any

from conversations import HELLO, START, chat, loop, said, user
from opentelemetry.semconv._incubating.attributes import (
    error_attributes,
    gen_ai_attributes,
    http_attributes,
    server_attributes,
)

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.exporters.otel import otel

ATTRIBUTES = (error_attributes, gen_ai_attributes, http_attributes, server_attributes)


def spans(trips: list[RoundTrip], **options: Any) -> list[dict[str, Any]]:
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


NEWER = {"gen_ai.usage.cache_write.input_tokens"}
"""Names of https://github.com/open-telemetry/semantic-conventions-genai that the newest package does not have yet."""


def test_every_name_is_one_of_the_conventions() -> None:
    known = {value for names in ATTRIBUTES for key, value in vars(names).items() if key.isupper()}
    turn = chat([HELLO], said("Hi."), temperature=1, top_p=1, top_k=1, seed=7, n=2, stop=["x"], max_tokens=5)
    used = {key for span in spans([*loop(), turn]) for key in attributes(span)}

    assert len(used) > 15
    assert not {key for key in used if not key.startswith("turntape.")} - known - NEWER
    assert not NEWER & known  # then it can be removed here


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
    assert "gen_ai.output.messages" not in attributes(span)


def test_runs_are_traces_and_ids_are_the_same_each_time() -> None:
    trips = [chat([HELLO], said("Hi."), run="a"), chat([user("Ho")], said("Hi."), index=1, run="b")]

    found = spans(trips)

    assert len({span["traceId"] for span in found}) == 2
    assert len({span["spanId"] for span in found}) == 4
    assert otel(trips) == otel(trips)
