"""The events in a session of OpenAI's Agents API."""

from ...json_value import Object, as_object, as_text
from ..shared.agent_event import EventKind

_PREFIX = "agent.session."
_ENDS = frozenset({"turn.completed", "turn.failed", "turn.cancelled", "failed", "budget_reached"})
_SENT = frozenset({"function_call_output", "computer_use_approval_request_result"})
_ABOUT = frozenset({"turn.created", "turn.in_progress"})


class OpenAIAgentEvents:
    """Says what each event of a stream is. The turns of subagents are left out: their agent gets their results."""

    def __init__(self) -> None:
        self._subagents: set[str] = set()
        """The ids of turns that subagents ran."""

    def kind(self, event: Object) -> EventKind:
        name = (as_text(event.get("type")) or "").removeprefix(_PREFIX)
        turn = as_object(event.get("turn"))
        item = as_object(event.get("item"))
        turn_id = as_text(event.get("turn_id")) or as_text(item.get("turn_id")) or ""
        if as_text(turn.get("subagent_id")):
            self._subagents.add(as_text(turn.get("id")) or turn_id)
        if turn_id in self._subagents or as_text(turn.get("id")) in self._subagents:
            return "foreign"
        if name == "turn.item.added" and (item.get("type") in _SENT or item.get("role") == "user"):
            return "sent"
        if name == "requires_action":
            return "waits"
        if name in _ENDS:
            return "end"
        works = name == "error" or name.startswith(("turn.", "agent.output."))
        return "done" if works and name not in _ABOUT else "other"

    def settings(self, event: Object) -> Object:
        return as_object(as_object(event.get("session")).get("agent"))

    def call(self, event: Object) -> str | None:
        item = as_object(event.get("item"))
        return as_text(item.get("call_id")) if item.get("type") == "function_call" else None

    def answers(self, event: Object) -> str | None:
        item = as_object(event.get("item"))
        return as_text(item.get("call_id")) if item.get("type") == "function_call_output" else None
