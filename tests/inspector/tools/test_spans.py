"""Spans of tools as tool runs: the real exporter's bytes, the JSON form, and spans of other things."""

import json
from typing import Any

import pytest
from factories import round_trip
from hypothesis import given
from hypothesis import strategies as st

from turntape.cassettes import RoundTrip
from turntape.inspector.tools.spans import span_runs, spans_of
from turntape.inspector.wire.parse import read

JSON = (("content-type", "application/json"),)
PROTOBUF = (("Content-Type", "application/x-protobuf"),)
URL = "http://127.0.0.1:8484/otlp/v1/traces"
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "add"}


def attribute(name: str, value: Any) -> dict[str, Any]:
    kind = {str: "stringValue", bool: "boolValue", int: "intValue", float: "doubleValue"}[type(value)]
    return {"key": name, "value": {kind: str(value) if kind == "intValue" else value}}


def span(attributes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "traceId": "0AF7651916CD43DD8448EB211C80319C",
        "spanId": "b7ad6b7169203331",
        "startTimeUnixNano": "1780000000500000000",
        "endTimeUnixNano": "1780000001750000000",
        "attributes": [attribute(name, value) for name, value in attributes.items()],
        **more,
    }


def request(*spans: dict[str, Any], service: str = "agent") -> RoundTrip:
    resource = {"attributes": [attribute("service.name", service)]}
    body = {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": list(spans)}]}]}
    return round_trip(json.dumps(body).encode(), url=URL, headers=JSON, index=4)


def runs(*spans: dict[str, Any]) -> list[Any]:
    return list(span_runs([request(*spans)]))


def test_a_tool_span_is_a_run() -> None:
    (run,) = runs(
        span(
            TOOL
            | {
                "gen_ai.tool.call.id": "call_1",
                "gen_ai.tool.call.arguments": '{"a": 1, "b": "é"}',
                "gen_ai.tool.call.result": "3",
            }
        )
    )
    assert (run.index, run.server, run.name, run.meta.get("gen_ai.tool.call.id")) == (4, "agent", "add", "call_1")
    assert run.arguments == {"a": 1, "b": "é"} and run.arguments_raw == '{"a":1,"b":"é"}'
    assert (run.started_at, run.duration_ms) == (1_780_000_000.5, 1250.0)
    assert (run.outcome, run.is_error, run.returned_text, run.returned_bytes) == ("answered", False, "3", 1)
    assert run.session == "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331" and run.exchanges == (4,)


@pytest.mark.parametrize(
    "attributes",
    [
        {"operation.name": "ai.toolCall", "ai.toolCall.name": "add", "ai.toolCall.id": "c"}
        | {"ai.toolCall.args": '{"a":1}', "ai.toolCall.result": "2"},
        TOOL
        | {"gen_ai.tool.call.id": "c", "gcp.vertex.agent.tool_call_args": '{"a":1}'}
        | {"gcp.vertex.agent.tool_response": "2"},
        {"openinference.span.kind": "TOOL", "tool.name": "add", "tool_call.id": "c", "input.value": '{"a":1}'}
        | {"output.value": "2"},
        TOOL | {"gen_ai.tool.call.id": "c", "tool_arguments": '{"a":1}', "tool_response": "2"},
    ],
)
def test_names_that_libraries_use(attributes: dict[str, Any]) -> None:
    (run,) = runs(span(attributes))
    assert (run.name, run.meta["gen_ai.tool.call.id"], run.arguments, run.returned_text) == ("add", "c", {"a": 1}, "2")


@pytest.mark.parametrize(
    "attributes",
    [
        {"gen_ai.operation.name": "chat", "gen_ai.tool.name": "add"},
        {"gen_ai.operation.name": "execute_tool"},
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": 5},
        {"tool.name": "add"},
        {"openinference.span.kind": "LLM", "tool.name": "add"},
        {},
    ],
)
def test_other_spans_are_not_runs(attributes: dict[str, Any]) -> None:
    assert runs(span(attributes)) == []


@pytest.mark.parametrize(
    ("more", "is_error", "text"),
    [
        ({"status": {"code": 2, "message": "boom"}}, True, "boom"),
        ({"status": {"code": "STATUS_CODE_ERROR", "message": "boom"}}, True, "boom"),
        (
            {
                "status": {"code": 2},
                "events": [
                    {"name": "other"},
                    {"name": "exception", "attributes": [attribute("exception.message", "no")]},
                ],
            },
            True,
            "no",
        ),
        ({"status": {"code": 1, "message": "boom"}}, False, None),
        ({"status": {}}, False, None),
        ({}, False, None),
    ],
)
def test_a_failed_tool_is_an_error(more: dict[str, Any], is_error: bool, text: str | None) -> None:
    (run,) = runs(span(TOOL, **more))
    assert (run.is_error, run.returned_text) == (is_error, text)
    assert run.returned_bytes is None and run.arguments is None and run.arguments_raw == ""


def test_arguments_that_are_not_json_stay_text() -> None:
    (run,) = runs(span(TOOL | {"gen_ai.tool.call.arguments": "a=1"}))
    assert run.arguments == "a=1"


def test_structured_attributes_are_read() -> None:
    inner = {"kvlistValue": {"values": [attribute("a", 1), {"key": "b", "value": {"arrayValue": {"values": []}}}]}}
    one = span(TOOL)
    one["attributes"] += [
        {"key": "gen_ai.tool.call.arguments", "value": inner},
        {
            "key": "gen_ai.tool.call.result",
            "value": {"arrayValue": {"values": [{"intValue": "7"}, {"boolValue": True}]}},
        },
    ]
    (run,) = runs(one)
    assert run.arguments == {"a": 1, "b": []} and run.returned_text == "[7,true]"


def test_bytes_of_the_real_exporter() -> None:
    encoder = pytest.importorskip("opentelemetry.exporter.otlp.proto.common.trace_encoder", reason="no OTLP exporter")
    trace = pytest.importorskip("opentelemetry.sdk.trace", reason="no OpenTelemetry SDK")
    export = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
    simple = pytest.importorskip("opentelemetry.sdk.trace.export")
    memory = export.InMemorySpanExporter()
    provider = trace.TracerProvider()
    provider.add_span_processor(simple.SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("test")
    with tracer.start_as_current_span("chat"), tracer.start_as_current_span("execute_tool add") as open_span:
        open_span.set_attributes({**TOOL, "gen_ai.tool.call.arguments": '{"a":[1]}', "n": [1, 2]})
        context = open_span.get_span_context()
    body = encoder.encode_spans(memory.get_finished_spans()).SerializeToString()
    trip = round_trip(body, url=URL, headers=PROTOBUF, index=0)
    assert len(spans_of(trip)) == 2
    (run,) = span_runs([trip])
    assert run.session == f"{context.trace_id:032x}-{context.span_id:016x}"
    assert run.arguments == {"a": [1]} and run.duration_ms is not None and run.duration_ms >= 0


@pytest.mark.parametrize(
    ("url", "headers", "body", "expected"),
    [
        (URL, JSON, b'{"resourceSpans":[]}', True),
        (URL, (("content-type", "application/json; charset=utf-8"),), b'{"resourceSpans":[]}', True),
        (URL, PROTOBUF, b"", True),
        (URL, JSON, b'{"spans":[]}', False),
        (URL, (("content-type", "text/plain"),), b'{"resourceSpans":[]}', False),
        (URL.replace("traces", "logs"), PROTOBUF, b"", False),
    ],
)
def test_which_requests_carry_spans(url: str, headers: Any, body: bytes, expected: bool) -> None:
    assert (read(round_trip(body, url=url, headers=headers)).protocol == "otlp") == expected


NAMES = (
    "resourceSpans",
    "scopeSpans",
    "spans",
    "resource",
    "attributes",
    "key",
    "value",
    "stringValue",
    "intValue",
    "kvlistValue",
    "values",
    "arrayValue",
    "status",
    "code",
    "events",
    "startTimeUnixNano",
    "traceId",
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(NAMES),
            inner,
            max_size=4,
        )
    ),
    max_leaves=30,
)


@given(json_values)
def test_odd_json_is_never_an_exception(value: Any) -> None:
    body = json.dumps(
        {"resourceSpans": [value, {"scopeSpans": [{"spans": [value, span(TOOL) | {"attributes": value}]}]}]}
    )
    trip = round_trip(body.encode(), url=URL, headers=JSON, index=0)
    list(span_runs([trip]))


@given(st.binary(max_size=200))
def test_odd_bytes_are_never_an_exception(body: bytes) -> None:
    list(span_runs([round_trip(body, url=URL, headers=PROTOBUF, index=0)]))
