"""MCP: the messages between a client and a tool server, over HTTP, stdio or in process.

They are not turns. What the tools were asked and what they returned is read by `inspector/tools`.
"""

from ...exchange import Exchange
from ...values import Kind, RequestReading, ResponseReading
from ..protocol import Protocol
from ..shared.parts import other_fields
from .api import API
from .messages import holds_mcp
from .not_read import NOT_READ
from .shape import is_mcp_request


def detect(exchange: Exchange) -> Kind | None:
    """By shape on any host and path; over stdio and in process there is nothing else."""
    if exchange.round_trip.tool_wire is not None:
        return "tools"
    request = exchange.request
    asked = is_mcp_request(exchange.method, request.headers, request.body, lambda body: exchange.body)
    return "tools" if asked or holds_mcp(exchange) else None


def read_request(exchange: Exchange) -> RequestReading:
    """The fields of the message; nothing in it is a conversation."""
    return RequestReading(parameters=other_fields(exchange.fields, frozenset({"jsonrpc"})))


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    return ResponseReading(ended=True)


MCP = Protocol(
    name="mcp",
    title="Model Context Protocol",
    spec="https://modelcontextprotocol.io/specification, versions 2024-11-05 to 2026-07-28, and mcp 2.3.0, "
    "read 2026-11-22",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    not_read=NOT_READ,
    streams=("sse",),
    api=API,
)
