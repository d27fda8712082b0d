"""How a tool run ends without an answer: its round trip is over, or what came was not one."""

from collections.abc import Iterator
from typing import Literal

from turntape.cassettes.errors import CassetteError
from turntape.cassettes.excerpts import cut
from turntape.cassettes.frozen import copied_with
from turntape.cassettes.tape.model import RoundTrip

from ..wire.exchange import header
from ..wire.json_value import Object, compact
from .expectations import ASKS, MAY_WAIT, PLAIN_ASKS
from .flaw import Flaw
from .run_answer import failed
from .session_state import NoteKind, Session, Stray, WireNote, is_new, key_of_id, reports_of
from .tool_messages import ToolMessage
from .tool_run import ToolRun

_MOVED, _BAD = 300, 400
"""From these statuses on, an answer sends the client elsewhere, or refuses what it sent."""
_STREAM = "text/event-stream"
_ACCEPTED = 202
"""The status under which the answer comes by another connection."""
_PATIENCE = 5_000_000
"""Microseconds. A server that has waited so long for an answer and then ends had given the client up."""


def ended(session: Session, trip: RoundTrip, notes: list[WireNote]) -> Iterator[ToolRun]:
    """The runs that a round trip ends without an answer. `notes` gets what it shows of other requests."""
    for place, asked in list(session.asked.items()):
        if asked.index != trip.index:
            continue
        run = session.runs.get(place)
        if run is None:
            notes += _of_request(session, place, asked, trip)
        else:
            done = _without_answer(run, trip)
            if done.outcome == "failed" or trip.failure is not None:
                notes += _wrong_request(session, place, asked)
            session.runs[place] = done = _at_its_end(session, place, asked, done, trip)
            yield done


def _of_request(session: Session, place: int, asked: ToolMessage, trip: RoundTrip) -> Iterator[WireNote]:
    """What the end of a round trip shows of a request that is not a call."""
    if trip.failure is None:
        if _is_whole_answer(trip) and asked.sender == "client":
            session.spent.add(place)
        return
    kind = _left_open(session, asked, trip)
    if kind is None:
        return
    if asked.sender == "client" and place in session.flaws:
        yield from _wrong_request(session, place, asked)
    else:
        yield WireNote(kind, session.server, asked.index, asked.method or "", _how_long(kind, trip))
    del session.asked[place]


def _wrong_request(session: Session, place: int, asked: ToolMessage) -> Iterator[WireNote]:
    wrong = session.flaws.get(place)
    if wrong is not None and is_new(session, "request_wrong"):
        yield WireNote("request_wrong", session.server, asked.index, asked.method or "", wrong)


def _how_long(kind: NoteKind, trip: RoundTrip) -> str:
    """How long nothing came, or that the server waited so long that it had given the client up."""
    if kind == "never_answered":
        return f"{(trip.ended_at or 0) / 1e6:.3g} s"
    waited = trip.failure is not None and trip.failure.kind == "cut" and (trip.ended_at or 0) >= _PATIENCE
    return "ended" if waited else ""


def _at_its_end(session: Session, place: int, asked: ToolMessage, run: ToolRun, trip: RoundTrip) -> ToolRun:
    """A run without an answer, with what the session shows of it until its round trip ended."""
    until = trip.started_at + (trip.ended_at or 0) / 1e6
    given_up = session.cancelled.get(key_of_id(asked.id))
    in_time = trip.failure is not None or (given_up is not None and given_up[0] <= until)
    if given_up is not None and run.started_at <= given_up[0] and in_time:
        until = given_up[0]
        took = max(round((until - run.started_at) * 1000, 3), 0.0)
        run = copied_with(run, outcome="cancelled", reason=given_up[1], duration_ms=took)
    run = copied_with(run, progressed=reports_of(session, run, until))
    if _is_whole_answer(trip):
        session.spent.add(place)
        run = copied_with(run, answer_over=run.outcome == "unanswered")
    if run.outcome != "failed" and (stray := _answer_of(session, asked, until)) is not None:
        run = copied_with(run, flaw=stray)
    return run


def _is_whole_answer(trip: RoundTrip) -> bool:
    """True for a round trip over HTTP that has all of its answer, so that nothing more comes by it.

    A stream whose events have ids is none: a client may resume it, and its server may let it do so.
    """
    is_http = trip.tool_wire is None and trip.response is not None and trip.response.status != _ACCEPTED
    return is_http and trip.failure is None and not _is_resumable(trip)


def _is_resumable(trip: RoundTrip) -> bool:
    if trip.response is None or (header(trip.response.headers, "content-type") or "").partition(";")[0] != _STREAM:
        return False
    try:
        body = trip.response.body
    except CassetteError:  # the cassette reports bodies that it cannot give
        return False
    return body.startswith(b"id:") or b"\nid:" in body


def _without_answer(run: ToolRun, trip: RoundTrip) -> ToolRun:
    failure, response = trip.failure, trip.response
    to = header(response.headers, "location") if response is not None and _MOVED <= response.status < _BAD else None
    if trip.tool_wire is None and response is not None and (response.status >= _BAD or to):
        said = f"HTTP status {response.status}" + (f", which sends it to {cut(to, 80)}" if to else "")
        error: Object = {"code": response.status, "message": said}
        took = (trip.ended_at or 0) / 1000
        return failed(run, error, took)
    if failure is None:
        return run
    if failure.kind == "client_gone":
        # Over HTTP, a client gives up on a call by closing its stream.
        took = (trip.ended_at or 0) / 1000 if trip.ended_at else None
        outcome = "cancelled" if trip.tool_wire is None else "unanswered"
        return copied_with(run, outcome=outcome, ended_by="client", duration_ms=took)
    return copied_with(run, ended_by="server")


def _left_open(
    session: Session, asked: ToolMessage, trip: RoundTrip
) -> Literal["no_answer_of_client", "ended_early", "never_answered"] | None:
    """What a request shows that is not a call and that had no answer when the connection closed."""
    left = trip.failure is not None and trip.failure.kind == "client_gone"
    if asked.sender == "server":
        answered = asked.method in ASKS or (asked.method in PLAIN_ASKS and not left)
        return "no_answer_of_client" if answered else None
    if not left:
        return "ended_early"
    given_up = key_of_id(asked.id) in session.cancelled or asked.method in MAY_WAIT
    begun = asked.method == "initialize" and session.ready_at is not None
    long = (trip.ended_at or 0) >= _PATIENCE
    return "never_answered" if long and not given_up and not begun else None


def _answer_of(session: Session, asked: ToolMessage, until: float) -> Flaw | None:
    """What the server wrote in place of the answer that a call did not get: an answer to nobody, or no message.

    An answer with the same id in another type is the call's; any other only where no second request was open.
    """
    while_open = [one for one in session.strays if asked.at <= one.at <= until]
    said = compact(asked.id).strip('"')
    for one in while_open:
        if one.id is not None and compact(one.id).strip('"') == said:
            return Flaw(f"came with the id {compact(one.id)}, and the request has {compact(asked.id)}")
    alone = all(place == asked.sequence or other.sender == "server" for place, other in session.asked.items())
    if not while_open or not alone:
        return None
    first = while_open[0]
    if first.is_message:
        return Flaw(f"came with the id {compact(first.id)}, and the request has {compact(asked.id)}")
    return Flaw(f"was not a message of MCP, but {cut(first.text, 60)!r}")


def strayed(session: Session, stray: Stray) -> Iterator[ToolRun]:
    """The runs whose answer a line was that came when nobody could take it for one. The line may be recorded later."""
    session.strays.append(stray)
    for place, run in list(session.runs.items()):
        asked = session.asked.get(place)
        until = run.started_at + (run.duration_ms or 0) / 1000
        if asked is None or run.flaw is not None or run.ended_by != "client" or not run.started_at <= stray.at <= until:
            continue
        if (wrong := _answer_of(session, asked, until)) is not None:
            session.runs[place] = done = copied_with(run, flaw=wrong)
            yield done
