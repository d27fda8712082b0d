"""How long a client waited for a tool's answer, and what the tool gave it meanwhile."""

from ...tools.model_calls import ModelCall
from ...tools.tool_run import ToolRun

_LONG = 5_000
"""Milliseconds without an answer from which on a tool hangs, and the client that gives up is not too hasty."""


def never_answered(run: ToolRun) -> bool:
    """Whether the client waited long for an answer, and nothing came, not even after it had given up."""
    silent = run.result is None and run.error is None and not reports_progress(run)
    return silent and (run.duration_ms or 0) >= _LONG


def waited(call: ModelCall, run: ToolRun) -> float | None:
    """The seconds after which the client asked the model again, when the answer came later than that; None otherwise."""
    until = call.turn.until
    if until is None or run.outcome != "answered" or run.started_at + (run.duration_ms or 0) / 1000 <= until:
        return None
    if run.seen_as not in ("replaced", "changed", "dropped"):
        return None  # the model was shown what came, whatever the clocks say
    return until - run.started_at


def left_early(run: ToolRun) -> bool:
    """Whether the client closed the connection before a tool had time to answer, and the tool wrote nothing for it."""
    return run.ended_by == "client" and run.flaw is None and (run.duration_ms or _LONG) < _LONG


def reports_progress(run: ToolRun) -> bool:
    """Whether a tool showed more than once that it still works."""
    return run.progressed > 1
