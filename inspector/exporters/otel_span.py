"""Spans in OTLP/JSON: ids, attributes, and the trace context that a request brought along.

The encoding is that of https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding, the context that of
https://www.w3.org/TR/trace-context/ (both read 2026-11-22).
"""

from collections.abc import Mapping
from hashlib import blake2b
from importlib.metadata import version
from typing import cast

from turntape.cassettes.frozen import frozen
from turntape.cassettes.regex import regex
from turntape.cassettes.tape.model import split_url

from ..wire.json_value import Object

SCHEMA = "https://opentelemetry.io/schemas/1.44.0"
INTERNAL, CLIENT = 1, 3
"""SpanKind."""
ERROR = 2
"""StatusCode."""
_REMOTE_PARENT = 0x300
"""Bits of `Span.flags`: it is known whether the parent is remote, and it is."""
_TRACEPARENT = regex(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")


@frozen
class TraceContext:
    """The span of the user's own tracing that a request belongs to."""

    trace: str
    parent: str
    flags: int
    state: str | None = None

    @classmethod
    def parse(cls, parent: str | None, state: str | None = None) -> "TraceContext | None":
        """The context in `traceparent` and `tracestate`; None when there is none, or it is not valid."""
        found = _TRACEPARENT.fullmatch(parent.strip()) if parent else None
        return None if found is None else cls(found[1], found[2], int(found[3], 16), state or None)

    @property
    def fields(self) -> Object:
        """The fields of a span that is a child of this one."""
        span: Object = {"traceId": self.trace, "parentSpanId": self.parent, "flags": self.flags | _REMOTE_PARENT}
        return span | ({"traceState": self.state} if self.state else {})


def span_id(size: int, *parts: object) -> str:
    """An id of `size` bytes that is the same each time a cassette is exported."""
    return blake2b("\0".join(map(str, parts)).encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()


def trace_of(recording: str, run: str | None) -> str:
    """The id of the trace that a run is, when the user's own tracing names none."""
    return span_id(16, "trace", recording, run or "")


def conversation_of(recording: str, thread: str) -> str:
    """The conversation's id, which no other recording has."""
    return f"{recording}/{thread}"


def resource_spans(run: str | None, spans: list[Object]) -> Object:
    """The spans of one run, with the service that they are of."""
    scope: Object = {"name": "turntape", "version": version("turntape")}
    return {
        "resource": {"attributes": attributes_of({"service.name": run or "agent"})},
        "scopeSpans": [{"scope": scope, "spans": spans, "schemaUrl": SCHEMA}],
        "schemaUrl": SCHEMA,
    }


def nanoseconds(seconds: float) -> int:
    """A time. Whole microseconds first: a float of seconds has too few digits for nanoseconds."""
    return round(seconds * 1_000_000) * 1000


def server_of(url: str) -> dict[str, object]:
    """The attributes for the host of a URL and its port."""
    parts = split_url(url)
    try:
        port = parts.port
    except ValueError:
        port = None
    default = 443 if parts.scheme in ("https", "wss") else 80
    return {"server.address": parts.hostname, "server.port": (port or default) if parts.hostname else None}


def attributes_of(values: Mapping[str, object]) -> list[Object]:
    """The attributes that have a value."""
    return [{"key": key, "value": _value(value)} for key, value in values.items() if value is not None]


def _value(value: object) -> Object:
    """A value as OTLP/JSON has it: 64-bit integers are text."""
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [_value(item) for item in cast(list[object], value)]}}
        case _:
            return {"stringValue": str(value)}
