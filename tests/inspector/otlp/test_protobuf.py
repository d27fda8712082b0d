"""What is sent, decoded by the official package of the protocol."""

import json
from base64 import b64decode
from typing import Any

import pytest
import tool_tapes
from conversations import HELLO, chat, loop, said, sent
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.exporters.otel import otel
from turntape.inspector.exporters.otel_span import attributes_of, resource_spans
from turntape.inspector.otlp.protobuf import refused_in, resource_bytes, span_bytes

THEIRS = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
SPAN: dict[str, Any] = {
    "traceId": "0a" * 16,
    "spanId": "0b" * 8,
    "name": "chat",
    "kind": 3,
    "startTimeUnixNano": "1",
    "endTimeUnixNano": "2",
}


def decoded(*resources: bytes) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    request.ParseFromString(b"".join(resources))
    size = request.ByteSize()
    request.DiscardUnknownFields()
    assert request.ByteSize() == size, "every field is one of the protocol's"
    return request


def as_json(request: ExportTraceServiceRequest) -> list[dict[str, Any]]:
    """As OTLP/JSON: ids are hex there, and the names of enums are numbers."""

    def hexed(value: Any) -> Any:
        if isinstance(value, dict):
            ids = ("traceId", "spanId", "parentSpanId")
            return {k: (b64decode(v).hex() if k in ids else hexed(v)) for k, v in value.items()}
        return [hexed(one) for one in value] if isinstance(value, list) else value

    return hexed(MessageToDict(request, use_integers_for_enums=True))["resourceSpans"]


def without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_empty(v) for k, v in value.items() if v != ""}
    return [without_empty(one) for one in value] if isinstance(value, list) else value


TRIPS: list[list[RoundTrip]] = [
    loop(),
    tool_tapes.story().trips,
    [sent(trip, traceparent=THEIRS, tracestate="vendor=1") for trip in loop()],
    [chat([HELLO], said("ä\U0001f600"), temperature=0.5, seed=-7, stop=["x", ""], stream=True)],
    [chat([HELLO], error={"error": {"message": "busy", "type": "overloaded"}}, status=503)],
]


@pytest.mark.parametrize("trips", TRIPS, ids=["loop", "tools", "traceparent", "values", "error"])
def test_the_official_package_decodes_the_same_as_otlp_json_says(trips: list[RoundTrip]) -> None:
    exported = json.loads(otel(trips))["resourceSpans"]

    sent = [
        resource_bytes(resource, [span_bytes(span) for scope in resource["scopeSpans"] for span in scope["spans"]])
        for resource in exported
    ]

    assert without_empty(as_json(decoded(*sent))) == without_empty(exported)


@pytest.mark.parametrize(
    ("value", "field", "read"),
    [
        (2**63 - 1, "int_value", 2**63 - 1),
        (-(2**63), "int_value", -(2**63)),
        (2**64, "double_value", 2.0**64),
        (0, "int_value", 0),
        (False, "bool_value", False),
        ("", "string_value", ""),
        ("half \ud83d of a pair", "string_value", "half \ufffd of a pair"),
        (float("inf"), "double_value", float("inf")),
    ],
)
def test_every_value_has_its_type(value: object, field: str, read: object) -> None:
    span = {**SPAN, "attributes": attributes_of({"key": value})}

    request = decoded(resource_bytes(resource_spans("a", []), [span_bytes(span)]))

    [attribute] = request.resource_spans[0].scope_spans[0].spans[0].attributes
    assert (attribute.value.WhichOneof("value"), getattr(attribute.value, field)) == (field, read)


def test_a_time_before_1970_is_the_beginning_of_time() -> None:
    span = {**SPAN, "startTimeUnixNano": "-5", "attributes": []}

    request = decoded(resource_bytes(resource_spans("a", []), [span_bytes(span)]))

    assert request.resource_spans[0].scope_spans[0].spans[0].start_time_unix_nano == 0


def test_what_a_collector_rejects_is_read() -> None:
    answer = ExportTraceServiceResponse(
        partial_success=ExportTracePartialSuccess(rejected_spans=300, error_message="too large")
    )

    assert refused_in(answer.SerializeToString()) == (300, "too large")
    assert refused_in(ExportTraceServiceResponse().SerializeToString()) == (0, "")


@pytest.mark.parametrize("answer", [b"{}", b"\xff" * 9, b"\x0a\x7f", b"\x0b", b"<html>not found</html>"])
def test_an_answer_of_another_kind_rejects_nothing(answer: bytes) -> None:
    assert refused_in(answer) == (0, "")
