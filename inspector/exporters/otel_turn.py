"""The span of one turn, by the GenAI conventions: a client span without its place in a trace.

Attributes of https://github.com/open-telemetry/semantic-conventions-genai (docs/gen-ai/client-inference.md, read
2026-11-22), as far as opentelemetry-semantic-conventions 0.66b2 has them. A name that only the newer text has is not
used: the tokens written to a cache are `cache_creation`.
"""

import json
from collections.abc import Mapping, Sequence
from typing import cast

from ..run.labels import LabelledRoundTrip
from ..wire.json_value import Object, as_count, as_object, objects_in
from ..wire.providers import provider_of
from ..wire.registry import traits_of
from ..wire.values import Message, Part, Reading, RequestReading, Tool, ToolCall
from .otel_span import CLIENT, ERROR, INTERNAL, attributes_of, nanoseconds, server_of

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

_BROKEN = frozenset({"cut", "error", "cancelled"})

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


def thread_span(conversation: str, run: str | None, provider: str, turns: Sequence[Object], place: Object) -> Object:
    """The span over the turns of a thread. `place` holds its trace, and its own id as that of their parent.

    `provider` is the `provider_name` of its first turn: the conventions require one also where turns differ.
    """
    attributes: dict[str, object] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": provider,
        "gen_ai.conversation.id": conversation,
        "gen_ai.agent.name": run,
    }
    return {
        "traceId": place["traceId"],
        "spanId": place["parentSpanId"],
        "name": f"invoke_agent {run}" if run else "invoke_agent",
        "kind": INTERNAL,
        "startTimeUnixNano": min((cast(str, span["startTimeUnixNano"]) for span in turns), key=int),
        "endTimeUnixNano": max((cast(str, span["endTimeUnixNano"]) for span in turns), key=int),
        "attributes": attributes_of(attributes),
    }


def call_names(one: LabelledRoundTrip) -> dict[str | None, str]:
    """The names of the model's calls by id."""
    emission = one.reading.emission
    return {call.id: call.name for call in emission.calls} if emission else {}


def found_in(one: LabelledRoundTrip) -> list[Object]:
    """The attribute with the ids of the findings so far; none without a finding."""
    return attributes_of({"turntape.findings": [str(one["id"]) for one in objects_in(one.label["findings"])] or None})


def provider_name(reading: Reading) -> str:
    """The API by the conventions' name, else by ours."""
    return provider_of(reading.provider).telemetry or reading.provider or "unknown"


def turn_span(one: LabelledRoundTrip, content: bool) -> Object:
    """The span of a turn; without `content`, nothing of what was said, nor what the API says of an error."""
    trip, reading = one.round_trip, one.reading
    operation, model = traits_of(reading.protocol).operation, reading.request.model
    started = nanoseconds(trip.started_at)
    error, status = _error(one, content)
    attributes = _turn_attributes(one, operation) | _first_chunk(one) | (_content(reading) if content else {}) | error
    return {
        "name": f"{operation} {model}" if model else operation,
        "kind": CLIENT,
        "startTimeUnixNano": str(started),
        "endTimeUnixNano": str(started + (trip.ended_at or 0) * 1000),
        **({"status": status} if status is not None else {}),
        "attributes": attributes_of(attributes),
    }


def _turn_attributes(one: LabelledRoundTrip, operation: str) -> dict[str, object]:
    trip, reading = one.round_trip, one.reading
    request, finish = reading.request, reading.finish
    return {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": provider_name(reading),
        "gen_ai.output.type": None if request.output_format is None else "json",
        "gen_ai.request.model": request.model,
        "gen_ai.request.stream": request.streamed or None,
        "gen_ai.request.max_tokens": request.max_output,
        "gen_ai.request.stop_sequences": list(request.stop) or None,
        "gen_ai.response.id": reading.response_id,
        "gen_ai.response.model": reading.response_model,
        "gen_ai.response.finish_reasons": _finish_reasons(reading),
        **_parameters(request),
        **_usage(reading),
        **server_of(trip.request.url),
        "http.response.status_code": trip.response.status if trip.response else None,
        "turntape.round_trip": trip.index,
        "turntape.run": trip.run,
        "turntape.thread": one.turn.thread if one.turn else None,
        "turntape.turn": one.turn.number if one.turn else None,
        "turntape.finish": finish.effective if finish else None,
        "turntape.cost_usd": _dollars(one),
    }


def _dollars(one: LabelledRoundTrip) -> float | None:
    cost = one.label["cost_usd"]
    return float(cost) if isinstance(cost, str) else None


def _finish_reasons(reading: Reading) -> list[str] | None:
    """The API's own word. A stream that ended without one is an error by the conventions."""
    finish = reading.finish
    if finish is None or finish.raw:
        return [finish.raw] if finish and finish.raw else None
    return ["error"] if reading.streamed and finish.effective in _BROKEN else None


def _first_chunk(one: LabelledRoundTrip) -> dict[str, object]:
    trip = one.round_trip
    if not one.reading.streamed or trip.first_byte_at is None or trip.response is None or not trip.response.chunks:
        return {}
    return {"gen_ai.response.time_to_first_chunk": trip.response.chunks[0].at / 1_000_000}


def _error(one: LabelledRoundTrip, content: bool) -> tuple[dict[str, object], Object | None]:
    """The attribute and the status of a turn that failed; nothing for one that did not."""
    trip, error, finish = one.round_trip, one.reading.error, one.reading.finish
    if error is None and (finish is None or finish.effective not in ("error", "cut")):
        return {}, None
    http = str(trip.response.status) if trip.response and trip.response.status >= 400 else None
    failure = trip.failure.kind if trip.failure else None
    kind = (error.type or error.code if error else None) or failure or http or "_OTHER"
    message = (error.message if content else None) if error else trip.failure.message if trip.failure else ""
    return {"error.type": kind}, {"code": ERROR, **({"message": message} if message is not None else {})}


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
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning,
    }


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
