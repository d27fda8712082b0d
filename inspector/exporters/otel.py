"""OpenTelemetry: each turn as a span by the GenAI semantic conventions, in OTLP/JSON.

A run is a trace, a thread an `invoke_agent` span over its turns, and a turn a client span (`otel_turn`). A request that
names a span of the user's own tracing (`traceparent`) is a child of that span instead. Tool runs are in `otel_tools`.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import cast

from turntape.cassettes.frozen import mutable
from turntape.cassettes.tape.carried import carried
from turntape.cassettes.tape.model import RoundTrip
from turntape.cassettes.tape.reader import Cassette
from turntape.cassettes.tape.recording_id import recording_id

from ..run.labels import Key, LabelledRoundTrip, label_stream
from ..tools.tool_run import ToolRun
from ..wire.exchange import header
from ..wire.json_value import Object
from .otel_span import TraceContext, attributes_of, conversation_of, resource_spans, span_id, trace_of
from .otel_tools import ModelCalls, ToolRequest, tool_spans
from .otel_turn import call_names, found_in, provider_name, thread_span, turn_span


def otel(round_trips: Iterable[RoundTrip], *, content: bool = True) -> str:
    """The run as one line of OTLP/JSON; without `content`, it has no prompts, messages, tools, arguments, results."""
    export = _Export(content)
    for key, one in label_stream(round_trips):
        export.add(key, one)
    recording = _recording(round_trips)
    found = [resource_spans(run, spans) for run, spans in export.traces(recording).items()]
    return json.dumps({"resourceSpans": found}, ensure_ascii=False, separators=(",", ":")) + "\n"


def _recording(round_trips: Iterable[RoundTrip]) -> str:
    """The id of the recording; of the first segment's for a later one. Without a file, from the first round trip."""
    file = round_trips if isinstance(round_trips, Cassette) and round_trips.header else None
    trips = round_trips if file is None else file.with_carried()
    first = next((mark.recording for trip in trips if (mark := carried(trip)) and mark.recording), None)
    if first is not None or file is not None:
        return first or recording_id(file.header if file else {})
    return recording_id({"started_at": min((trip.started_at for trip in round_trips), default=0)})


@mutable
class _TurnSpan:
    """A turn, of which nothing else is kept."""

    thread: str
    number: int
    attempt: int
    index: int
    context: TraceContext | None
    """The user's own span that it belongs to."""
    provider: str
    calls: dict[str | None, str]
    """The names of the model's calls by id."""
    span: Object
    findings: list[Object]


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
            if key in self._turns:
                self._turns[key].findings = found_in(one)
            return
        if one.reading.kind == "tools":
            self._requests[trip.index] = ToolRequest.of(trip)
            self._runs[trip.run].append(key)
        elif one.turn is not None:
            headers = trip.request.headers
            self._runs[trip.run].append(key)
            self._turns[key] = _TurnSpan(
                one.turn.thread,
                one.turn.number,
                one.turn.attempt,
                trip.index,
                TraceContext.parse(header(headers, "traceparent"), header(headers, "tracestate")),
                provider_name(one.reading),
                call_names(one),
                turn_span(one, self._content),
                found_in(one),
            )

    def traces(self, recording: str) -> dict[str | None, list[Object]]:
        """The spans of each run."""
        found = {run: list(self._trace(run, keys, recording)) for run, keys in self._runs.items()}
        return {run: spans for run, spans in found.items() if spans}

    def _trace(self, run: str | None, keys: list[Key], recording: str) -> Iterator[Object]:
        """A run is a trace: that of the user's own tracing, where all of its requests name the same one."""
        turns = {key: self._turns[key] for key in keys if key in self._turns}
        theirs = {turn.context.trace for turn in turns.values() if turn.context}
        trace = theirs.pop() if len(theirs) == 1 else trace_of(recording, run)
        threads: dict[str, list[_TurnSpan]] = defaultdict(list)
        for turn in turns.values():
            threads[turn.thread].append(turn)
        placed: dict[int, ModelCalls] = {}
        for thread, own in threads.items():
            conversation = conversation_of(recording, thread)
            parent: Object = {"traceId": trace, "parentSpanId": span_id(8, recording, thread, "thread")}
            alone = [turn for turn in own if turn.context is None]
            if alone:
                yield thread_span(conversation, run, alone[0].provider, [turn.span for turn in alone], parent)
            for turn in own:
                above = turn.context.fields if turn.context else parent
                turn.span |= {**above, "spanId": span_id(8, recording, thread, turn.number, turn.attempt)}
                attributes = cast("list[Object]", turn.span["attributes"])
                attributes += [*attributes_of({"gen_ai.conversation.id": conversation}), *turn.findings]
                if (others := placed.get(turn.index)) is not None:  # the turns of one WebSocket session
                    turn.calls = {**others.names, **turn.calls}
                placed[turn.index] = ModelCalls(turn.calls, above, conversation)
                yield turn.span
        for key in keys:
            for ran in self._tool_runs[key]:
                request = self._requests.get(ran.index, ToolRequest(None))
                call = placed.get(ran.turn) if ran.turn is not None else None
                yield from tool_spans(ran, request, call, trace, self._content)
