"""How an answer ends or changes a tool run: the answer to its `tools/call`, or to a request about its task."""

from turntape.cassettes.frozen import copied_with

from ..wire.json_value import Object, as_object, as_text, compact
from .flaw import Flaw
from .form import flaw_of
from .returned import error_message, returned_of
from .run_start import stateless
from .session_state import Session, key_of_id, reports_of
from .tool_messages import ToolMessage
from .tool_run import ToolRun

_MOST_STATES = 2_000
"""So many of a session's states are known."""


def given(session: Session, asked: ToolMessage, run: ToolRun, answer: ToolMessage) -> ToolRun:
    """The run with the answer to its last `tools/call`."""
    took = _took(run, answer.at)
    result = answer.result
    flaw = flaw_of(answer, session.version) or _disowned(run, answer)
    run = copied_with(run, flaw=flaw, progressed=reports_of(session, run, answer.at))
    if result is not None and result.get("resultType") == "input_required":
        _wait_for_input(session, asked, result)
        questions = as_object(result.get("inputRequests"))
        run = copied_with(run, outcome="input_required", duration_ms=took, questions=questions)
        session.runs[asked.sequence] = run
        return run
    if result is not None and (task := _task_of(result)):
        session.waiting[task] = asked.sequence
        session.runs[asked.sequence] = run = copied_with(run, task=task)
        return run
    return _given_up_before(session, asked, answer, _ended_by(run, answer, took))


def _took(run: ToolRun, until: float) -> float:
    """Milliseconds since the call; 0 where the clock went back."""
    return max(round((until - run.started_at) * 1000, 3), 0.0)


def _wait_for_input(session: Session, asked: ToolMessage, result: Object) -> None:
    """The call is to be repeated with answers, under the state that the server gave, or under none."""
    given = result.get("requestState")
    state, call = as_text(given), stateless(asked.params)
    session.waiting[call if state is None else state] = asked.sequence
    if given is not None and len(session.states) < _MOST_STATES:
        session.states.setdefault(compact(given) if state is None else state, call)


def _ended_by(run: ToolRun, answer: ToolMessage, took: float) -> ToolRun:
    """The run with a result, an error, or what came in place of both."""
    if answer.result is not None:
        return _with_result(run, answer.result, took)
    if "error" in answer.data:
        return failed(run, answer.error or {}, took)
    said = answer.data.get("result")
    text = said if isinstance(said, str) else compact(said)
    return copied_with(_with_result(run, {}, took), returned_text=text)


def _given_up_before(session: Session, asked: ToolMessage, answer: ToolMessage, run: ToolRun) -> ToolRun:
    """The run as cancelled, where the client had given it up before the answer came."""
    given_up = session.cancelled.pop(key_of_id(asked.id), None)
    if given_up is None or given_up[0] >= answer.at:
        return run
    return copied_with(run, outcome="cancelled", reason=given_up[1], duration_ms=_took(run, given_up[0]))


def _disowned(run: ToolRun, answer: ToolMessage) -> Flaw | None:
    """An error for the state that the server itself gave, and that the client repeats as it was."""
    said = error_message(answer.error) if answer.error is not None else None
    if said is None or not run.questions or run.departed is not None or "requeststate" not in said.lower():
        return None
    return Flaw("refuses the `requestState` that the server itself gave")


def of_task(run: ToolRun, method: str | None, answer: ToolMessage) -> ToolRun:
    """The run after news of its task."""
    took = _took(run, answer.at)
    run = copied_with(run, exchanges=(*run.exchanges, answer.index))
    result = answer.result
    if result is None:
        if method != "tasks/result":
            return run
        return failed(run, answer.error or {}, took)
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
        return copied_with(failed(run, stopped, took), task=None)
    inner = as_object(result.get("result"))
    if status == "completed" and inner:
        return _with_result(run, inner, took)
    if status == "failed" and (error := as_object(result.get("error"))):
        return failed(run, error, took)
    return run


def _task_of(result: Object) -> str | None:
    """The id of the task that a server gives in place of a result."""
    task = as_object(result.get("task"))
    if task:
        return as_text(task.get("taskId"))
    return as_text(result.get("taskId")) if result.get("resultType") == "task" else None


def _with_result(run: ToolRun, result: Object, took: float) -> ToolRun:
    done = copied_with(run, outcome="answered", result=result, is_error=result.get("isError") is True, task=None)
    return _finished(done, result, took)


def failed(run: ToolRun, error: Object, took: float) -> ToolRun:
    """The run that ends with an error of its server, or of HTTP."""
    return _finished(copied_with(run, outcome="failed", error=error, is_error=True), error, took)


def _finished(run: ToolRun, value: Object, took: float) -> ToolRun:
    """The run with the size and the text of what it returned."""
    text = error_message(run.error) if run.error is not None else returned_of(run.result).text
    size = len(compact(value).encode("utf-8", "replace"))
    return copied_with(run, duration_ms=took, returned_bytes=size, returned_text=text)
