"""OpenTelemetry: each turn as a span by the GenAI semantic conventions, in OTLP/JSON.

Attributes of opentelemetry-semantic-conventions 0.66b2 and
https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/; the encoding of
https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding (both read 2026-11-21). A run is a trace, a thread an
`invoke_agent` span over its turns, and a turn a client span. When a tool ran does not show on the wire, so there are
no `execute_tool` spans; calls and results are in the messages.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from importlib.metadata import version
from typing import cast
from urllib.parse import urlsplit

from turntape.cassettes.tape.model import RoundTrip

from ..run.labels import Key, LabelledRoundTrip, label_stream
from ..wire.json_value import Object, as_count, as_object
from ..wire.providers import provider_of
from ..wire.registry import traits_of
from ..wire.values import Message, Part, Reading, RequestReading, Tool, ToolCall

SCHEMA = "https://opentelemetry.io/schemas/1.44.0"
_INTERNAL, _CLIENT = 1, 3
"""SpanKind."""
_ERROR = 2
"""StatusCode."""

_FINISH: dict[str, str] = {
    "complete": "stop",
    "stop_sequence": "stop",
    "tool_calls": "tool_call",
    "length": "length",
    "context_full": "length",
    "content_filter": "content_filter",
    "refusal": "content_filter",
    "error": "error",
    "malformed": "error",
}
"""The five finish words of the conventions; any other word is exported unchanged."""

_PARAMETERS: dict[str, tuple[str, type]] = {
    "temperature": ("gen_ai.request.temperature", float),
    "top_p": ("gen_ai.request.top_p", float),
    "topP": ("gen_ai.request.top_p", float),
    "top_k": ("gen_ai.request.top_k", float),
    "topK": ("gen_ai.request.top_k", float),
    "frequency_penalty": ("gen_ai.request.frequency_penalty", float),
    "presence_penalty": ("gen_ai.request.presence_penalty", float),
    "seed": ("gen_ai.request.seed", int),
}
"""Fields of a request, or of its `generationConfig`, `inferenceConfig` or `options`, and their attributes."""
_NESTED = ("generationConfig", "inferenceConfig", "options")


def otel(round_trips: Iterable[RoundTrip], *, content: bool = True) -> str:
    """The run as one line of OTLP/JSON; without `content`, it has no messages, prompts and tool definitions."""
    spans: dict[Key, Object] = {}
    threads: dict[str, list[Key]] = defaultdict(list)
    runs: dict[str, str | None] = {}
    for key, one in label_stream(round_trips):
        if one.turn is None:
            continue
        thread = one.turn.thread
        if key not in spans:
            threads[thread].append(key)
            runs[thread] = one.round_trip.run
            spans[key] = _turn_span(one, content)
    first = min((cast(str, span["startTimeUnixNano"]) for span in spans.values()), default="0")
    resource: list[Object] = []
    traces: dict[str | None, list[Object]] = defaultdict(list)
    for thread, keys in threads.items():
        trace = _id(16, "trace", runs[thread] or "", first)
        own = [spans[key] for key in keys]
        parent = _thread_span(thread, runs[thread], own, trace)
        for place, span in enumerate(own):
            span |= {"traceId": trace, "spanId": _id(8, trace, thread, place), "parentSpanId": parent["spanId"]}
        traces[runs[thread]] += [parent, *own]
    for run, found in traces.items():
        attributes = _attributes({"service.name": run or "agent"})
        scope = {"name": "turntape", "version": version("turntape")}
        resource.append(
            {
                "resource": {"attributes": attributes},
                "scopeSpans": [{"scope": scope, "spans": found, "schemaUrl": SCHEMA}],
                "schemaUrl": SCHEMA,
            }
        )
    return json.dumps({"resourceSpans": resource}, ensure_ascii=False, separators=(",", ":")) + "\n"


def _thread_span(thread: str, run: str | None, turns: list[Object], trace: str) -> Object:
    attributes: dict[str, object] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.conversation.id": thread,
        "gen_ai.agent.name": run,
    }
    return {
        "traceId": trace,
        "spanId": _id(8, trace, thread, "thread"),
        "name": f"invoke_agent {run}" if run else "invoke_agent",
        "kind": _INTERNAL,
        "startTimeUnixNano": min((cast(str, span["startTimeUnixNano"]) for span in turns), key=int),
        "endTimeUnixNano": max((cast(str, span["endTimeUnixNano"]) for span in turns), key=int),
        "attributes": _attributes(attributes),
    }


def _turn_span(one: LabelledRoundTrip, content: bool) -> Object:
    trip, reading = one.round_trip, one.reading
    operation, model = traits_of(reading.protocol).operation, reading.request.model
    # Whole microseconds first: a float of seconds has too few digits for nanoseconds.
    started = round(trip.started_at * 1_000_000) * 1000
    error, status = _error(one)
    attributes = _turn_attributes(one, operation) | _first_chunk(one) | (_content(reading) if content else {}) | error
    return {
        "traceId": "",
        "spanId": "",
        "parentSpanId": "",
        "name": f"{operation} {model}" if model else operation,
        "kind": _CLIENT,
        "startTimeUnixNano": str(started),
        "endTimeUnixNano": str(started + (trip.ended_at or 0) * 1000),
        **({"status": status} if status is not None else {}),
        "attributes": _attributes(attributes),
    }


def _turn_attributes(one: LabelledRoundTrip, operation: str) -> dict[str, object]:
    trip, reading = one.round_trip, one.reading
    request, finish = reading.request, reading.finish
    return {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": provider_of(reading.provider).telemetry or reading.provider or "unknown",
        "gen_ai.conversation.id": one.label["thread"],
        "gen_ai.request.model": request.model,
        "gen_ai.request.stream": request.streamed or None,
        "gen_ai.request.max_tokens": request.max_output,
        "gen_ai.request.stop_sequences": list(request.stop) or None,
        "gen_ai.response.id": reading.response_id,
        "gen_ai.response.model": reading.response_model,
        "gen_ai.response.finish_reasons": [finish.raw] if finish and finish.raw else None,
        **_parameters(request),
        **_usage(reading),
        **_server(trip.request.url),
        "http.response.status_code": trip.response.status if trip.response else None,
        "turntape.round_trip": trip.index,
        "turntape.finish": finish.effective if finish else None,
    }


def _first_chunk(one: LabelledRoundTrip) -> dict[str, object]:
    trip = one.round_trip
    if not one.reading.streamed or trip.first_byte_at is None or trip.response is None or not trip.response.chunks:
        return {}
    return {"gen_ai.response.time_to_first_chunk": trip.response.chunks[0].at / 1_000_000}


def _error(one: LabelledRoundTrip) -> tuple[dict[str, object], Object | None]:
    """The attribute and the status of a turn that failed; nothing for one that did not."""
    trip, error, finish = one.round_trip, one.reading.error, one.reading.finish
    if error is None and (finish is None or finish.effective not in ("error", "cut")):
        return {}, None
    http = str(trip.response.status) if trip.response and trip.response.status >= 400 else None
    failure = trip.failure.kind if trip.failure else None
    kind = (error.type or error.code if error else None) or failure or http or "_OTHER"
    message = error.message if error else trip.failure.message if trip.failure else ""
    return {"error.type": kind}, {"code": _ERROR, "message": message}


def _parameters(request: RequestReading) -> dict[str, object]:
    found: dict[str, object] = {}
    levels = [request.parameters, *(as_object(request.parameters.get(name)) for name in _NESTED)]
    for fields in levels:
        for name, (attribute, kind) in _PARAMETERS.items():
            value = fields.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool):
                found[attribute] = kind(value)
    choices = as_count(request.parameters.get("n"))
    if choices is not None and choices != 1:
        found["gen_ai.request.choice.count"] = choices
    return found


def _usage(reading: Reading) -> dict[str, object]:
    usage = reading.usage
    if usage is None:
        return {}
    return {
        "gen_ai.usage.input_tokens": usage.input,
        "gen_ai.usage.output_tokens": usage.output,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read,
        "gen_ai.usage.cache_write.input_tokens": usage.cache_write,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning,
    }


def _server(url: str) -> dict[str, object]:
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = None
    default = 443 if parts.scheme in ("https", "wss") else 80
    return {"server.address": parts.hostname, "server.port": (port or default) if parts.hostname else None}


def _content(reading: Reading) -> dict[str, object]:
    """Messages as JSON text, since span attributes are not structured everywhere."""
    request = reading.request
    system = [{"type": "text", "content": part.text} for part in request.system if part.text]
    shown: dict[str, object] = {
        "gen_ai.system_instructions": _text(system) if system else None,
        "gen_ai.input.messages": _text([_message(message) for message in request.messages]),
        "gen_ai.tool.definitions": _text([_definition(tool) for tool in request.tools]) if request.tools else None,
    }
    emission, finish = reading.emission, reading.finish
    if emission is not None and emission.emitted != "none":
        parts: list[Object] = []
        if emission.reasoning:
            parts.append({"type": "reasoning", "content": emission.reasoning})
        if text := emission.text or emission.refusal:
            parts.append({"type": "text", "content": text})
        parts += [_call(call) for call in emission.calls]
        word = _FINISH.get(finish.effective, finish.effective) if finish else "unknown"
        shown["gen_ai.output.messages"] = _text([{"role": "assistant", "parts": parts, "finish_reason": word}])
    return shown


def _message(message: Message) -> Object:
    role = message.role if message.role != "other" else "user"
    return {"role": role, "parts": [_part(part) for part in message.parts]}


def _part(part: Part) -> Object:
    if part.call is not None:
        return _call(part.call)
    if part.result is not None:
        response: Object = {"type": "tool_call_response", "response": part.result.text}
        return response | ({"id": part.result.call_id} if part.result.call_id else {})
    if part.kind in ("text", "reasoning"):
        return {"type": part.kind, "content": part.text}
    generic: Object = {"type": part.kind}
    return generic | ({"content": part.text} if part.text else {})


def _call(call: ToolCall) -> Object:
    arguments = call.arguments if call.arguments is not None else call.arguments_raw
    return {"type": "tool_call", "id": call.id, "name": call.name, "arguments": arguments}


def _definition(tool: Tool) -> Object:
    fields: Mapping[str, object] = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", **{key: value for key, value in fields.items() if value is not None}}


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _attributes(values: Mapping[str, object]) -> list[Object]:
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


def _id(size: int, *parts: object) -> str:
    """An id that is the same each time a cassette is exported."""
    return blake2b("\0".join(map(str, parts)).encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()
