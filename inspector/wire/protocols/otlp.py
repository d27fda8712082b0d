"""OpenTelemetry's protocol (OTLP over HTTP), as an exporter in the agent sends spans to `turntape run --spans`.

The requests are not turns. What they say of tools is read by `inspector/tools/spans.py`.
"""

from ..exchange import Exchange, header
from ..values import Kind, RequestReading, ResponseReading
from .protocol import Protocol

PATH_END = "/v1/traces"
"""The end of the path of every request with spans."""


def carries_spans(exchange: Exchange) -> bool:
    """True for a request with which an exporter sends spans."""
    if exchange.method != "POST" or exchange.round_trip.tool_wire is not None:
        return False
    if not exchange.path.endswith(PATH_END):
        return False
    kind = (header(exchange.request.headers, "content-type") or "").partition(";")[0].strip().lower()
    return kind == "application/x-protobuf" or (kind == "application/json" and "resourceSpans" in exchange.fields)


def detect(exchange: Exchange) -> Kind | None:
    """By path and content type on any host, since every collector has another address."""
    return "tools" if carries_spans(exchange) else None


def read_request(exchange: Exchange) -> RequestReading:
    """Nothing in it is a conversation."""
    return RequestReading()


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    return ResponseReading(ended=True)


OTLP = Protocol(
    name="otlp",
    title="OpenTelemetry (OTLP)",
    spec="https://opentelemetry.io/docs/specs/otlp/#otlphttp, read 2026-11-22",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
)
