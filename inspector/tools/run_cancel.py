"""How a client gives a tool run up."""

from collections.abc import Iterator

from turntape.cassettes.frozen import copied_with

from ..wire.json_value import as_text
from .session_state import Session, key_of_id, reports_of
from .tool_messages import ToolMessage
from .tool_run import ToolRun


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
