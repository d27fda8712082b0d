"""OpenTelemetry: each turn as a span by the GenAI semantic conventions, in OTLP/JSON.

Attributes of https://github.com/open-telemetry/semantic-conventions-genai (docs/gen-ai/client-inference.md, read
2026-11-22), which opentelemetry-semantic-conventions 0.66b2 has but for the newest names. A run is a trace, a thread an
`invoke_agent` span over its turns, and a turn a client span. A request that names a span of the user's own tracing
(`traceparent`) is a child of that span instead. Tool runs are in `otel_tools`.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import cast

from turntape.cassettes.tape.model import RoundTrip

from ..analysis.identity import identity
from ..run.labels import Key, LabelledRoundTrip, label_stream
from ..tools.tool_run import ToolRun
from ..wire.exchange import header
from ..wire.json_value import Object, as_count, as_object
from ..wire.providers import provider_of
from ..wire.registry import traits_of
from ..wire.values import Message, Part, Reading, RequestReading, Tool, ToolCall
from .otel_span import CLIENT, ERROR, INTERNAL, TraceContext, attributes_of, nanoseconds, server_of, span_id
from .otel_tools import ModelCalls, ToolRequest, tool_spans

SCHEMA = "https://opentelemetry.io/schemas/1.44.0"

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


def otel(round_trips: Iterable[RoundTrip], *, content: bool = True) -> str:
    """The run as one line of OTLP/JSON; without `content`, it has no prompts, messages, tools, arguments, results."""
    export = _Export(content)
    for key, one in label_stream(round_trips):
        export.add(key, one)
    resource: list[Object] = []
    for run, found in export.traces().items():
        attributes = attributes_of({"service.name": run or "agent"})
        scope = {"name": "turntape", "version": version("turntape")}
        resource.append(
            {
                "resource": {"attributes": attributes},
                "scopeSpans": [{"scope": scope, "spans": found, "schemaUrl": SCHEMA}],
                "schemaUrl": SCHEMA,
            }
        )
    return json.dumps({"resourceSpans": resource}, ensure_ascii=False, separators=(",", ":")) + "\n"


@dataclass(slots=True)
class _TurnSpan:
    """A turn, of which nothing else is kept."""

    thread: str
    index: int
    context: TraceContext | None
    """The user's own span that it belongs to."""
    session: str | None
    """The session that the client names."""
    calls: dict[str | None, str]
    """The names of the model's calls by id."""
    span: Object


class _Export:
    """The spans of a cassette. Turns are labelled again when more is known of them; their tool runs are the last."""

    def __init__(self, content: bool) -> None:
        self._content = content
        self._turns: dict[Key, _TurnSpan] = {}
        self._runs: dict[str | None, list[Key]] = defaultdict(list)
        """The round trips of each run."""
        self._tool_runs: dict[Key, tuple[ToolRun, ...]] = {}
        self._requests: dict[int, ToolRequest] = {}
        """The round trips of tool servers."""

    def add(self, key: Key, one: LabelledRoundTrip) -> None:
        """One label, or a newer one."""
        trip, known = one.round_trip, key in self._tool_runs
        self._tool_runs[key] = one.tool_runs
        if known:
            return
        if one.reading.kind == "tools":
            self._requests[trip.index] = ToolRequest.of(trip)
            self._runs[trip.run].append(key)
        elif one.turn is not None:
            headers = trip.request.headers
            emission = one.reading.emission
            self._runs[trip.run].append(key)
            self._turns[key] = _TurnSpan(
                one.turn.thread,
                trip.index,
                TraceContext.parse(header(headers, "traceparent"), header(headers, "tracestate")),
                identity(trip, one.reading).session,
                {call.id: call.name for call in emission.calls} if emission else {},
                _turn_span(one, self._content),
            )

    def traces(self) -> dict[str | None, list[Object]]:
        """The spans of each run."""
        first = min((cast(str, turn.span["startTimeUnixNano"]) for turn in self._turns.values()), default="0", key=int)
        found = {run: list(self._trace(run, keys, first)) for run, keys in self._runs.items()}
        return {run: spans for run, spans in found.items() if spans}

    def _trace(self, run: str | None, keys: list[Key], first: str) -> Iterator[Object]:
        """A run is a trace: that of the user's own tracing, where all of its requests name the same one."""
        turns = {key: self._turns[key] for key in keys if key in self._turns}
        theirs = {turn.context.trace for turn in turns.values() if turn.context}
        trace = theirs.pop() if len(theirs) == 1 else span_id(16, "trace", run or "", first)
        threads: dict[str, list[_TurnSpan]] = defaultdict(list)
        for turn in turns.values():
            threads[turn.thread].append(turn)
        placed: dict[int, ModelCalls] = {}
        for thread, own in threads.items():
            name = next((turn.session for turn in own if turn.session), None) or f"{run or 'run'}/{_clock(first)}"
            conversation = f"{name}/{thread}"
            parent: Object = {"traceId": trace, "parentSpanId": span_id(8, trace, thread, "thread")}
            alone = [turn for turn in own if turn.context is None]
            if alone:
                yield _thread_span(conversation, run, alone, parent)
            for place, turn in enumerate(own):
                above = turn.context.fields if turn.context else parent
                turn.span |= {**above, "spanId": span_id(8, above["traceId"], thread, place)}
                cast("list[Object]", turn.span["attributes"]).append(
                    *attributes_of({"gen_ai.conversation.id": conversation})
                )
                if (others := placed.get(turn.index)) is not None:  # the turns of one WebSocket session
                    turn.calls = {**others.names, **turn.calls}
                placed[turn.index] = ModelCalls(turn.calls, above, conversation)
                yield turn.span
        for key in keys:
            for ran in self._tool_runs[key]:
                request = self._requests.get(ran.index, ToolRequest(None))
                call = placed.get(ran.turn) if ran.turn is not None else None
                yield from tool_spans(ran, request, call, trace, self._content)


def _clock(nanosecond: str) -> str:
    """When the first turn of a cassette began: with the names of run and thread, no two recordings have the same."""
    return datetime.fromtimestamp(int(nanosecond) / 1_000_000_000, UTC).strftime("%Y%m%dT%H%M%S.%fZ")


def _thread_span(conversation: str, run: str | None, turns: list[_TurnSpan], place: Object) -> Object:
    attributes: dict[str, object] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.conversation.id": conversation,
        "gen_ai.agent.name": run,
    }
    spans = [turn.span for turn in turns]
    return {
        "traceId": place["traceId"],
        "spanId": place["parentSpanId"],
        "name": f"invoke_agent {run}" if run else "invoke_agent",
        "kind": INTERNAL,
        "startTimeUnixNano": min((cast(str, span["startTimeUnixNano"]) for span in spans), key=int),
        "endTimeUnixNano": max((cast(str, span["endTimeUnixNano"]) for span in spans), key=int),
        "attributes": attributes_of(attributes),
    }


def _turn_span(one: LabelledRoundTrip, content: bool) -> Object:
    trip, reading = one.round_trip, one.reading
    operation, model = traits_of(reading.protocol).operation, reading.request.model
    started = nanoseconds(trip.started_at)
    error, status = _error(one)
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
        "gen_ai.provider.name": provider_of(reading.provider).telemetry or reading.provider or "unknown",
        "gen_ai.request.model": request.model,
        "gen_ai.request.stream": request.streamed or None,
        "gen_ai.request.max_tokens": request.max_output,
        "gen_ai.request.previous_response.id": request.previous_id,
        "gen_ai.request.stop_sequences": list(request.stop) or None,
        "gen_ai.response.id": reading.response_id,
        "gen_ai.response.model": reading.response_model,
        "gen_ai.response.finish_reasons": _finish_reasons(reading),
        **_parameters(request),
        **_usage(reading),
        **server_of(trip.request.url),
        "http.response.status_code": trip.response.status if trip.response else None,
        "turntape.round_trip": trip.index,
        "turntape.finish": finish.effective if finish else None,
    }


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


def _error(one: LabelledRoundTrip) -> tuple[dict[str, object], Object | None]:
    """The attribute and the status of a turn that failed; nothing for one that did not."""
    trip, error, finish = one.round_trip, one.reading.error, one.reading.finish
    if error is None and (finish is None or finish.effective not in ("error", "cut")):
        return {}, None
    http = str(trip.response.status) if trip.response and trip.response.status >= 400 else None
    failure = trip.failure.kind if trip.failure else None
    kind = (error.type or error.code if error else None) or failure or http or "_OTHER"
    message = error.message if error else trip.failure.message if trip.failure else ""
    return {"error.type": kind}, {"code": ERROR, "message": message}


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
