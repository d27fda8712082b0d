"""The timeline of a turn whose tools were recorded: a lane for the API's answer and one for each tool run."""

from typing import Literal

from turntape.cassettes.frozen import frozen

from ..tools.tool_run import ToolRun
from .row import Row


@frozen
class Lane:
    """What ran when, as shares of the time from the request to the last result."""

    layer: Literal["api", "tool"]
    name: str
    start: float
    stop: float
    milliseconds: float | None
    failed: bool


@frozen
class Timeline:
    """The lanes of a turn, or of a message of a tool server."""

    lanes: tuple[Lane, ...]
    milliseconds: float
    """From the request to the last result."""
    idle: float | None
    """Milliseconds from then to the next request of the thread; None when there is none, or it came before."""


def timeline_of(row: Row, after: Row | None) -> Timeline | None:
    """The timeline of a turn, which `after` follows; None for a turn without tool runs."""
    if not row.tool_runs:
        return None
    begin, done = row.started_at, row.started_at + (row.duration_ms or 0) / 1000
    last = max(map(_end, row.tool_runs))
    whole = max(done, last) - begin

    def share(at: float) -> float:
        return min(1.0, max(0.0, (at - begin) / whole)) if whole > 0 else 0.0

    # A message of a tool server has no answer of an API: its run is all there is.
    lanes = [] if row.is_tool_wire else [Lane("api", "api", 0.0, share(done), row.duration_ms, failed=False)]
    for run in row.tool_runs:
        failed = bool(run.is_error) or run.outcome != "answered"
        lanes.append(Lane("tool", run.name, share(run.started_at), share(_end(run)), run.duration_ms, failed))
    idle = (after.started_at - last) * 1000 if after is not None and after.started_at >= last else None
    return Timeline(tuple(lanes), (last - begin) * 1000, idle)


def _end(run: ToolRun) -> float:
    return run.started_at + (run.duration_ms or 0) / 1000
