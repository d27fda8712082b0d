"""How the answer arrived: streams that are cut, stalled or malformed, or that contain an error after status 200."""

import re
from collections.abc import Iterator

from turntape.cassettes.framing import Event

from ...wire.json_value import as_array, as_count, as_object, as_text, parse_json
from ...wire.printable import several
from ...wire.values import ToolCall
from ..rule import Note, rule
from ..rule_context import RuleContext

_STALL, _LONG_STALL = 60_000_000, 300_000_000
"""Microseconds without progress."""
_EMPTY_PROGRESS = frozenset({"ping", "keepalive", "response.in_progress", "response.queued", "message_start"})


@rule(
    "api-error-in-200-stream",
    "api",
    "error",
    "P",
    says="The answer has status 200 and contains an error.",
    fix="Handle the error as if it had the status that it names; SDKs see status 200.",
)
def error_in_stream(context: RuleContext) -> Iterator[Note]:
    error = context.reading.error
    if error is None:
        return
    sentence = f"{error.type or ''} {error.message}"
    if error.in_stream:
        yield Note(
            f"the stream with status {context.status} contains an error: {sentence}", (f"{context.at} response",)
        )
    elif 200 <= (context.status or 0) < 300:
        yield Note(f"the body with status {context.status} is an error: {sentence}", (f"{context.at} response",))


def _half_written(context: RuleContext) -> ToolCall | None:
    """The call of a cut answer that was being written: not every API says where a call ends."""
    return next((call for call in context.emission.calls if not call.complete or call.arguments is None), None)


@rule(
    "client-interrupted",
    "client",
    "info",
    "P",
    says="The client closed the connection before the answer was complete.",
    fix="Nothing, if a person stopped it; otherwise look for a timeout in the client.",
)
def interrupted(context: RuleContext) -> Iterator[Note]:
    trip = context.turn.round_trip
    gone = trip.closed_first == "client" or (trip.failure is not None and trip.failure.kind == "client_gone")
    if gone and context.finish.effective in ("cut", "cancelled"):
        open_call = _half_written(context)
        half = f"; the call of {open_call.name!r} was incomplete" if open_call else ""
        yield Note(
            f"the client closed the connection before the answer was complete{half}",
            (f"{context.at} closed by client",),
        )


@rule(
    "api-stream-cut",
    "api",
    "error",
    "P",
    says="The body ended before the answer was complete.",
    fix="Send the whole turn again, and do not store the partial answer.",
    not_when=(
        "The client closed first",
        "The finish word had already arrived",
        "The answer is made in the background",
    ),
)
def stream_cut(context: RuleContext) -> Iterator[Note]:
    trip = context.turn.round_trip
    if context.finish.effective != "cut" or trip.response is None or trip.response.status >= 400:
        return
    if trip.closed_first == "client" or (trip.failure is not None and trip.failure.kind == "client_gone"):
        return
    who = " (the server closed first)" if trip.closed_first == "server" else ""
    size = len(trip.response.body)
    half = _half_written(context) is not None or trip.failure is not None or not context.emission.text
    yield Note(
        f"the answer ended after {several(size, 'byte')}, before it was complete{who}",
        (f"{context.at} response byte {size}",),
        tier="P" if half or trip.closed_first else "S",
    )


def _has_progress(event: Event) -> bool:
    if event.kind == "comment" or event.name in _EMPTY_PROGRESS:
        return False
    data = event.data.strip()
    if not data:
        return False
    body = as_object(parse_json(data))
    if as_text(body.get("type")) in _EMPTY_PROGRESS:
        return False
    choices = as_array(body.get("choices"))
    if choices:
        first = as_object(choices[0])
        delta = as_object(first.get("delta"))
        return bool(first.get("finish_reason")) or any(delta.get(key) for key in delta if key != "role")
    return True


@rule(
    "api-stream-stalled",
    "api",
    "warning",
    "P",
    says="The stream stalled: no new data for a minute or more, except keepalives.",
    fix="Use a timeout on progress, not on bytes: keepalives make a dead stream look alive.",
    not_when=("The client waits for the first token, up to five minutes",),
)
def stream_stalled(context: RuleContext) -> Iterator[Note]:
    trip = context.turn.round_trip
    if not context.reading.streamed or trip.response is None:
        return
    events = context.exchange.events
    if not any(event.at for event in events):
        return
    last, begun, worst, where = trip.first_byte_at or trip.request_at or 0, False, 0, 0
    marks = [(event.at, _has_progress(event), event.start) for event in events]
    if trip.ended_at and context.finish.effective in ("cut", "cancelled", "error"):
        marks.append((trip.ended_at, True, len(trip.response.body)))
    for at, moves, start in marks:
        if not moves:
            continue
        gap = at - last
        if (begun or gap >= _LONG_STALL) and gap > worst:
            worst, where = gap, start
        last, begun = max(last, at), True
    if worst >= _STALL:
        quiet = sum(1 for event in events if not _has_progress(event))
        yield Note(
            f"no new data for {worst / 1e6:.0f} s at byte {where}"
            + (f" ({several(quiet, 'keepalive')} in the stream)" if quiet else ""),
            (f"{context.at} response byte {where}",),
            severity="error" if worst >= _LONG_STALL else "warning",
        )


_HARMLESS = re.compile(r"share index|one index")


@rule(
    "api-malformed-stream",
    "api",
    "warning",
    "P",
    says="The answer breaks its framing: invalid JSON, deltas before their start, or a broken end.",
    fix="Report it to the provider of the gateway or server; some clients fail on such an answer.",
    not_when=("The stream was cut: its last event may be broken",),
)
def malformed_stream(context: RuleContext) -> Iterator[Note]:
    if foreign := _foreign(context):
        begins = context.exchange.response.body[:60].decode(errors="replace") if context.exchange.response else ""
        yield Note(
            f"the status is {context.status} and the body is {foreign}; it begins with {begins!r}: "
            "something other than the API answered",
            (f"{context.at} response byte 0",),
            severity="error",
        )
        return
    if not context.reading.streamed or context.finish.effective in ("cut", "cancelled"):
        return
    problems = [problem for problem in context.reading.problems if not _HARMLESS.search(problem)]
    events = context.exchange.events
    done = [event for event in events if event.data.strip() == b"[DONE]"]
    if len(done) > 1:
        problems.append(f"[DONE] arrived {len(done)} times.")
    problems += _no_utf8(events)
    kind = context.exchange.content_type
    if context.exchange.framing == "sse" and kind in _NO_STREAM:
        problems.append(f"the content type is {kind} and the body is an event stream.")
    if problems:
        yield Note(f"the stream breaks its framing: {problems[0]}", (f"{context.at} response",))
    elif blank := next((event for event in events if _BLANK_FINISH.search(event.data)), None):
        yield Note(
            "a finish word in the stream is empty; some clients treat it as the end",
            (f"{context.at} response byte {blank.start}",),
            severity="info",
        )


def _foreign(context: RuleContext) -> str | None:
    """A description of a 2xx body that cannot be this API's answer, such as a login page; None for any other body."""
    response, reading = context.exchange.response, context.reading
    if response is None or not 200 <= response.status < 300 or reading.streamed or reading.error is not None:
        return None
    if context.emission.emitted not in ("empty", "none") or context.finish.effective in ("cut", "cancelled"):
        return None
    if not response.body.strip():
        return None
    if parse_json(response.body) is None:
        return f"not JSON ({context.exchange.content_type or 'without a content type'})"
    known = (context.finish.raw, reading.usage, reading.response_id, reading.response_model)
    return "JSON without a single field of an answer" if all(one is None for one in known) else None


_NO_STREAM = frozenset({"application/json", "text/html"})
_BLANK_FINISH = re.compile(rb'"finish_reason"\s*:\s*""')


def _no_utf8(events: list[Event]) -> list[str]:
    for event in events:
        try:
            event.data.decode()
        except UnicodeDecodeError as error:
            return [f"byte {error.start} of the event at byte {event.start} is not UTF-8."]
    return []


def _collision(context: RuleContext) -> str | None:
    """How the indexes of parallel calls in a chat stream fail to distinguish them."""
    seen: dict[tuple[int, object], str] = {}
    for event in context.exchange.events:
        for choice in as_array(as_object(parse_json(event.data)).get("choices")):
            fields = as_object(choice)
            delta = as_object(fields.get("delta"))
            for item in as_array(delta.get("tool_calls")):
                call = as_object(item)
                call_id = as_text(call.get("id"))
                name = as_text(as_object(call.get("function")).get("name"))
                index = as_count(call.get("index"))
                if not call_id or call_id == "null":
                    continue
                place = (as_count(fields.get("index")) or 0, index)
                first = seen.setdefault(place, call_id)
                if first != call_id:
                    how = f"share index {index}" if index is not None else "have no index"
                    return f"the calls {first} and {call_id}{f' ({name})' if name else ''} {how}"
    return None


@rule(
    "api-tool-call-index-collision",
    "api",
    "error",
    "P",
    says="Parallel calls in a stream share an index, or have none, so clients join their arguments.",
    fix="Upgrade the server or gateway; let the client distinguish calls by id.",
)
def index_collision(context: RuleContext) -> Iterator[Note]:
    what = None
    if context.reading.streamed and context.protocol.answers.calls_by_index:
        what = _collision(context)
    joined = next(
        (c for c in context.emission.calls if c.arguments is None and re.search(r"\}\s*\{", c.arguments_raw)), None
    )
    if what is None and joined is not None and context.finish.effective not in ("cut", "cancelled"):
        pieces = re.split(r"(?<=\})\s*(?=\{)", joined.arguments_raw)
        if all(parse_json(piece) is not None for piece in pieces):
            what = f"the arguments of {joined.name!r} are {len(pieces)} JSON documents in a row"
    if what:
        calls = tuple(f"{context.at} call {call.id or call.name}" for call in context.emission.calls[:4])
        yield Note(f"{what}: clients will join their arguments", calls)


@rule(
    "api-duplicate-tool-call-id",
    "api",
    "error",
    "P",
    says="The API gave the same id to two calls, in one answer or in several.",
    fix="Make ids unique before the history is sent back; some APIs reject it otherwise.",
    not_when=(
        "The API gave the same answer again",
        "Several answers were sampled, and each has the id once",
        "The other call is of an earlier turn: then it is an info",
    ),
)
def duplicate_call_id(context: RuleContext) -> Iterator[Note]:
    seen: set[tuple[int, str]] = set()
    for call in (*context.emission.calls, *context.emission.server_calls):
        if not call.id:
            continue
        if (call.choice, call.id) in seen:
            yield Note(f"two calls of one answer have the id {call.id}", (f"{context.at} call {call.id}",))
            return
        seen.add((call.choice, call.id))
        earlier = context.thread.emitted_calls.get(call.id)
        held = call.id in context.calls or context.request.previous_id is not None
        if earlier is not None and not context.is_attempt and held:
            yield Note(
                f"the id {call.id} already belongs to a call of {earlier[1]!r} in #{earlier[0]}",
                (f"#{earlier[0]} call {call.id}", f"{context.at} call {call.id}"),
                severity="info",
            )
            return


RULES = (error_in_stream, interrupted, stream_cut, stream_stalled, malformed_stream, index_collision, duplicate_call_id)
