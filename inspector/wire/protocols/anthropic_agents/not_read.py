"""What Anthropic's SDK knows of managed agents and nothing here reads, with what happens to it."""

_THREAD = "kept raw: it is about another thread of the session, which has a separate stream"
_OUTCOME = "kept raw: it is about the grading of an outcome"
_WORKFLOW = "kept raw: it is about a workflow, whose threads have separate streams"

NOT_READ: dict[str, dict[str, str]] = {
    "event": {
        "session.status_running": "ignored: it only says that the agent works",
        "session.thread_created": _THREAD,
        "session.thread_status_idle": _THREAD,
        "session.thread_status_rescheduled": _THREAD,
        "session.thread_status_running": _THREAD,
        "session.thread_status_terminated": _THREAD,
        "session.usage": "kept raw: it counts the whole session; a turn has the counts of its requests to the model",
        "span.outcome_evaluation_end": _OUTCOME,
        "span.outcome_evaluation_ongoing": _OUTCOME,
        "span.outcome_evaluation_start": _OUTCOME,
        "workflow_run.created": _WORKFLOW,
        "workflow_run.error": _WORKFLOW,
        "workflow_run.phase_ended": _WORKFLOW,
        "workflow_run.phase_started": _WORKFLOW,
        "workflow_run.status_ended": _WORKFLOW,
        "workflow_run.status_idle": _WORKFLOW,
        "workflow_run.status_running": _WORKFLOW,
    },
}
"""By kind of member. A test compares the SDK's unions with this table and with what is read."""
