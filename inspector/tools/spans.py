"""OpenTelemetry spans of tools that an agent runs in its own process, received over OTLP, as tool runs.

The names of the attributes are those of the semantic conventions for generative AI, "Execute tool span"
(https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/#execute-tool-span, read 2026-11-22), and before them
those that libraries use instead of them: Vercel's AI SDK 7, Google ADK 2, pydantic-ai before 2, OpenInference.

A request of OTLP is JSON or protobuf (https://opentelemetry.io/docs/specs/otlp/, read 2026-11-22). Protobuf needs the
package `opentelemetry-proto`, which the extra `turntape[spans]` installs; without it such requests are not read.
"""

import base64
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from turntape.cassettes.errors import CassetteError
from turntape.cassettes.frozen import frozen
from turntape.cassettes.tape.compression import MAGIC, Decompression
from turntape.cassettes.tape.model import RoundTrip
from turntape.cassettes.tape.named_file import opened
from turntape.cassettes.tape.reader import Cassette
from turntape.cassettes.tape.trip_lines import LARGE
from turntape.cassettes.whole_number import whole_number

from ..wire.exchange import Exchange
from ..wire.json_value import Object, as_object, as_text, compact, objects_in, parse_json
from ..wire.protocols.otlp import PATH_END, carries_spans
from .tool_run import ToolRun

_NAMES = ("gen_ai.tool.name", "ai.toolCall.name", "tool.name")
CALL_ID = "gen_ai.tool.call.id"
"""The key in `ToolRun.meta` of the id of the model's call, whatever the span calls it."""
_IDS = (CALL_ID, "ai.toolCall.id", "tool_call.id")
_ARGUMENTS = (
    "gen_ai.tool.call.arguments",
    "ai.toolCall.args",
    "gcp.vertex.agent.tool_call_args",
    "tool_arguments",
    "input.value",
)
_RESULTS = (
    "gen_ai.tool.call.result",
    "ai.toolCall.result",
    "gcp.vertex.agent.tool_response",
    "tool_response",
    "output.value",
)
_KINDS = (
    ("gen_ai.operation.name", "execute_tool"),
    ("operation.name", "ai.toolCall"),
    ("ai.operationId", "ai.toolCall"),
    ("openinference.span.kind", "TOOL"),
)
"""An attribute and the value with which it says that a span is the execution of a tool."""
_ERROR = 2
"""`STATUS_CODE_ERROR`."""


@frozen
class Span:
    """One span, with what tool runs need of it."""

    trace_id: str
    """32 hexadecimal digits."""
    span_id: str
    """16 hexadecimal digits."""
    service: str
    """`service.name` of the resource; empty when it is not named."""
    started_at: float
    """Seconds since the epoch, as `ended_at`."""
    ended_at: float
    attributes: Object
    error: str | None
    """What the status or an exception event says; None when the span did not fail."""


def span_runs(round_trips: Iterable[RoundTrip]) -> Iterator[ToolRun]:
    """The tool runs that received spans describe, in the order in which they arrived. Other round trips are skipped."""
    for trip in round_trips:
        if carries_spans(Exchange(trip)):
            yield from (run for span in spans_of(trip) if (run := tool_run(span, trip.index)) is not None)


def spans_ahead(round_trips: Iterable[RoundTrip]) -> list[ToolRun]:
    """The tool runs of all spans in a recording that can be read twice.

    An exporter sends spans seconds after the tools ran, and often only at the end of the run.
    """
    match round_trips:
        case Cassette():
            return list(span_runs(round_trips.requested(PATH_END)))
        case Sequence():
            return list(span_runs(trip for trip in round_trips if PATH_END in trip.request.url))
        case _:
            return []


def spans_in(path: Path) -> list[ToolRun]:
    """As `spans_ahead`, for a file that is then followed. A file without spans is not parsed."""
    try:
        return spans_ahead(Cassette.load(path, longest=LARGE)) if _names_spans(path) else []
    except (OSError, CassetteError):
        return []  # who follows the file reports it


def _names_spans(path: Path) -> bool:
    """Whether the path of an upload of spans is anywhere in a file; only a block of it is in memory."""
    sought, end, stream = PATH_END.encode(), b"", None
    with opened(path) as file:
        rest = b""
        while block := file.read(1 << 20):
            block = rest + block
            if stream is None and not end and block.startswith(MAGIC):
                stream = Decompression()
            if stream is not None:
                plain, taken = stream.feed(block)
                rest, block = block[taken:], plain
            if sought in end + block:
                return True
            end = (end + block)[-len(sought) :]
    return False


def spans_of(trip: RoundTrip) -> list[Span]:
    """The spans of one OTLP request; none when it cannot be read."""
    body = trip.request.body
    document = as_object(parse_json(body)) or _from_protobuf(body)
    spans: list[Span] = []
    for group in objects_in(document.get("resourceSpans")):
        service = as_text(_attributes(as_object(group.get("resource"))).get("service.name")) or ""
        for scope in objects_in(group.get("scopeSpans")):
            spans += [_span(one, service) for one in objects_in(scope.get("spans"))]
    return spans


def _from_protobuf(body: bytes) -> Object:
    """The document that a protobuf request would be in JSON; empty when the library is missing or the bytes are bad."""
    try:
        from google.protobuf.json_format import MessageToDict
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    except ImportError:
        return {}
    message = ExportTraceServiceRequest()
    try:
        message.ParseFromString(body)
    except DecodeError:
        return {}
    document: Object = MessageToDict(message, use_integers_for_enums=True)
    for group in objects_in(document.get("resourceSpans")):
        for scope in objects_in(group.get("scopeSpans")):
            for span in objects_in(scope.get("spans")):
                for name in ("traceId", "spanId"):
                    # The general JSON form of protobuf has bytes in base64, that of OTLP in hexadecimal digits.
                    span[name] = base64.b64decode(as_text(span.get(name)) or "").hex()
    return document


def _span(span: Object, service: str) -> Span:
    started_at = _seconds(span.get("startTimeUnixNano"))
    return Span(
        (as_text(span.get("traceId")) or "").lower(),
        (as_text(span.get("spanId")) or "").lower(),
        service,
        started_at,
        max(_seconds(span.get("endTimeUnixNano")), started_at),
        _attributes(span),
        _error(span),
    )


def _seconds(nanoseconds: object) -> float:
    """A time of OTLP in seconds: nanoseconds since the epoch, as a number or a decimal string."""
    try:
        return int(nanoseconds) / 1e9 if isinstance(nanoseconds, int | str) else 0.0
    except (ValueError, OverflowError):
        return 0.0


def _error(span: Object) -> str | None:
    status = as_object(span.get("status"))
    if status.get("code") not in (_ERROR, "STATUS_CODE_ERROR"):
        return None
    if message := as_text(status.get("message")):
        return message
    events = objects_in(span.get("events"))
    raised = [_attributes(event) for event in events if event.get("name") == "exception"]
    return next((text for one in raised if (text := as_text(one.get("exception.message")))), "")


def _attributes(owner: Object) -> Object:
    found: Object = {}
    for one in objects_in(owner.get("attributes")):
        name = as_text(one.get("key"))
        if name:
            found[name] = _value(as_object(one.get("value")))
    return found


def _integer(text: str) -> int | None:
    size = whole_number(text.removeprefix("-"))
    return -size if size is not None and text.startswith("-") else size


def _value(value: Object) -> object:
    """A value of an attribute. Integers are strings in JSON."""
    for kind, content in value.items():
        match kind:
            case "intValue":
                return _integer(str(content)) if isinstance(content, int | str) else None
            case "arrayValue":
                return [_value(one) for one in objects_in(as_object(content).get("values"))]
            case "kvlistValue":
                pairs = objects_in(as_object(content).get("values"))
                return {as_text(one.get("key")) or "": _value(as_object(one.get("value"))) for one in pairs}
            case _:
                return content
    return None


def tool_run(span: Span, index: int) -> ToolRun | None:
    """The tool run that a span describes; None for any other span. `index` is the round trip that brought it."""
    attributes = span.attributes
    if not any(attributes.get(name) == value for name, value in _KINDS):
        return None
    name = _first(attributes, _NAMES)
    if not isinstance(name, str) or not name:
        return None
    arguments = _parsed(_first(attributes, _ARGUMENTS))
    result = _first(attributes, _RESULTS)
    text = result if isinstance(result, str) else None if result is None else compact(result)
    failed = span.error is not None
    call_id = _first(attributes, _IDS)
    trace = f"00-{span.trace_id}-{span.span_id}-01"
    return ToolRun(
        source="span",
        index=index,
        session=f"{span.trace_id}-{span.span_id}",
        server=span.service or "process",
        name=name,
        arguments=arguments,
        arguments_raw="" if arguments is None else compact(arguments),
        started_at=span.started_at,
        duration_ms=round((span.ended_at - span.started_at) * 1e3, 3),
        result=None if text is None else {"content": [{"type": "text", "text": text}]},
        error={"message": span.error} if failed and text is None else None,
        is_error=failed,
        outcome="answered",
        returned_bytes=None if text is None else len(text.encode(errors="surrogatepass")),
        returned_text=span.error if text is None else text,
        exchanges=(index,),
        meta={CALL_ID: call_id, "traceparent": trace} if call_id else {"traceparent": trace},
    )


def _first(attributes: Object, names: Iterable[str]) -> object:
    return next((attributes[name] for name in names if attributes.get(name) is not None), None)


def _parsed(arguments: object) -> object:
    """Arguments as JSON: instrumentations write them as text."""
    if not isinstance(arguments, str):
        return arguments
    parsed = parse_json(arguments)
    return arguments if parsed is None else parsed
