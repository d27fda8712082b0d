"""What a client replies to the requests of a tool server, and the calls that fail because of it.

A reply has the form that MCP gives it (https://modelcontextprotocol.io/specification/2025-11-25/schema, read
2026-11-23), and a request that a client refuses had to have one too: who broke it first is to blame.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex
from turntape.cassettes.tape.model import RoundTrip

from ..wire.json_value import Object, as_text, compact, is_array, is_object, objects_in
from .answers import NO_METHOD
from .expectations import ASKS, PLAIN_ASKS
from .form import wrong_envelope
from .message_forms import breaks, declares, is_unheard, wrong_reply
from .request_form import flaw_of_request, methods_of_servers
from .returned import error_message
from .session_state import Session, WireNote, Wrong, fail, is_new
from .tool_messages import ToolMessage
from .tool_run import Departure, ToolRun

_SHORT = 2_000
"""Characters of an error that are read."""
_FOREVER = float("inf")
_ABOUT = regex(
    r"client|roots?\b|sampl|elicit|\bping|input|respon|repl(?:y|ied)|method not found|invalid|timed? ?out|must|required"
    r"|missing",
    re.IGNORECASE,
)
"""What a tool says that failed because of what its client answered."""
_FAULTS = {
    "no_answer_of_client": "did not answer",
    "cannot_answer": "did not know",
    "reply_wrong": "answered in a wrong form",
}
"""What a client did wrong that was asked something."""


def flaw_of_reply(method: str, answer: ToolMessage, version: str | None) -> str | None:
    """How a client's reply breaks the form of an answer, or MCP's of this one; None when it does not."""
    data = answer.data
    if (wrong := wrong_envelope(answer, version)) is not None:
        return wrong
    if "result" in data and "error" in data:
        return "has a result and an error, and an answer has only one of both"
    if "error" in data:
        must = f"has {cut(compact(data['error']), 40)} as its `error`, which must be an object"
        return None if is_object(data["error"]) else must
    if answer.result is None:
        return f"has {cut(compact(data.get('result')), 40)} as its `result`, which must be an object"
    return wrong_reply(method, answer.result)


def _not_offered(asked: ToolMessage, answer: ToolMessage) -> str | None:
    """How a sample calls a tool that the request for it does not offer."""
    content = (answer.result or {}).get("content")
    offered = {as_text(tool.get("name")) for tool in objects_in(asked.params.get("tools"))}
    blocks = objects_in(content if is_array(content) else [content])
    called = (as_text(block.get("name")) for block in blocks if block.get("type") == "tool_use")
    name = next((name for name in called if name not in offered), None)
    return None if name is None else f"calls the tool {name!r}, which the request does not offer"


def replied(session: Session, asked: ToolMessage, answer: ToolMessage) -> Iterator[WireNote]:
    """What a reply of the client to a request of the server shows.

    Over HTTP the reply is in another round trip than the request, and the notes name it.
    """
    apart = None if answer.index == asked.index else answer.index
    yield from (replace(note, before=apart, at=asked.at) for note in _replied(session, asked, answer))


def _replied(session: Session, asked: ToolMessage, answer: ToolMessage) -> Iterator[WireNote]:
    method, wanted = asked.method or "", asked.params.get("requestedSchema")
    broken = flaw_of_request(asked, session.version)
    wrong = flaw_of_reply(method, answer, session.version)
    if wrong is None and method == "sampling/createMessage":
        wrong = _not_offered(asked, answer)
    if wrong is None and answer.error is not None:
        yield from _refused(session, asked, answer.error, broken)
        return
    if broken is None and is_early(session, asked):
        broken = "comes before its answer to the client's `initialize`"
    if broken is not None and is_new(session, "ask_odd"):
        yield WireNote("ask_odd", session.server, asked.index, method, broken)
    if wrong is not None and is_new(session, "reply_wrong"):
        yield WireNote("reply_wrong", session.server, asked.index, method, wrong)
    result = answer.result or {}
    if wrong is None and result.get("action") == "accept" and is_object(wanted):
        said = result.get("content", {})
        yield WireNote("replied", session.server, asked.index, method, wanted=wanted, given=said)


def _refused(session: Session, asked: ToolMessage, error: Object, broken: str | None) -> Iterator[WireNote]:
    """What it means that the client answers with an error; `broken`: how the request breaks MCP's form."""
    method, said = asked.method or "", error_message(error) or ""
    unknown = error.get("code") == NO_METHOD
    if method in ASKS:
        declared = declares(method, asked.params, session.declared)
        known = method in methods_of_servers(session.version)
        if is_early(session, asked):
            yield WireNote("ask_early", session.server, asked.index, method, said)
        elif broken is not None and not (unknown and known):
            yield WireNote("ask_wrong", session.server, asked.index, method, broken)
        elif declared is False:
            yield WireNote("ask_undeclared", session.server, asked.index, method, said)
        else:
            kind = "cannot_answer" if declared and unknown else "refused_by_client"
            yield WireNote(kind, session.server, asked.index, method, said)
    elif broken is not None:
        if is_new(session, "ask_wrong"):
            yield WireNote("ask_wrong", session.server, asked.index, method, broken)
    elif unknown and is_unheard(method):
        if is_new(session, "ask_unknown"):
            yield WireNote("ask_unknown", session.server, asked.index, method, said)
    elif method == "roots/list" and session.declared is not None and "roots" not in session.declared:
        if is_new(session, "ask_undeclared roots"):
            yield WireNote("ask_undeclared", session.server, asked.index, method, said)
    elif method == "ping" or (method == "roots/list" and unknown and "roots" in (session.declared or {})):
        yield WireNote("cannot_answer", session.server, asked.index, method, said)


def is_early(session: Session, asked: ToolMessage) -> bool:
    """Whether the server asked before it had answered `initialize`."""
    if not session.starts or asked.method == "ping":
        return False
    return session.ready_at is None or asked.at < session.ready_at


def provoked(session: Session, trip: RoundTrip, runs: list[ToolRun], notes: list[WireNote]) -> Iterator[ToolRun]:
    """The runs, and earlier ones of the session, with the fault of the client for which the server failed them.

    Whichever is recorded first: the end of the run, or what the client answered while it ran.
    """
    for note in notes:
        how = _FAULTS.get(note.kind)
        if note.kind == "replied" and is_object(note.wanted) and breaks(note.wanted, note.given):
            how = _FAULTS["reply_wrong"]
        if how is not None and note.server == session.server and note.index == trip.index:
            departure = Departure(
                f"{how} the server's request {note.what} meanwhile", note.index, mild=note.what in PLAIN_ASKS
            )
            session.wrongs.append(Wrong(trip.started_at if note.at is None else note.at, departure))
    new = {run.sequence: run for run in runs}
    for run in runs:
        if run.outcome == "failed" or run.is_error or run.ended_by == "server":
            fail(session, run)
    if session.wrongs:
        for place, run in session.failed.items():
            if run.departed is None and (found := _cause(session, run)) is not None:
                session.failed[place] = new[place] = replace(run, departed=found)
                if place in session.runs:
                    session.runs[place] = new[place]
    yield from new.values()


def _cause(session: Session, run: ToolRun) -> Departure | None:
    """What the client did wrong during a run that the server failed, if the failure speaks of it."""
    if run.ended_by != "server" and _ABOUT.search((run.returned_text or "")[:_SHORT]) is None:
        return None
    took = (run.duration_ms or 0) / 1000 if run.ended_by != "server" else _FOREVER
    during = (one for one in session.wrongs if run.started_at <= one.at <= run.started_at + took)
    return next((one.departure for one in during), None)
