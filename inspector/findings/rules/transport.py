"""How the answer arrived: streams that are cut, stalled or malformed, or that contain an error after status 200."""

from collections.abc import Iterator

from turntape.cassettes.framing import Event
from turntape.cassettes.regex import regex
from turntape.cassettes.tape.model import Response, RoundTrip

from ...analysis.turn import Turn
from ...wire.exchange import Exchange, header
from ...wire.json_value import as_array, as_object, as_text, parse_json
from ...wire.printable import several
from ...wire.socket_turn import failed_close
from ...wire.values import ToolCall
from ..memory import request_key
from ..refusals import ACCESS
from ..rule import Note, rule
from ..rule_context import RuleContext
from . import turntape_actions
from .errors import ACCESS_REFUSED, REQUEST_REJECTED, why_refused

_STALL, _LONG_STALL = 60_000_000, 300_000_000
"""Microseconds without progress."""
_PATIENT = 60.0
"""Seconds without a byte after which a client that gives up is not the cause."""
_OWN_TIMEOUTS = ("x-stainless-read-timeout", "x-stainless-timeout")
"""Headers in which SDKs state their timeout, in seconds (openai 3.54.0, anthropic 2.12.0)."""
_EMPTY_PROGRESS = frozenset({"ping", "keepalive", "response.in_progress", "response.queued", "message_start"})


@rule(
    "api-error-in-200-stream",
    "api",
    "error",
    "P",
    says="The answer has status 200, or is a message of a WebSocket session, and contains an error.",
    fix="Handle the error as if it had the status that it names; SDKs see status 200.",
)
def error_in_stream(context: RuleContext) -> Iterator[Note]:
    error = context.reading.error
    if error is None or context.has(*turntape_actions.IDS):
        return
    sentence = f"{error.type or ''} {error.message}".strip()
    if context.over_socket:
        # An error event is the only way to refuse there. If it has a status, the rules about statuses report it.
        if why_refused(context) is None:
            yield Note(f"the session contains an error: {sentence}", (f"{context.at} response",))
        return
    if not error.in_stream and not 200 <= (context.status or 0) < 300:
        return
    what = f"the {'stream' if error.in_stream else 'body'} with status {context.status}"
    yield Note(
        f"{what} {'contains' if error.in_stream else 'is'} an error: {sentence}",
        (f"{context.at} response",),
        because_of=_request_at_fault(context),
    )


def _request_at_fault(context: RuleContext) -> tuple[str, ...]:
    """What an error in an answer follows from, where the API says that the request is at fault."""
    why = why_refused(context)
    if why == "request":
        return (REQUEST_REJECTED,)
    named = context.rejection is not None and bool(context.rejection.ids)
    return (ACCESS_REFUSED,) if why in ACCESS and not named else ()


def _half_written(context: RuleContext) -> ToolCall | None:
    """The call of a cut answer that was being written: not every API says where a call ends."""
    return next((call for call in context.emission.calls if not call.complete or call.arguments is None), None)


def _client_left(trip: RoundTrip) -> bool:
    """True when the client closed the connection before the end of the answer."""
    return trip.closed_first == "client" or (trip.failure is not None and trip.failure.kind == "client_gone")


def _silence(turn: Turn) -> float | None:
    """The seconds that a client waited for nothing before it closed; None when the API sent a part of an answer."""
    trip, finish = turn.round_trip, turn.reading.finish
    if not _client_left(trip) or finish is None or finish.effective not in ("cut", "cancelled"):
        return None
    if trip.ended_at is None or (trip.response is not None and _has_substance(turn)):
        return None
    return max(0, trip.ended_at - (trip.request_at or 0)) / 1e6


def _has_substance(turn: Turn) -> bool:
    """True when some of the answer arrived, beyond its head and keepalives."""
    exchange = Exchange(turn.round_trip)
    if exchange.framing is None:
        return bool(exchange.response and exchange.response.body.strip())
    return any(_has_progress(event) for event in exchange.events)


def _own_timeout(context: RuleContext) -> float | None:
    """The timeout that the client's SDK states in a header, in seconds."""
    headers = context.turn.round_trip.request.headers
    for name in _OWN_TIMEOUTS:
        try:
            return float(header(headers, name) or "")
        except ValueError:
            continue
    return None


@rule(
    "api-no-first-byte",
    "api",
    "warning",
    "S",
    says="The client got nothing: the API sent no part of an answer before the client gave up.",
    fix="See why the server hangs. If it only needs longer, use streaming or a longer timeout in the client.",
    not_when=(
        "The client left within a minute, with no sign that a timeout ended the wait",
        "Some of the answer had arrived",
    ),
)
def no_first_byte(context: RuleContext) -> Iterator[Note]:
    waited = _silence(context.turn)
    if waited is None:
        return
    own = _own_timeout(context)
    timed_out = own is not None and own > 0 and 0.9 * own <= waited <= 1.2 * own + 1
    again = context.is_attempt and context.before is not None and _waited_alike(context.before, context.turn, waited)
    if not timed_out and not again and waited < _PATIENT:
        return
    limit = f"its timeout of {own:g} s" if timed_out else "a timeout of the client"
    second = ", as in the attempt before" if again else ""
    yield Note(
        f"the API sent nothing for {_seconds(waited)}{second}; then the client gave up. "
        f"Either the API hangs, or {limit} is too short",
        (f"{context.at} request", f"{context.at} closed by client"),
        severity="error" if waited >= _LONG_STALL / 1e6 else None,
    )


def _waited_alike(before: Turn, turn: Turn, waited: float) -> bool:
    """True when the attempt before was the same request and was given up after the same time: a timeout, no person."""
    earlier = _silence(before)
    if earlier is None or request_key(before) != request_key(turn):
        return False
    return abs(waited - earlier) <= 0.2 * waited


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"


@rule(
    "client-interrupted",
    "client",
    "info",
    "P",
    says="The client closed the connection before the answer was complete.",
    fix="Nothing, if a person stopped it; otherwise look for a timeout in the client.",
)
def interrupted(context: RuleContext) -> Iterator[Note]:
    if not _client_left(context.turn.round_trip) or context.finish.effective not in ("cut", "cancelled"):
        return
    open_call = _half_written(context)
    half = f"; the call of {open_call.name!r} was incomplete" if open_call else ""
    waited = _silence(context.turn)
    when = "before the answer was complete" if waited is None else f"after {_seconds(waited)} without any answer"
    yield Note(
        f"the client closed the connection {when}{half}",
        (f"{context.at} closed by client",),
        because_of=context.has("api-no-first-byte"),
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
    if context.finish.effective != "cut" or trip.response is None:
        return
    if _client_left(trip):
        return
    close = failed_close(trip)
    who = " (the server closed first)" if trip.closed_first == "server" else ""
    if close is not None:
        who = f" (the server closed the session with code {close.code}" + (
            f": {close.reason})" if close.reason else ")"
        )
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
    body = as_object(event.value)
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


_FRAMINGS = {
    "sse": "a stream of events (SSE)",
    "ndjson": "one JSON object in each line",
    "json-array": "a JSON array",
    "aws-event-stream": "an AWS event stream",
}
_MEDIA_TYPE = regex(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+*-]+$")
"""What a content type looks like; recorders write other words where they left it out."""
_HARMLESS = regex(r"share index|one index")


@rule(
    "api-malformed-stream",
    "api",
    "warning",
    "P",
    says="The answer breaks its framing: invalid JSON, deltas before their start, pieces of two answers, a broken end, "
    "fields of another type, or another content-encoding than its header names.",
    fix="Report it to the provider of the gateway or server; some clients fail on such an answer.",
    not_when=("The stream was cut: its last event may be broken",),
)
def malformed_stream(context: RuleContext) -> Iterator[Note]:
    response = context.exchange.response
    if response is not None and (foreign := _foreign(context, response)):
        begins = response.body[:60].decode(errors="replace")
        yield Note(
            f"the status is {context.status} and the body is {foreign}; it begins with {begins!r}: "
            "something other than the API answered",
            (f"{context.at} response byte 0",),
            severity="error",
        )
        return
    if response is not None and (named := _not_encoded(response)):
        yield Note(
            f"the content-encoding is {named!r} and the body is plain text: clients cannot decode it",
            (f"{context.at} response byte 0",),
            severity="error",
        )
        return
    kind = context.exchange.content_type
    if (
        not context.reading.streamed
        and _MEDIA_TYPE.match(kind)
        and not kind.endswith("json")
        and context.exchange.answer_fields
        and context.status == 200
    ):
        yield Note(
            f"the content type is {kind} and the body is JSON: SDKs do not parse it", (f"{context.at} response",)
        )
        return
    exchange, rules = context.spoken
    if rules.breaks is not None and context.succeeded and (found := next(iter(rules.breaks(exchange)), None)):
        yield Note(f"the answer breaks the API's format: {found}; SDKs fail on it", (f"{context.at} response",))
        return
    framing, known = context.exchange.framing, context.protocol.streams
    if context.request.streamed and framing is not None and known and framing not in known:
        yield Note(
            f"the body is {_FRAMINGS.get(framing, framing)}, where the API sends {_FRAMINGS.get(known[0], known[0])}",
            (f"{context.at} response byte 0",),
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


@rule(
    "api-no-choice",
    "api",
    "warning",
    "P",
    says="The answer has a good status and no answer of a model in it: its list of choices is empty or missing.",
    fix="Treat it as a failed request and send it again; SDKs fail when they read the first choice.",
    not_when=("The stream was cut", "The API says why: a filter, or an error"),
)
def no_choice(context: RuleContext) -> Iterator[Note]:
    holder = context.protocol.answers.holder
    if not holder or context.emission.emitted != "empty" or not context.succeeded:
        return
    if context.finish.label not in _NOT_SAID or context.finish.effective == "cut":
        return
    if context.has("api-malformed-stream"):
        return
    if context.reading.streamed and not context.protocol.answers.streams_holder:
        return
    found: object = None
    for body in map(as_object, context.exchange.bodies):
        if body.get(holder):
            return
        found = body.get(holder) if found is None else found
    what = "missing" if found is None else "empty"
    yield Note(
        f"the status is {context.status}, but {holder!r} is {what}: the answer holds nothing of a model",
        (f"{context.at} response",),
    )


_NOT_SAID = frozenset({"complete", "stop_sequence", "unknown"})
"""Finishes that give no reason for an empty answer."""


def _foreign(context: RuleContext, response: Response) -> str | None:
    """A description of a 2xx body that cannot be this API's answer, such as a login page; None for any other body."""
    reading = context.reading
    if not 200 <= response.status < 300 or reading.streamed or reading.error is not None:
        return None
    if context.emission.emitted not in ("empty", "none") or context.finish.effective == "cut":
        return None
    if not response.body.strip():
        return None
    if parse_json(response.body) is None:
        return f"not JSON ({context.exchange.content_type or 'without a content type'})"
    known = (context.finish.raw, reading.usage, reading.response_id, reading.response_model)
    return "JSON without a single field of an answer" if all(one is None for one in known) else None


_ENCODINGS = frozenset({"gzip", "x-gzip", "br", "deflate", "zstd"})
_TEXT = (b"{", b"[", b"data:", b"event:")
"""How bodies begin that are not encoded."""


def _not_encoded(response: Response) -> str | None:
    """The content-encoding of an answer whose body is not encoded; None where the recording undid one."""
    named = (header(response.headers, "content-encoding") or "").strip().lower()
    plain = response.encoding is None and response.body.lstrip().startswith(_TEXT)
    return named if named in _ENCODINGS and plain else None


_NO_STREAM = frozenset({"application/json", "text/html"})
_BLANK_FINISH = regex(rb'"finish_reason"\s*:\s*""')


def _no_utf8(events: list[Event]) -> list[str]:
    for event in events:
        try:
            event.data.decode()
        except UnicodeDecodeError as error:
            return [f"byte {error.start} of the event at byte {event.start} is not UTF-8."]
    return []


@rule(
    "api-stream-not-sent",
    "api",
    "warning",
    "P",
    says="The request asks for a stream and one whole JSON body came.",
    fix="Check the gateway between the client and the model; a client that reads events finds none and sees an empty answer.",
    not_when=("The body is an error",),
)
def stream_not_sent(context: RuleContext) -> Iterator[Note]:
    if not context.request.streamed or context.reading.streamed or context.over_socket or not context.succeeded:
        return
    if context.status != 200 or context.reading.emission is None or not context.exchange.answer_fields:
        return
    yield Note(
        "the request asks for a stream and the answer is one JSON body",
        (f"{context.at} request", f"{context.at} response"),
    )


RULES = (
    error_in_stream,
    no_first_byte,
    interrupted,
    stream_cut,
    stream_stalled,
    malformed_stream,
    no_choice,
    stream_not_sent,
)
