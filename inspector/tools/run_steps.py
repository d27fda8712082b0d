"""How messages of a session begin, change and end its tool runs."""

import math
from collections.abc import Iterator
from typing import Literal

from turntape.cassettes.errors import CassetteError
from turntape.cassettes.excerpts import cut
from turntape.cassettes.frozen import copied_with
from turntape.cassettes.tape.model import RoundTrip

from ..wire.exchange import header
from ..wire.json_value import Object, as_object, as_text, compact, is_object
from .definitions import Definition
from .flaw import Flaw
from .form import flaw_of
from .message_forms import breaks, wrong_reply
from .returned import error_message, returned_of
from .session_state import Sent, Session, Stray, WireNote, is_new, key_of_id, reports_of
from .tool_messages import ToolMessage
from .tool_run import Departure, ToolRun

ASKS = frozenset({"elicitation/create", "sampling/createMessage"})
"""Requests of a server that a person or a model must answer."""
PLAIN_ASKS = frozenset({"ping", "roots/list"})
"""Requests of a server that the client answers without asking anybody."""
_MOVED, _BAD = 300, 400
"""From these statuses on, an answer sends the client elsewhere, or refuses what it sent."""
_STREAM = "text/event-stream"
_ACCEPTED = 202
"""The status under which the answer comes by another connection."""
_PATIENCE = 5_000_000
"""Microseconds. A server that has waited so long for an answer and then ends had given the client up."""
_MOST_IDS = 2_000
"""So many of the newest ids of a session are known."""
_EXACT = 2**53
"""A larger number is not the same in every JSON parser."""


def called(session: Session, message: ToolMessage, known: Definition | None, wrong: str | None) -> ToolRun:
    """The run that a `tools/call` begins, or continues; `wrong`: how the request breaks the rules."""
    params = message.params
    state = as_text(params.get("requestState"))
    lost = None
    if state is None and "inputResponses" in params:
        state = _stateless(params)
    if "inputResponses" in params and state not in session.waiting:
        state, lost = _other_state(session, params, state)
    place = session.waiting.pop(state, None) if state is not None else None
    earlier = session.runs.pop(place, None) if place is not None else None
    if earlier is not None:
        run = copied_with(earlier, outcome="unanswered", exchanges=(*earlier.exchanges, message.index))
        wrong = wrong or lost or _wrongly_answered(earlier, as_object(params.get("inputResponses")))
        arguments = params.get("arguments")
        if as_object(arguments) != as_object(earlier.arguments) or params.get("name") != earlier.name:
            wrong = wrong or "repeats the call, and not as its server had asked about it"
            run = copied_with(run, arguments=arguments, arguments_raw=compact(arguments))
        if wrong is not None:
            session.flaws[message.sequence] = wrong
    else:
        if wrong is None and (wrong := _of_another(session, params)) is not None:
            session.flaws[message.sequence] = wrong
        arguments = params.get("arguments")
        run = ToolRun(
            index=message.index,
            session=message.session,
            sequence=message.sequence,
            server=session.server,
            run=session.run,
            name=as_text(params.get("name")) or "",
            arguments=arguments,
            arguments_raw="" if arguments is None else compact(arguments),
            started_at=message.at,
            exchanges=(message.index,),
            meta=as_object(params.get("_meta")),
            output_schema=known.output_schema if known is not None else None,
        )
    if wrong is not None:
        run = copied_with(run, departed=Departure(f"sent a request that {wrong}", message.index))
    session.runs[message.sequence] = run
    return run


def named(session: Session, server: str) -> Iterator[ToolRun]:
    """The runs of a session whose server is known under another name from now on.

    Over the transport of 2024-11-05 the server says its name in an answer that is recorded after the calls.
    """
    session.server = server
    for place, run in session.runs.items():
        session.runs[place] = renamed = copied_with(run, server=server)
        yield renamed


def _of_another(session: Session, params: Object) -> str | None:
    """How a call that continues nothing names a state: one that its server gave for another call."""
    given = session.states.get(as_text(params.get("requestState")) or "")
    return None if given in (None, _stateless(params)) else "names the `requestState` of another call"


def _other_state(session: Session, params: Object, state: str | None) -> tuple[str | None, str | None]:
    """The state under which this very call waits, where it names another one or none, and how it breaks the rule."""
    own = _stateless(params)
    given = [one for one, call in session.states.items() if call == own and one in session.waiting]
    if len(given) != 1:
        return state, None
    said = "another" if params.get("requestState") is not None else "no"
    return given[0], f"repeats the call with {said} `requestState` than its server gave"


def _stateless(params: Object) -> str:
    """Under what a call waits for input to which its server gave no state: it is repeated with the same arguments."""
    return compact([params.get("name"), params.get("arguments")])


def _wrongly_answered(run: ToolRun, responses: Object) -> str | None:
    """How the answers that a call is repeated with do not fit the questions of its server."""
    for name, question in run.questions.items():
        method, asked = as_text(as_object(question).get("method")) or "", as_object(as_object(question).get("params"))
        if name not in responses:
            return f"does not answer the question {name!r} of its server"
        reply = responses[name]
        if not is_object(reply):
            return f"answers the question {name!r} with {cut(compact(reply), 40)}, which must be an object"
        if (wrong := wrong_reply(method, reply)) is not None:
            return f"answers the question {name!r} in a form that {wrong}"
        wanted = asked.get("requestedSchema")
        if is_object(wanted) and reply.get("action") == "accept" and breaks(wanted, reply.get("content", {})):
            return f"answers the question {name!r} against the schema that its server gave for it"
    return None


def given(session: Session, asked: ToolMessage, run: ToolRun, answer: ToolMessage) -> ToolRun:
    """The run with the answer to its last `tools/call`."""
    took = max(round((answer.at - run.started_at) * 1000, 3), 0.0)
    result = answer.result
    flaw = flaw_of(answer, session.version) or _disowned(run, answer)
    run = copied_with(run, flaw=flaw, progressed=reports_of(session, run, answer.at))
    if result is None and "error" not in answer.data:
        said = answer.data.get("result")
        run = _with_result(run, {}, took)
        run = copied_with(run, returned_text=said if isinstance(said, str) else compact(said))
    elif result is None:
        error = answer.error or {}
        run = _finished(copied_with(run, outcome="failed", error=error, is_error=True), error, took)
    elif result.get("resultType") == "input_required":
        state = as_text(result.get("requestState"))
        session.waiting[_stateless(asked.params) if state is None else state] = asked.sequence
        given = result.get("requestState")
        if given is not None and len(session.states) < _MOST_IDS:
            session.states.setdefault(compact(given) if state is None else state, _stateless(asked.params))
        questions = as_object(result.get("inputRequests"))
        run = copied_with(run, outcome="input_required", duration_ms=took, questions=questions)
        session.runs[asked.sequence] = run
        return run
    elif task := _task_of(result):
        session.waiting[task] = asked.sequence
        session.runs[asked.sequence] = run = copied_with(run, task=task)
        return run
    else:
        run = _with_result(run, result, took)
    given_up = session.cancelled.pop(key_of_id(asked.id), None)
    if given_up is not None and given_up[0] < answer.at:
        took = round((given_up[0] - run.started_at) * 1000, 3)
        run = copied_with(run, outcome="cancelled", reason=given_up[1], duration_ms=max(took, 0.0))
    return run


def _disowned(run: ToolRun, answer: ToolMessage) -> Flaw | None:
    """An error for the state that the server itself gave, and that the client repeats as it was."""
    said = error_message(answer.error) if answer.error is not None else None
    if said is None or not run.questions or run.departed is not None or "requeststate" not in said.lower():
        return None
    return Flaw("refuses the `requestState` that the server itself gave")


def _with_result(run: ToolRun, result: Object, took: float) -> ToolRun:
    done = copied_with(run, outcome="answered", result=result, is_error=result.get("isError") is True, task=None)
    return _finished(done, result, took)


def _finished(run: ToolRun, value: Object, took: float) -> ToolRun:
    text = error_message(run.error) if run.error is not None else returned_of(run.result).text
    size = len(compact(value).encode("utf-8", "replace"))
    return copied_with(run, duration_ms=took, returned_bytes=size, returned_text=text)


def _task_of(result: Object) -> str | None:
    """The id of the task that a server gives in place of a result."""
    task = as_object(result.get("task"))
    if task:
        return as_text(task.get("taskId"))
    return as_text(result.get("taskId")) if result.get("resultType") == "task" else None


def of_task(run: ToolRun, method: str | None, answer: ToolMessage) -> ToolRun:
    """The run after news of its task."""
    took = max(round((answer.at - run.started_at) * 1000, 3), 0.0)
    run = copied_with(run, exchanges=(*run.exchanges, answer.index))
    result = answer.result
    if result is None:
        if method != "tasks/result":
            return run
        error = answer.error or {}
        return _finished(copied_with(run, outcome="failed", error=error, is_error=True), error, took)
    if method == "tasks/result":
        return _with_result(run, result, took)
    status = as_text(result.get("status"))
    if method == "tasks/cancel":
        run = copied_with(
            run, outcome="cancelled", duration_ms=took, task=None, reason=run.reason or "the task was cancelled"
        )
    if status == "cancelled" and run.outcome != "cancelled":
        said = as_text(result.get("statusMessage")) or "the server cancelled the task"
        stopped: Object = {"message": said}
        return _finished(copied_with(run, outcome="failed", error=stopped, is_error=True, task=None), stopped, took)
    inner = as_object(result.get("result"))
    if status == "completed" and inner:
        return _with_result(run, inner, took)
    if status == "failed" and (error := as_object(result.get("error"))):
        return _finished(copied_with(run, outcome="failed", error=error, is_error=True), error, took)
    return run


def gave_up(session: Session, message: ToolMessage) -> Iterator[ToolRun]:
    """Some clients send this for every call that has an answer: only before the answer it counts."""
    number, reason = key_of_id(message.params.get("requestId")), as_text(message.params.get("reason"))
    session.cancelled[number] = (message.at, reason)
    for place, run in list(session.runs.items()):
        asked = session.asked.get(place)
        if place in session.spent or run.ended_by is not None:
            continue  # the server's answer had ended before, without a result
        if asked is not None and key_of_id(asked.id) == number and run.started_at <= message.at:
            took = max(round((message.at - run.started_at) * 1000, 3), 0.0)
            heard = reports_of(session, run, message.at)
            done = copied_with(run, outcome="cancelled", reason=reason, duration_ms=took, progressed=heard)
            session.runs[place] = done
            yield done
    yield from _failed_before(session, message, number, reason)


def _failed_before(session: Session, message: ToolMessage, number: str, reason: str | None) -> Iterator[ToolRun]:
    """A run whose error came after the client had given it up, and was recorded before that.

    Over stdio a request is recorded with its answer, and the answer to one that is cancelled may be an error.
    """
    sent = session.ids.get(number)
    run = session.failed.get(sent.sequence) if sent is not None else None
    if run is None or run.outcome != "failed" or run.ended_by is not None:
        return
    took = round((message.at - run.started_at) * 1000, 3)
    if 0 <= took < (run.duration_ms or 0):
        done = copied_with(run, outcome="cancelled", reason=reason, duration_ms=took)
        session.failed[run.sequence] = done
        yield done


def ended(session: Session, trip: RoundTrip, notes: list[WireNote]) -> Iterator[ToolRun]:
    """The runs that a round trip ends without an answer."""
    for place, asked in list(session.asked.items()):
        if asked.index != trip.index:
            continue
        run = session.runs.get(place)
        if run is None:
            if trip.failure is not None and (kind := _left_open(session, asked, trip)) is not None:
                waited = trip.failure.kind == "cut" and (trip.ended_at or 0) >= _PATIENCE
                how = f"{(trip.ended_at or 0) / 1e6:.3g} s" if kind == "never_answered" else "ended" if waited else ""
                wrong = session.flaws.get(place) if asked.sender == "client" else None
                if wrong is None:
                    notes.append(WireNote(kind, session.server, asked.index, asked.method or "", how))
                elif is_new(session, "request_wrong"):
                    notes.append(WireNote("request_wrong", session.server, asked.index, asked.method or "", wrong))
                del session.asked[place]
            elif _is_whole_answer(trip) and asked.sender == "client":
                session.spent.add(place)
            continue
        done = _without_answer(run, trip)
        wrong = session.flaws.get(place) if done.outcome == "failed" or trip.failure is not None else None
        if wrong is not None and is_new(session, "request_wrong"):
            notes.append(WireNote("request_wrong", session.server, asked.index, asked.method or "", wrong))
        until = trip.started_at + (trip.ended_at or 0) / 1e6
        given_up = session.cancelled.get(key_of_id(asked.id))
        in_time = trip.failure is not None or (given_up is not None and given_up[0] <= until)
        if given_up is not None and run.started_at <= given_up[0] and in_time:
            until = given_up[0]
            took = max(round((until - run.started_at) * 1000, 3), 0.0)
            done = copied_with(done, outcome="cancelled", reason=given_up[1], duration_ms=took)
        done = copied_with(done, progressed=reports_of(session, run, until))
        if _is_whole_answer(trip):
            session.spent.add(place)
            done = copied_with(done, answer_over=done.outcome == "unanswered")
        if done.outcome != "failed" and (stray := _answer_of(session, asked, until)) is not None:
            done = copied_with(done, flaw=stray)
        session.runs[place] = done
        yield done


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


MAY_WAIT = frozenset({"server/discover", "subscriptions/listen", "tasks/result"})
"""Requests that a server may leave open: older servers do not know the first, and the others end with what they wait
for."""


def _without_answer(run: ToolRun, trip: RoundTrip) -> ToolRun:
    failure, response = trip.failure, trip.response
    to = header(response.headers, "location") if response is not None and _MOVED <= response.status < _BAD else None
    if trip.tool_wire is None and response is not None and (response.status >= _BAD or to):
        said = f"HTTP status {response.status}" + (f", which sends it to {cut(to, 80)}" if to else "")
        error: Object = {"code": response.status, "message": said}
        took = (trip.ended_at or 0) / 1000
        return _finished(copied_with(run, outcome="failed", error=error, is_error=True), error, took)
    if failure is None:
        return run
    if failure.kind == "client_gone":
        # Over HTTP, a client gives up on a call by closing its stream.
        took = (trip.ended_at or 0) / 1000 if trip.ended_at else None
        outcome = "cancelled" if trip.tool_wire is None else "unanswered"
        return copied_with(run, outcome=outcome, ended_by="client", duration_ms=took)
    return copied_with(run, ended_by="server")


def of_ids(session: Session, trip: RoundTrip, sent: list[ToolMessage], notes: list[WireNote]) -> Iterator[ToolRun]:
    """The runs without an answer whose id made it impossible to match their answer.

    Two requests of a session had the id while both were open, or it is a number that JSON parsers round.
    """
    ended = trip.started_at + (trip.ended_at or 0) / 1e6
    for message in sent:
        if trip.tool_wire is not None and message.sequence in session.asked:
            ended = math.inf
        here = Sent(message.at, ended, message.index, message.sequence)
        number = key_of_id(message.id)
        earlier = session.ids.get(number)
        session.ids[number] = here
        if len(session.ids) > _MOST_IDS:
            del session.ids[next(iter(session.ids))]
        places: list[int] = []
        if earlier is not None and session.starts < 2 and earlier.begun < here.ended and here.begun < earlier.ended:
            places = [earlier.sequence, here.sequence]
            if is_new(session, "id_reused"):
                notes.append(WireNote("id_reused", session.server, here.index, number, before=earlier.index))
        elif isinstance(message.id, int) and abs(message.id) > _EXACT and message.sequence in session.asked:
            places = [here.sequence]
            if is_new(session, "id_too_large"):
                notes.append(WireNote("id_too_large", session.server, here.index, number))
        for place in places:
            run = session.runs.get(place)
            if run is not None and run.outcome in ("unanswered", "cancelled"):
                session.runs[place] = done = copied_with(run, unclear_id=True)
                yield done
