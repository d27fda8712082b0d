"""What a fault makes of a recorded answer."""

from collections.abc import Callable
from dataclasses import replace

import orjson

from ..errors import CassetteError
from ..matching.request_key import path_key
from ..tape.model import Failure, FailureKind, Response, RoundTrip
from .apis import Documents, Edited, Shape, shape_of
from .events import Event, Json, answered, as_object, events_of, is_sse
from .fault import Fault

_UNANSWERED: dict[str, tuple[FailureKind, str]] = {
    "timeout": ("timeout", "no answer came in time"),
    "refused": ("refused", "the connection was refused"),
}


def faulted(trip: RoundTrip, fault: Fault) -> RoundTrip:
    """A recorded round trip with the fault in it. Raises CassetteError when its answer has no place for it."""
    shape = shape_of(path_key(trip.request.url))
    if fault.kind.isdigit():
        return replace(trip, response=_error(shape, int(fault.kind), fault.retry_after), failure=None)
    if fault.kind in _UNANSWERED:
        kind, message = _UNANSWERED[fault.kind]
        return replace(trip, response=None, failure=Failure(kind, f"{message}: a fault was put there"))
    if trip.response is None:
        raise _impossible(fault, "its turn has no recorded answer")
    return _MADE[fault.kind](trip, trip.response, fault, shape)


def _error(shape: Shape, status: int, retry_after: float | None) -> Response:
    wait = (("retry-after", f"{retry_after:g}"),) if retry_after is not None else ()
    headers = (("content-type", "application/json"), *wait)
    return Response(status, headers=headers, content=orjson.dumps(shape.error(status, retry_after)))


def _impossible(fault: Fault, reason: str) -> CassetteError:
    return CassetteError(f"the fault {fault} cannot be made: {reason}; choose another turn or kind")


def _slow(trip: RoundTrip, response: Response, fault: Fault, shape: Shape) -> RoundTrip:
    return trip


def _before(response: Response, fault: Fault) -> tuple[list[Event], list[Event]]:
    """The events up to the fault, and those behind it; comments are not counted."""
    events = events_of(response)
    count = 0
    for place, event in enumerate(events):
        if count == fault.after:
            return events[:place], events[place:]
        count += bool(event.data)
    if count <= fault.after:
        raise _impossible(fault, f"the answer has only {count} events")
    return events, []


def _cut(trip: RoundTrip, response: Response, fault: Fault, shape: Shape) -> RoundTrip:
    failure = Failure("cut", "the connection was closed before the end: a fault was put there")
    if not events_of(response):
        body = response.body
        short = replace(response, content=body[: len(body) // 2], chunks=())
    else:
        short = answered(response, _before(response, fault)[0])
    return replace(trip, response=short, failure=failure, closed_first="server")


def _error_event(trip: RoundTrip, response: Response, fault: Fault, shape: Shape) -> RoundTrip:
    if shape.error_event is None or not is_sse(response):
        raise _impossible(fault, "the answer is no event stream of a known shape")
    events, _ = _before(response, fault)
    last = Event(shape.error_event(len(events)), events[-1].at if events else 0)
    return replace(trip, response=answered(response, [*events, last]), failure=None)


def _malformed(trip: RoundTrip, response: Response, fault: Fault, shape: Shape) -> RoundTrip:
    if not events_of(response):
        body = response.body
        return replace(trip, response=replace(response, content=body[: len(body) // 2], chunks=()), failure=None)
    events, rest = _before(response, fault)
    place = next((n for n, event in enumerate(rest) if event.data), None)
    if place is None:
        raise _impossible(fault, f"the answer has only {fault.after} events")
    rest[place] = rest[place].broken()
    return replace(trip, response=answered(response, [*events, *rest]))


def _edit(response: Response, change: Callable[[Documents], Edited]) -> Response | None:
    """The answer with its documents edited; None when the edit found nothing to change."""
    events = events_of(response)
    if events:
        documents = [event.json for event in events]
        changed, dropped = change(documents)
        kept = [
            event.saying(document) if place in changed and document is not None else event
            for place, (event, document) in enumerate(zip(events, documents, strict=True))
            if place not in dropped
        ]
        return answered(response, kept) if changed or dropped else None
    whole = as_object(response.body)
    try:
        parts: list[Json | None] = [whole] if whole is not None else orjson.loads(response.body)
    except orjson.JSONDecodeError:
        return None
    changed, _ = change(parts)
    if not changed:
        return None
    return replace(response, content=orjson.dumps(parts[0] if whole is not None else parts), chunks=())


def _truncated(trip: RoundTrip, response: Response, fault: Fault, shape: Shape) -> RoundTrip:
    made = _edit(response, shape.truncate) if shape.truncate else None
    if made is None:
        raise _impossible(fault, "the answer has no tool call of a known shape")
    return _relabelled(trip, made, fault, shape) if fault.finish else replace(trip, response=made)


def _relabelled(trip: RoundTrip, response: Response, fault: Fault, shape: Shape) -> RoundTrip:
    relabel, finish = shape.relabel, fault.finish or ""
    made = _edit(response, lambda documents: relabel(documents, finish)) if relabel else None
    if made is None:
        raise _impossible(fault, "the answer has no finish of a known shape")
    return replace(trip, response=made)


def _emptied(trip: RoundTrip, response: Response, fault: Fault, shape: Shape) -> RoundTrip:
    made = _edit(response, shape.empty) if shape.empty else None
    if made is None:
        raise _impossible(fault, "the answer is of no known shape")
    return replace(trip, response=made)


_MADE: dict[str, Callable[[RoundTrip, Response, Fault, Shape], RoundTrip]] = {
    "slow": _slow,
    "cut": _cut,
    "error_event": _error_event,
    "malformed": _malformed,
    "truncated_arguments": _truncated,
    "finish": _relabelled,
    "empty": _emptied,
}
