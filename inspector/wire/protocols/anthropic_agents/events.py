"""The events in a session of Anthropic's managed agents."""

from ...json_value import Object, as_object, as_text
from ..shared.agent_event import EventKind

_SENT = ("user.", "system.")
_WORK = ("agent.", "event_", "span.model_request_")
_TROUBLE = frozenset({"session.error", "session.status_rescheduled"})
_ENDS = frozenset({"session.status_terminated", "session.deleted"})
_RESULTS = {"user.custom_tool_result": "custom_tool_use_id", "user.tool_result": "tool_use_id"}


class AnthropicAgentEvents:
    """Says what each event of a stream is."""

    def kind(self, event: Object) -> EventKind:
        name = as_text(event.get("type")) or ""
        if name.startswith(_SENT) or name == "agent.thread_message_received":
            return "sent"
        if name == "session.status_idle":
            waits = as_object(event.get("stop_reason")).get("type") == "requires_action"
            return "waits" if waits else "end"
        if name in _ENDS:
            return "end"
        return "done" if name.startswith(_WORK) or name in _TROUBLE else "other"

    def settings(self, event: Object) -> Object:
        return as_object(event.get("agent")) if event.get("type") == "session.updated" else {}

    def call(self, event: Object) -> str | None:
        calls = event.get("type") in ("agent.custom_tool_use", "agent.tool_use")
        return as_text(event.get("id")) if calls else None

    def answers(self, event: Object) -> str | None:
        return as_text(event.get(_RESULTS.get(as_text(event.get("type")) or "", "")))
