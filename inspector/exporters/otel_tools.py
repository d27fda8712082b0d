"""OpenTelemetry spans of tool runs: `execute_tool` for the model's call, and the MCP client's span below it.

Attributes of the GenAI and MCP conventions, https://github.com/open-telemetry/semantic-conventions-genai (model/mcp,
read 2026-11-22). The two spans say different things: the model's name of a tool is not the server's, and one call may
be several requests.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import cast

from turntape.cassettes.frozen import frozen
from turntape.cassettes.tape.model import RoundTrip

from ..tools.tool_run import ToolRun
from ..wire.exchange import header
from ..wire.json_value import Object, as_object, as_text, parse_json
from .otel_span import CLIENT, ERROR, INTERNAL, TraceContext, attributes_of, nanoseconds, server_of, span_id

_META_VERSION = "io.modelcontextprotocol/protocolVersion"


@frozen
class ToolRequest:
    """What the round trip of a `tools/call` says beyond the run: the transport and the user's own tracing."""

    transport: str | None
    """`pipe` or `tcp`; None in process."""
    server: dict[str, object] = field(default_factory=dict[str, object])
    """The attributes of the server's address; only over HTTP."""
    session: str | None = None
    """The session that the server gave; only over HTTP."""
    version: str | None = None
    id: object = None
    context: TraceContext | None = None

    @classmethod
    def of(cls, trip: RoundTrip) -> "ToolRequest":
        """What is read from a round trip of a tool server."""
        message = as_object(parse_json(trip.request.body))
        meta = as_object(as_object(message.get("params")).get("_meta"))
        context = TraceContext.parse(as_text(meta.get("traceparent")), as_text(meta.get("tracestate")))
        version = as_text(meta.get(_META_VERSION))
        if trip.tool_wire is not None:
            transport = "pipe" if trip.route == "stdio" else None
            return cls(transport, version=version, id=message.get("id"), context=context)
        headers = trip.request.headers
        return cls(
            "tcp",
            server_of(trip.request.url),
            header(headers, "mcp-session-id"),
            header(headers, "mcp-protocol-version") or version,
            message.get("id"),
            context or TraceContext.parse(header(headers, "traceparent"), header(headers, "tracestate")),
        )


@frozen
class ModelCalls:
    """The calls of the turn that a run was joined to."""

    names: Mapping[str | None, str]
    """The name of each tool as the model knows it, by the call's id."""
    parent: Object
    """The fields of a span beside that of the turn."""
    conversation: str


def tool_spans(
    run: ToolRun, request: ToolRequest, calls: ModelCalls | None, trace: str, content: bool
) -> Iterator[Object]:
    """The spans of one run. Without a call that it was joined to, only the MCP client's; of a run that the agent's own
    instrumentation reported, only that of the call, below the span that it had.

    `trace` is the id of the run's trace; the user's own tracing comes before it. Without `content`, arguments and
    results are left out.
    """
    context = request.context or TraceContext.parse(as_text(run.meta.get("traceparent")))
    parent = context.fields if context else calls.parent if calls else {"traceId": trace}
    started = nanoseconds(run.started_at)
    shared: Object = {
        "startTimeUnixNano": str(started),
        "endTimeUnixNano": str(started + round((run.duration_ms or 0) * 1_000_000)),
    }
    error, status = _error(run, content)
    both: dict[str, object] = {"gen_ai.operation.name": "execute_tool", **_content(run, content), **error}
    names = ("tool", run.session, run.index, run.call_id, run.name)
    reported = run.source == "span"
    if calls is not None or reported:
        name = calls.names.get(run.call_id, run.name) if calls else run.name
        identity = span_id(8, parent["traceId"], *names)
        yield {
            **parent,
            "spanId": identity,
            "name": f"execute_tool {name}",
            "kind": INTERNAL,
            **shared,
            **status,
            "attributes": attributes_of(
                {
                    **both,
                    "gen_ai.tool.name": name,
                    "gen_ai.tool.call.id": run.call_id,
                    "gen_ai.conversation.id": calls.conversation if calls else None,
                    "turntape.tool_run.joined": run.joined,
                    "turntape.tool_run.seen_as": run.seen_as,
                    "turntape.tool_run.returned_bytes": run.returned_bytes,
                    "turntape.tool_run.seen_bytes": run.seen_bytes,
                }
            ),
        }
        parent = {"traceId": parent["traceId"], "parentSpanId": identity}
    if reported:
        return
    yield {
        **parent,
        "spanId": span_id(8, parent["traceId"], "mcp", *names),
        "name": f"tools/call {run.name}",
        "kind": CLIENT,
        **shared,
        **status,
        "attributes": attributes_of({**both, **_wire(run, request)}),
    }


def _wire(run: ToolRun, request: ToolRequest) -> dict[str, object]:
    code = as_object(run.error).get("code")
    return {
        "mcp.method.name": "tools/call",
        "gen_ai.tool.name": run.name,
        "mcp.session.id": request.session,
        "mcp.protocol.version": request.version,
        "jsonrpc.request.id": None if request.id is None else str(request.id),
        "rpc.response.status_code": None if code is None else str(code),
        "network.transport": request.transport,
        "network.protocol.name": "http" if request.transport == "tcp" else None,
        **request.server,
        "turntape.round_trip": run.index,
        "turntape.tool_run.server": run.server,
    }


def _error(run: ToolRun, content: bool) -> tuple[dict[str, object], Object]:
    """The attribute and the status of a run that failed; nothing for one that did not."""
    error = as_object(run.error)
    if error:
        kind, message = str(error.get("code", "_OTHER")), as_text(error.get("message")) or ""
    elif run.outcome == "answered" and run.is_error:
        kind, message = "tool_error", ""
    elif run.outcome in ("cancelled", "unanswered"):
        kind, message = run.outcome, ""
    else:
        return {}, {}
    status: Object = {"code": ERROR, **({"message": message} if message and content else {})}
    return {"error.type": kind}, {"status": status}


def _content(run: ToolRun, content: bool) -> dict[str, object]:
    if not content:
        return {}
    result = run.result if run.result is not None else run.error
    return {
        "gen_ai.tool.call.arguments": run.arguments_raw or None,
        "gen_ai.tool.call.result": None if result is None else json.dumps(cast(object, result), ensure_ascii=False),
    }
