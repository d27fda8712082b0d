"""The spans of a recording while it is made: a turn's when it has ended, a tool run's when it was seen by the model.

They have the ids that `turntape export --format otel` gives them, so what a collector missed can be sent later. The
span of a thread comes at the end, since it lasts as long as its turns.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterator
from typing import cast

from turntape.cassettes.frozen import mutable

from ..exporters.otel_span import TraceContext, attributes_of, conversation_of, span_id, trace_of
from ..exporters.otel_tools import ModelCalls, ToolRequest, tool_spans
from ..exporters.otel_turn import call_names, found_in, provider_name, thread_span, turn_span
from ..run.labelled import LabelledRoundTrip
from ..tools.tool_run import ToolRun
from ..wire.exchange import header
from ..wire.json_value import Object

KEPT = 1024
"""So many turns and tool requests are remembered for tool runs that come later."""
MOST_WAITING = 256
"""So many tool runs wait for the turn that shows their result; the oldest is sent without."""

type RunSpan = tuple[str | None, Object]
"""A run, and a span of it."""
type _Turn = tuple[int, str, int, int]
"""Round trip, thread, number, attempt: those of one WebSocket session have the same number of the round trip."""


@mutable
class _Thread:
    """A thread of which a turn has no parent in the user's own tracing."""

    run: str | None
    provider: str
    trace: str
    start: str
    end: str


class LiveSpans:
    """`add` labels as they are made; each returned span is complete."""

    def __init__(self, recording: str, *, content: bool = False) -> None:
        self._recording = recording
        """The id of the first segment's recording."""
        self._content = content
        self._sent: OrderedDict[_Turn, None] = OrderedDict()
        self._last: dict[str, int] = {}
        """The last turn of each thread, by its round trip."""
        self._threads: dict[str, _Thread] = {}
        self._calls: OrderedDict[int, tuple[str | None, ModelCalls]] = OrderedDict()
        """The run of each turn, and its calls."""
        self._requests: OrderedDict[int, ToolRequest] = OrderedDict()
        self._tools: OrderedDict[tuple[str, int], ToolRun] = OrderedDict()
        """Tool runs that are not sent yet, by session and round trip."""
        self._done: OrderedDict[tuple[str, int], None] = OrderedDict()

    def add(self, one: LabelledRoundTrip) -> list[RunSpan]:
        """The spans that a label completes."""
        return list(self._add(one))

    def finish(self, open_threads: Collection[str] = ()) -> list[RunSpan]:
        """The spans that the end of a segment completes; `open_threads` continue in the next one."""
        found = [span for key in list(self._tools) for span in self._tool(key)]
        for name in [name for name in self._threads if name not in open_threads]:
            found.append(self._thread_span(name))
        for name in [name for name in self._last if name not in open_threads]:
            del self._last[name]
        # The next segment counts its round trips from 0.
        for known in (self._sent, self._calls, self._requests, self._done):
            known.clear()
        return found

    def _add(self, one: LabelledRoundTrip) -> Iterator[RunSpan]:
        trip = one.round_trip
        if one.turn is not None:
            turn = (trip.index, one.turn.thread, one.turn.number, one.turn.attempt)
            if turn not in self._sent:
                before = self._last.get(one.turn.thread)
                for key in [key for key, ran in self._tools.items() if before is not None and ran.turn == before]:
                    yield from self._tool(key)
                self._last[one.turn.thread] = trip.index
                _keep(self._sent, turn, None)
                yield trip.run, self._turn(one)
        elif one.reading.kind == "tools":
            _keep(self._requests, trip.index, ToolRequest.of(trip))
        for ran in one.tool_runs:
            key = (ran.session, ran.index)
            if key not in self._done:
                self._tools[key] = ran
        while len(self._tools) > MOST_WAITING:
            yield from self._tool(next(iter(self._tools)))

    def _turn(self, one: LabelledRoundTrip) -> Object:
        trip, turn = one.round_trip, one.turn
        assert turn is not None
        span, headers = turn_span(one, self._content), trip.request.headers
        context = TraceContext.parse(header(headers, "traceparent"), header(headers, "tracestate"))
        conversation = conversation_of(self._recording, turn.thread)
        above: Object
        if context is not None:
            above = context.fields
        else:
            trace = trace_of(self._recording, trip.run)
            above = {"traceId": trace, "parentSpanId": span_id(8, self._recording, turn.thread, "thread")}
            start, end = cast(str, span["startTimeUnixNano"]), cast(str, span["endTimeUnixNano"])
            begun = _Thread(trip.run, provider_name(one.reading), trace, start, end)
            thread = self._threads.setdefault(turn.thread, begun)
            thread.start, thread.end = min(thread.start, start, key=int), max(thread.end, end, key=int)
        earlier = self._calls.get(trip.index)
        names = {**(earlier[1].names if earlier else {}), **call_names(one)}
        _keep(self._calls, trip.index, (trip.run, ModelCalls(names, above, conversation)))
        attributes = cast("list[Object]", span["attributes"])
        attributes += [*attributes_of({"gen_ai.conversation.id": conversation}), *found_in(one)]
        return {**span, **above, "spanId": span_id(8, self._recording, turn.thread, turn.number, turn.attempt)}

    def _tool(self, key: tuple[str, int]) -> Iterator[RunSpan]:
        ran = self._tools.pop(key)
        _keep(self._done, key, None)
        request = self._requests.get(ran.index, ToolRequest(None))
        run, calls = self._calls.get(-1 if ran.turn is None else ran.turn, (ran.run, None))
        for span in tool_spans(ran, request, calls, trace_of(self._recording, run), self._content):
            yield run, span

    def _thread_span(self, name: str) -> RunSpan:
        thread = self._threads.pop(name)
        times: Object = {"startTimeUnixNano": thread.start, "endTimeUnixNano": thread.end}
        place: Object = {"traceId": thread.trace, "parentSpanId": span_id(8, self._recording, name, "thread")}
        conversation = conversation_of(self._recording, name)
        return thread.run, thread_span(conversation, thread.run, thread.provider, [times], place)


def _keep[K, V](known: OrderedDict[K, V], key: K, value: V) -> None:
    """Remember a value, and forget the oldest beyond `KEPT`."""
    known[key] = value
    if len(known) > KEPT:
        known.popitem(last=False)
