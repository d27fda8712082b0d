"""Applies a fault to a recorded answer."""

from collections.abc import Callable
from dataclasses import replace

import orjson

from ..apis.interface import Documents, Edited, FaultAnswers, Json
from ..apis.lookup import api_at
from ..counted import several
from ..errors import CassetteError
from ..matching.request_key import path_key
from ..tape.model import Failure, FailureKind, Response, RoundTrip
from ..whole_number import whole_number
from .events import Piece, as_object, framing_of, pieces_of, with_pieces
from .fault import Fault

_UNANSWERED: dict[str, tuple[FailureKind, str]] = {
    "timeout": ("timeout", "no answer came in time"),
    "refused": ("refused", "the connection was refused"),
}


def faulted(trip: RoundTrip, fault: Fault) -> RoundTrip:
    """A recorded round trip with the fault in it. Raises CassetteError when its answer has no place for it."""
    answers = api_at(path_key(trip.request.url)).faults
    if (status := whole_number(fault.kind)) is not None:
        return replace(trip, response=_error(answers, status, fault.retry_after), failure=None)
    if fault.kind in _UNANSWERED:
        kind, message = _UNANSWERED[fault.kind]
        return replace(trip, response=None, failure=Failure(kind, f"{message}: a fault was injected"))
    if trip.response is None:
        raise _impossible(fault, "its turn has no recorded answer")
    return _MADE[fault.kind](trip, trip.response, fault, answers)


def _error(answers: FaultAnswers, status: int, retry_after: float | None) -> Response:
    wait = (("retry-after", f"{retry_after:g}"),) if retry_after is not None else ()
    headers = (("content-type", "application/json"), *wait)
    return Response(status, headers=headers, content=orjson.dumps(answers.error(status, retry_after)))


def _impossible(fault: Fault, reason: str) -> CassetteError:
    return CassetteError(f"the fault {fault} cannot be applied: {reason}; choose another turn or kind")


def _slow(trip: RoundTrip, response: Response, fault: Fault, answers: FaultAnswers) -> RoundTrip:
    return trip


def _before(response: Response, fault: Fault) -> tuple[list[Piece], list[Piece]]:
    """The events up to the fault, and those behind it; comments are not counted."""
    events = pieces_of(response)
    count = 0
    for place, event in enumerate(events):
        if count == fault.after:
            return events[:place], events[place:]
        count += bool(event.data)
    raise _impossible(fault, f"the answer has only {several(count, 'event')}")


def _cut(trip: RoundTrip, response: Response, fault: Fault, answers: FaultAnswers) -> RoundTrip:
    failure = Failure("cut", "the connection was closed before the end: a fault was injected")
    if not pieces_of(response):
        body = response.body
        short = replace(response, content=body[: len(body) // 2], chunks=())
    else:
        short = with_pieces(response, _before(response, fault)[0])
    return replace(trip, response=short, failure=failure, closed_first="server")


def _error_event(trip: RoundTrip, response: Response, fault: Fault, answers: FaultAnswers) -> RoundTrip:
    if answers.error_event is None or framing_of(response) != "sse":
        raise _impossible(fault, "the answer is not an event stream of a known shape")
    events, _ = _before(response, fault)
    last = Piece(answers.error_event(len(events)), at=events[-1].at if events else 0)
    return replace(trip, response=with_pieces(response, [*events, last]), failure=None)


def _malformed(trip: RoundTrip, response: Response, fault: Fault, answers: FaultAnswers) -> RoundTrip:
    if not pieces_of(response):
        body = response.body
        return replace(trip, response=replace(response, content=body[: len(body) // 2], chunks=()), failure=None)
    events, rest = _before(response, fault)
    place = next((n for n, event in enumerate(rest) if event.data), None)
    if place is None:
        raise _impossible(fault, f"the answer has only {several(fault.after, 'event')}")
    rest[place] = rest[place].broken()
    return replace(trip, response=with_pieces(response, [*events, *rest]))


def _edit(response: Response, change: Callable[[Documents], Edited]) -> Response | None:
    """The answer with its documents edited; None when the edit found nothing to change."""
    events = pieces_of(response)
    if events:
        documents = [event.json for event in events]
        changed, dropped = change(documents)
        kept = [
            event.with_document(document) if place in changed and document is not None else event
            for place, (event, document) in enumerate(zip(events, documents, strict=True))
            if place not in dropped
        ]
        return with_pieces(response, kept) if changed or dropped else None
    whole = as_object(response.body)
    try:
        parts: list[Json | None] = [whole] if whole is not None else orjson.loads(response.body)
    except orjson.JSONDecodeError:
        return None
    changed, _ = change(parts)
    if not changed:
        return None
    return replace(response, content=orjson.dumps(parts[0] if whole is not None else parts), chunks=())


def _truncated(trip: RoundTrip, response: Response, fault: Fault, answers: FaultAnswers) -> RoundTrip:
    made = _edit(response, answers.truncate) if answers.truncate else None
    if made is None:
        raise _impossible(fault, "the answer has no tool call of a known shape")
    return _relabelled(trip, made, fault, answers) if fault.finish else replace(trip, response=made)


def _relabelled(trip: RoundTrip, response: Response, fault: Fault, answers: FaultAnswers) -> RoundTrip:
    relabel, finish = answers.relabel, fault.finish or ""
    made = _edit(response, lambda documents: relabel(documents, finish)) if relabel else None
    if made is None:
        raise _impossible(fault, "the answer has no finish of a known shape")
    return replace(trip, response=made)


def _emptied(trip: RoundTrip, response: Response, fault: Fault, answers: FaultAnswers) -> RoundTrip:
    made = _edit(response, answers.empty) if answers.empty else None
    if made is None:
        raise _impossible(fault, "the answer has no known shape")
    return replace(trip, response=made)


_MADE: dict[str, Callable[[RoundTrip, Response, Fault, FaultAnswers], RoundTrip]] = {
    "slow": _slow,
    "cut": _cut,
    "error_event": _error_event,
    "malformed": _malformed,
    "truncated_arguments": _truncated,
    "finish": _relabelled,
    "empty": _emptied,
}
