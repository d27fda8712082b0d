"""Layer 3: what the next request shows that the client did with an emission."""

from dataclasses import dataclass

from .reading import ToolCall, ToolResult
from .threads import Turn

_LOOP_OVER = frozenset({"complete", "stop_sequence", "refusal", "content_filter"})
"""What a client may rightly stop at."""


@dataclass(frozen=True, slots=True)
class Dispatch:
    """What became of a turn's calls."""

    results: tuple[ToolResult, ...]
    """The results that the next request brought for this turn's calls."""
    missing: tuple[ToolCall, ...]
    """Calls that the next request left unanswered."""
    outcome: str
    """`dispatched`, `partly`, `not_dispatched`, `ended`, or `open` when nothing later was seen."""


def answers(calls: tuple[ToolCall, ...], results: tuple[ToolResult, ...]) -> dict[int, ToolResult]:
    """Which result answers which call (by place): by id, else by name in order, as APIs without ids link them."""
    found: dict[int, ToolResult] = {}
    left = list(results)
    for place, call in enumerate(calls):
        match = next((r for r in left if r.call_id is not None and r.call_id == call.id), None)
        if match is None and call.id is None:
            match = next((r for r in left if r.call_id is None and r.name in (call.name, None)), None)
        if match is not None:
            left.remove(match)
            found[place] = match
    return found


def dispatch(turn: Turn, following: Turn | None) -> Dispatch:
    """What the client did with `turn`, given the next turn of its thread, if there is one."""
    emission, finish = turn.reading.emission, turn.reading.finish
    calls = tuple(call for call in emission.calls if call.name or call.id) if emission else ()
    if following is None:
        over = not calls and finish is not None and finish.effective in _LOOP_OVER
        return Dispatch((), (), "ended" if over else "open")
    if not calls:
        return Dispatch((), (), "ended" if finish is not None and finish.effective in _LOOP_OVER else "open")
    # Ids are unique in a history; without them only what is new can be an answer to these calls.
    given = following.reading.request.results
    if all(call.id is None for call in calls):
        earlier = len(turn.reading.request.results)
        given = given[earlier:]
    found = answers(calls, given)
    missing = tuple(call for place, call in enumerate(calls) if place not in found)
    outcome = "dispatched" if not missing else "partly" if found else "not_dispatched"
    return Dispatch(tuple(found.values()), missing, outcome)
