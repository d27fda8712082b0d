"""Anthropic's managed agents: Anthropic runs the agent, and the client follows the event stream of its session.

A turn is what the agent did until it waited for the client again; it may hold several requests to the model, whose
tokens are added up. The stream does not say the model.
"""

from collections.abc import Iterator
from dataclasses import field, replace

from turntape.cassettes.frozen import mutable
from turntape.cassettes.regex import regex

from ...exchange import Exchange, header
from ...json_value import Object, as_array, as_count, as_object, as_text, objects_in
from ...values import ApiError, FinishLabel, Kind, Message, Part, RequestReading, ResponseReading, ToolCall
from ..anthropic.answer import anthropic_usage
from ..anthropic.request import read_blocks
from ..anthropic.results import client_result
from ..anthropic.tools import read_tools
from ..protocol import Protocol
from ..shared.agent_event import OWNER
from ..shared.answers import answer, objects
from ..shared.errors import error_in
from ..shared.parts import arguments_of, call_part, text_part, unread
from ..shared.stated_cost import price_terms
from ..traits import AnswerRules, Pairing, RequestRules
from .api import API
from .not_read import NOT_READ

_PATH = regex(r"^(?:/anthropic)?/v1/sessions(?:/|$)")

FINISH: dict[str, FinishLabel] = {
    "end_turn": "complete",
    "requires_action": "tool_calls",
    "refusal": "refusal",
    "budget_reached": "limit",
    "retries_exhausted": "error",
    "terminated": "complete",
    "deleted": "cancelled",
}
"""The stop reasons of `session.status_idle`, and two other ends of a session."""

_OVERCOME = frozenset({"end_turn", "requires_action", "refusal", "budget_reached", "deleted"})
"""Ends that are not caused by an error earlier in the turn."""

_CALLS = {"agent.custom_tool_use": False, "agent.tool_use": True, "agent.mcp_tool_use": True}
"""Whether Anthropic runs the tool of a call."""
_RESULTS = {"agent.tool_result": "tool_use_id", "agent.mcp_tool_result": "mcp_tool_use_id"}
_SENT_RESULTS = {"user.custom_tool_result": "custom_tool_use_id", "user.tool_result": "tool_use_id"}
_COUNTS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")


def detect(exchange: Exchange) -> Kind | None:
    """Everything about sessions; a turn is a part of a stream, as the reader of sessions makes it."""
    if OWNER in exchange.fields and exchange.path.rstrip("/").endswith("/stream"):
        return "generation"
    known = header(exchange.request.headers, "anthropic-version") is not None
    return "other" if known and _PATH.search(exchange.path) else None


def read_request(exchange: Exchange) -> RequestReading:
    fields = exchange.fields
    agent = as_object(fields.get("agent"))
    sent = objects_in(fields.get("events"))
    return RequestReading(
        model=as_text(agent.get("model")) or as_text(as_object(agent.get("model")).get("id")),
        streamed=True,
        system=tuple(read_blocks(agent.get("system"), "/agent/system")),
        messages=tuple(_message(event, f"/events/{place}") for place, event in enumerate(sent)),
        tools=read_tools(agent.get("tools"), "/agent/tools"),
        previous_id=as_text(fields.get(OWNER)),
    )


def _message(event: Object, pointer: str) -> Message:
    """An event of the client, or of another agent, as a message."""
    name = as_text(event.get("type")) or ""
    if key := _SENT_RESULTS.get(name):
        block = {**event, "tool_use_id": event.get(key)}
        return Message("tool", (replace(client_result(block, pointer), raw=event),), pointer, event)
    parts = tuple(read_blocks(event.get("content"), f"{pointer}/content"))
    if name == "system.message":
        return Message("system", parts, pointer, event)
    return Message("user", parts or (_notice(event, name, pointer),), pointer, event)


def _notice(event: Object, name: str, pointer: str) -> Part:
    """What the client sent beside messages and results: a decision, an interrupt, an outcome."""
    words = [as_text(event.get(key)) for key in ("result", "deny_message", "description")]
    text = ": ".join(word for word in words if word)
    return Part("other", pointer, text=f"[{name.removeprefix('user.')}]" + (f" {text}" if text else ""), raw=event)


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    if exchange.framing != "sse":
        return unread(exchange, "a session of an agent")
    draft = Draft()
    problems: list[str] = []
    for name, event in objects(exchange.events, problems):
        draft.add(as_text(event.get("type")) or name, event)
    parts = list(draft.parts())
    label = _label(draft.word, parts)
    refusal = as_text(draft.details.get("explanation")) or "" if label == "refusal" else None
    whole = answer(
        parts,
        finish_raw=draft.word,
        finish=label,
        finish_detail=as_text(draft.details.get("category")),
        ended=draft.word is not None or any(part.call and not part.call.server for part in parts),
        usage=anthropic_usage(draft.usage) if draft.usage else None,
        usage_raw=draft.usage or None,
        price_terms=price_terms(draft.usage),
        id=request.previous_id,
        error=draft.failure(),
        problems=problems,
    )
    return replace(whole, refusal=refusal)


def _label(word: str | None, parts: list[Part]) -> FinishLabel | None:
    """A turn that waits for a permission and not for results is paused."""
    calls = any(part.call is not None and not part.call.server for part in parts)
    if word is None:
        return "tool_calls" if calls else None
    return "pause" if word == "requires_action" and not calls else FINISH.get(word, "unknown")


@mutable
class Draft:
    """What the events of a turn add up to."""

    events: dict[str, Object] = field(default_factory=dict[str, Object])
    """What the agent did, by the id of its event."""
    usage: Object = field(default_factory=dict[str, object])
    word: str | None = None
    details: Object = field(default_factory=dict[str, object])
    """More about the word."""
    error: ApiError | None = None
    retried: bool = False
    """Whether the API continues after the newest error."""
    blocked: frozenset[object] = frozenset()
    """The ids of the events for which the agent waits."""

    def add(self, name: str, event: Object) -> None:
        """Take in one event."""
        if name == "event_start":
            preview = as_object(event.get("event"))
            self.events.setdefault(as_text(preview.get("id")) or "", {"content": [], **preview})
        elif name == "event_delta":
            self._grow(as_text(event.get("event_id")) or "", as_object(event.get("delta")))
        elif name == "span.model_request_end":
            self._count(as_object(event.get("model_usage")))
        elif name == "session.error":
            error = as_object(event.get("error"))
            self.error = error_in({"error": error}, in_stream=True)
            self.retried = as_object(error.get("retry_status")).get("type") == "retrying"
        elif name == "session.status_idle":
            reason = as_object(event.get("stop_reason"))
            self.word = as_text(reason.get("type"))
            self.blocked = frozenset(as_array(reason.get("event_ids")))
            self.details = as_object(event.get("stop_details"))
        elif name in ("session.status_terminated", "session.deleted"):
            self.word = name.removeprefix("session.").removeprefix("status_")
        elif name.startswith("agent."):
            self.events[as_text(event.get("id")) or f"{len(self.events)}"] = event

    def _grow(self, name: str, delta: Object) -> None:
        """Add a piece of a message that has not come whole yet."""
        content = as_array(self.events.setdefault(name, {"type": "agent.message", "content": []}).get("content"))
        place = as_count(delta.get("index")) or 0
        while len(content) <= place:
            content.append({"type": "text", "text": ""})
        old, new = as_object(content[place]), as_object(delta.get("content"))
        content[place] = {**old, "text": f"{as_text(old.get('text')) or ''}{as_text(new.get('text')) or ''}"}

    def _count(self, usage: Object) -> None:
        sums = {key: (as_count(self.usage.get(key)) or 0) + (as_count(usage.get(key)) or 0) for key in _COUNTS}
        self.usage = {**self.usage, **usage, **sums}

    def failure(self) -> ApiError | None:
        """The error that ended the turn. None when the API continued after it."""
        over = self.retried or self.word in _OVERCOME
        return None if over else self.error

    def parts(self) -> Iterator[Part]:
        """What the agent did, in order."""
        for number, event in enumerate(self.events.values()):
            yield from self._parts(event, f"/events/{number}")

    def _parts(self, event: Object, pointer: str) -> list[Part]:
        name = as_text(event.get("type")) or ""
        if name == "agent.message":
            return read_blocks(event.get("content"), f"{pointer}/content")
        if name == "agent.thinking":
            return [text_part("", pointer, event, "reasoning")]
        if name in _CALLS:
            return [call_part(self._call(event, server=_CALLS[name]), pointer, event)]
        if key := _RESULTS.get(name):
            part = client_result({**event, "tool_use_id": event.get(key)}, pointer)
            result = replace(part.result, server=True) if part.result else None
            return [replace(part, result=result, raw=event)]
        if name == "agent.thread_message_sent":
            return [Part("other", pointer, text=f"[to {as_text(event.get('to_agent_name')) or 'an agent'}]", raw=event)]
        return [Part("other", pointer, text=f"[{name.removeprefix('agent.')}]", raw=event)]

    def _call(self, event: Object, *, server: bool) -> ToolCall:
        """A call. The client runs built-in tools too where the agent waits for them and not for a permission."""
        arguments, raw = arguments_of(event.get("input"))
        own = server and (event.get("id") not in self.blocked or event.get("evaluated_permission") == "ask")
        return ToolCall(as_text(event.get("name")) or "", as_text(event.get("id")), arguments, raw, server=own)


ANTHROPIC_AGENTS = Protocol(
    name="anthropic-agents",
    title="Anthropic managed agents",
    spec="https://platform.claude.com/docs/en/api/beta/sessions/events, and anthropic 2.12.0, read 2026-11-22",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    finish=dict(FINISH),
    not_read=NOT_READ,
    streams=("sse",),
    api=API,
    pairing=Pairing(anywhere=True),
    requests=RequestRules(marks_errors=True),
    answers=AnswerRules(has_word_for_calls=False),
    price_provider="anthropic",
)
