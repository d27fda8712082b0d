"""Spans as Protocol Buffers: the messages of OTLP that we send, from their form in OTLP/JSON.

Field numbers of https://github.com/open-telemetry/opentelemetry-proto (trace.proto, common.proto, resource.proto,
trace_service.proto of version 1.9, read 2026-11-22), the encoding of https://protobuf.dev/programming-guides/encoding/.
A span is encoded when it is queued, so that its size is known; a request is put together from such spans.
"""

import struct
from collections.abc import Iterable, Mapping
from typing import cast

from ..wire.json_value import Object, objects_in

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
"""Wire types."""
_INT64 = 1 << 63


def varint(number: int) -> bytes:
    """A number of up to 64 bits; a negative one is its two's complement."""
    number &= (1 << 64) - 1
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)


def _utf8(text: str) -> bytes:
    """UTF-8; halves of surrogate pairs, which models emit, become the replacement character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _tag(field: int, wire_type: int) -> bytes:
    return varint(field << 3 | wire_type)


def message(field: int, data: bytes) -> bytes:
    """A field that holds a message, a text or bytes."""
    return _tag(field, _BYTES) + varint(len(data)) + data


def _text(field: int, value: object) -> bytes:
    return message(field, _utf8(str(value))) if value else b""


def _id(field: int, value: object) -> bytes:
    return message(field, bytes.fromhex(value)) if isinstance(value, str) and value else b""


def _time(field: int, value: object) -> bytes:
    return _tag(field, _FIXED64) + struct.pack("<Q", min(max(int(cast(str, value)), 0), (1 << 64) - 1))


def _any(value: Mapping[str, object]) -> bytes:
    """An AnyValue. A whole number of more than 64 bits becomes a double."""
    match value:
        case {"boolValue": bool(flag)}:
            return _tag(2, _VARINT) + varint(flag)
        case {"intValue": str(digits)} if -_INT64 <= int(digits) < _INT64:
            return _tag(3, _VARINT) + varint(int(digits))
        case {"intValue": str(digits)}:
            return _tag(4, _FIXED64) + struct.pack("<d", float(digits))
        case {"doubleValue": float(number)}:
            return _tag(4, _FIXED64) + struct.pack("<d", number)
        case {"arrayValue": {"values": list()}}:
            items = objects_in(cast(Object, value["arrayValue"])["values"])
            return message(5, b"".join(message(1, _any(item)) for item in items))
        case _:
            return message(1, _utf8(str(value.get("stringValue", ""))))


def _attributes(field: int, values: object) -> bytes:
    return b"".join(
        message(field, _text(1, one["key"]) + message(2, _any(cast(Object, one["value"]))))
        for one in objects_in(values)
    )


def span_bytes(span: Object) -> bytes:
    """A Span."""
    parts = [
        _id(1, span["traceId"]),
        _id(2, span["spanId"]),
        _text(3, span.get("traceState")),
        _id(4, span.get("parentSpanId")),
        _text(5, span["name"]),
        _tag(6, _VARINT) + varint(cast(int, span["kind"])),
        _time(7, span["startTimeUnixNano"]),
        _time(8, span["endTimeUnixNano"]),
        _attributes(9, span["attributes"]),
    ]
    if isinstance(status := span.get("status"), dict):
        fields = cast(Object, status)
        parts.append(
            message(15, _text(2, fields.get("message")) + _tag(3, _VARINT) + varint(cast(int, fields["code"])))
        )
    if isinstance(flags := span.get("flags"), int):
        parts.append(_tag(16, _FIXED32) + struct.pack("<I", flags))
    return b"".join(parts)


def resource_bytes(resource: Object, spans: Iterable[bytes]) -> bytes:
    """One `resource_spans` of a request: `resource` is a ResourceSpans in OTLP/JSON whose spans are left out."""
    [scope_spans] = objects_in(resource["scopeSpans"])
    scope = cast(Object, scope_spans["scope"])
    inner = message(1, _text(1, scope["name"]) + _text(2, scope["version"]))
    inner += b"".join(message(2, span) for span in spans) + _text(3, scope_spans["schemaUrl"])
    outer = message(1, _attributes(1, cast(Object, resource["resource"])["attributes"]))
    return message(1, outer + message(2, inner) + _text(3, resource["schemaUrl"]))


def refused_in(answer: bytes) -> tuple[int, str]:
    """How many spans a collector's answer rejects, and why: `partial_success` of an ExportTraceServiceResponse."""
    try:
        partial = _fields(answer).get(1, b"")
        fields = _fields(partial if isinstance(partial, bytes) else b"")
        count, why = fields.get(1, 0), fields.get(2, b"")
    except (IndexError, ValueError):
        return 0, ""  # an answer of another kind says nothing
    return count if isinstance(count, int) else 0, why.decode("utf-8", "replace") if isinstance(why, bytes) else ""


def _fields(data: bytes) -> dict[int, int | bytes]:
    """The fields of a message; the last of each number. Raises IndexError or ValueError when it is none."""
    found: dict[int, int | bytes] = {}
    place = 0

    def number() -> int:
        nonlocal place
        value, shift = 0, 0
        while True:
            byte = data[place]
            place += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    while place < len(data):
        key = number()
        field, kind = key >> 3, key & 7
        if kind == _VARINT:
            found[field] = number()
            continue
        size = {_FIXED64: 8, _FIXED32: 4}.get(kind) or (number() if kind == _BYTES else 0)
        if not size and kind != _BYTES or place + size > len(data):
            raise ValueError("not a message")
        found[field] = data[place : place + size]
        place += size
    return found
