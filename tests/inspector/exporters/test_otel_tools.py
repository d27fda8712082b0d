"""Tool runs as spans: the model's call, and the MCP client's request below it."""

import json
from dataclasses import replace
from typing import Any

import pytest
import tool_wire
from opentelemetry.semconv._incubating.attributes import (
    error_attributes,
    gen_ai_attributes,
    jsonrpc_attributes,
    mcp_attributes,
    network_attributes,
    rpc_attributes,
    server_attributes,
)

from turntape.inspector.exporters.otel_tools import ModelCalls, ToolRequest, tool_spans
from turntape.inspector.tools.tool_run import ToolRun

ATTRIBUTES = (
    error_attributes,
    gen_ai_attributes,
    jsonrpc_attributes,
    mcp_attributes,
    network_attributes,
    rpc_attributes,
    server_attributes,
)
RUN = ToolRun(
    index=3,
    session="a",
    server="files",
    name="read",
    arguments={"path": "x"},
    arguments_raw='{"path":"x"}',
    started_at=1_780_000_000.5,
    duration_ms=12.5,
    result={"content": [{"type": "text", "text": "hello"}]},
    is_error=False,
    outcome="answered",
    returned_bytes=49,
    returned_text="hello",
    call_id="call_1",
    turn=1,
    joined="exact",
    seen_as="equal",
    seen_bytes=5,
)
CALLS = ModelCalls({"call_1": "files_read"}, {"traceId": "1" * 32, "parentSpanId": "2" * 16}, "run/t1")
ASKED = tool_wire.asks(7, "tools/call", name="read", arguments={"path": "x"})
THEIRS = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    return {item["key"]: next(iter(item["value"].values())) for item in span["attributes"]}


def spans(run: ToolRun = RUN, request: ToolRequest | None = None, **options: Any) -> list[dict[str, Any]]:
    given = {"calls": CALLS, "trace": "9" * 32, "content": True, **options}
    return list(tool_spans(run, request or ToolRequest.of(tool_wire.stdio(ASKED)), **given))


def test_a_joined_run_is_the_models_call_above_the_clients_request() -> None:
    tool, wire = spans()

    assert (tool["name"], tool["kind"], tool["parentSpanId"]) == ("execute_tool files_read", 1, "2" * 16)
    assert (wire["name"], wire["kind"], wire["parentSpanId"]) == ("tools/call read", 3, tool["spanId"])
    assert tool["traceId"] == wire["traceId"] == "1" * 32
    assert tool["startTimeUnixNano"] == wire["startTimeUnixNano"] == "1780000000500000000"
    assert tool["endTimeUnixNano"] == "1780000000512500000"
    assert "status" not in tool
    assert attributes(tool)["gen_ai.tool.name"] == "files_read"
    assert attributes(tool)["gen_ai.tool.call.id"] == "call_1"
    assert attributes(tool)["turntape.tool_run.seen_as"] == "equal"
    assert attributes(wire)["gen_ai.tool.name"] == "read"
    assert attributes(wire)["mcp.method.name"] == "tools/call"
    assert attributes(wire)["jsonrpc.request.id"] == "7"
    assert attributes(wire)["network.transport"] == "pipe"
    assert attributes(wire)["turntape.tool_run.server"] == "files"
    for span in (tool, wire):
        assert attributes(span)["gen_ai.operation.name"] == "execute_tool"
        assert json.loads(attributes(span)["gen_ai.tool.call.arguments"]) == {"path": "x"}
        assert json.loads(attributes(span)["gen_ai.tool.call.result"]) == RUN.result


def test_a_run_that_no_call_explains_is_only_the_clients_request() -> None:
    [wire] = spans(replace(RUN, call_id=None, turn=None, joined=None), calls=None)

    assert wire["name"] == "tools/call read"
    assert wire["traceId"] == "9" * 32
    assert "parentSpanId" not in wire


def test_without_content_arguments_and_results_are_left_out() -> None:
    shown = json.dumps(spans(content=False))

    assert "hello" not in shown
    assert "path" not in shown


def test_a_request_over_http_has_its_server_and_its_session() -> None:
    _, wire = spans(request=ToolRequest.of(tool_wire.http(ASKED)))

    shown = attributes(wire)
    assert (shown["server.address"], shown["server.port"]) == ("127.0.0.1", "9000")
    assert (shown["network.transport"], shown["network.protocol.name"]) == ("tcp", "http")
    assert (shown["mcp.session.id"], shown["mcp.protocol.version"]) == ("s-1", "2025-11-25")


def test_the_version_may_be_in_the_message_and_an_error_has_its_code() -> None:
    asked = tool_wire.asks(
        7, "tools/call", name="read", _meta={"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    )
    failed = replace(RUN, outcome="failed", error={"code": -32602, "message": "no"})

    _, wire = spans(failed, ToolRequest.of(tool_wire.stdio(asked)))

    assert attributes(wire)["mcp.protocol.version"] == "2026-07-28"
    assert attributes(wire)["rpc.response.status_code"] == "-32602"


def test_the_users_own_trace_is_continued() -> None:
    asked = tool_wire.asks(7, "tools/call", name="read", _meta={"traceparent": THEIRS})

    tool, wire = spans(request=ToolRequest.of(tool_wire.stdio(asked)))

    assert (tool["traceId"], tool["parentSpanId"]) == tuple(THEIRS.split("-")[1:3])
    assert (wire["traceId"], wire["parentSpanId"]) == (tool["traceId"], tool["spanId"])


@pytest.mark.parametrize("calls", [CALLS, None])
def test_a_run_that_was_reported_as_a_span_is_below_that_span(calls: ModelCalls | None) -> None:
    [tool] = spans(replace(RUN, source="span", meta={"traceparent": THEIRS}), ToolRequest(None), calls=calls)

    assert tool["name"] == ("execute_tool files_read" if calls else "execute_tool read")
    assert (tool["traceId"], tool["parentSpanId"]) == tuple(THEIRS.split("-")[1:3])


@pytest.mark.parametrize(
    ("change", "kind", "status"),
    [
        ({"is_error": True}, "tool_error", {"code": 2}),
        (
            {"outcome": "failed", "is_error": True, "error": {"code": -32602, "message": "no such tool"}},
            "-32602",
            {"code": 2, "message": "no such tool"},
        ),
        ({"outcome": "cancelled", "is_error": None, "result": None}, "cancelled", {"code": 2}),
        ({"outcome": "unanswered", "is_error": None, "result": None}, "unanswered", {"code": 2}),
    ],
)
def test_a_failure_is_the_status_of_both_spans(change: dict[str, Any], kind: str, status: dict[str, Any]) -> None:
    both = spans(replace(RUN, **change))

    assert [span["status"] for span in both] == [status, status]
    assert [attributes(span)["error.type"] for span in both] == [kind, kind]


def test_every_name_is_one_of_the_conventions() -> None:
    known = {value for names in ATTRIBUTES for key, value in vars(names).items() if key.isupper()}
    failed = replace(RUN, outcome="failed", error={"code": -32602, "message": "no"})
    used = {
        key for s in [*spans(request=ToolRequest.of(tool_wire.http(ASKED))), *spans(failed)] for key in attributes(s)
    }

    assert len(used) > 20
    assert not {key for key in used if not key.startswith("turntape.")} - known
