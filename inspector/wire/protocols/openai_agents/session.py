"""OpenAI's Agents API: OpenAI runs the agent, and the client follows the event stream of its session.

A turn is what the agent did until it waited for the client again. Its request has the agent of the session and the
messages and results that the client had sent since the turn before.
"""

from dataclasses import field

from turntape.cassettes.frozen import mutable
from turntape.cassettes.regex import regex

from ...exchange import Exchange
from ...json_value import Object, as_array, as_count, as_object, as_text, objects_in
from ...values import ApiError, FinishLabel, Kind, Part, RequestReading, ResponseReading, Tool
from ..openai_chat.request import read_tools
from ..openai_chat.usage import chat_usage
from ..protocol import Protocol
from ..shared.agent_event import OWNER
from ..shared.answers import answer, objects
from ..shared.errors import error_in
from ..shared.parts import text_part, unread
from ..traits import AnswerRules, Pairing
from .api import API
from .items import item_message, item_parts
from .not_read import NOT_READ

_PATH = regex(r"/agents/sessions(?:/|$)")
_EVENT = "agent.session."

FINISH: dict[str, FinishLabel] = {
    "completed": "complete",
    "requires_action": "tool_calls",
    "failed": "error",
    "cancelled": "cancelled",
    "budget_reached": "limit",
}


def detect(exchange: Exchange) -> Kind | None:
    """Everything about sessions; a turn is a part of a stream, as the reader of sessions makes it."""
    if not _PATH.search(exchange.path.rstrip("/")):
        return None
    return "generation" if OWNER in exchange.fields else "other"


def read_request(exchange: Exchange) -> RequestReading:
    fields = exchange.fields
    agent = as_object(fields.get("agent"))
    sent = [as_object(event.get("item")) for event in objects_in(fields.get("events"))]
    instructions = as_text(agent.get("instructions"))
    known = ("id", "model", "instructions", "tools", "name")
    return RequestReading(
        model=as_text(agent.get("model")),
        streamed=True,
        system=(text_part(instructions, "/agent/instructions", instructions),) if instructions else (),
        messages=tuple(item_message(item, f"/events/{place}/item") for place, item in enumerate(sent)),
        tools=_tools(agent),
        parameters={key: value for key, value in agent.items() if key not in known and value is not None},
        previous_id=as_text(fields.get(OWNER)),
    )


def _tools(agent: Object) -> tuple[Tool, ...]:
    return read_tools(agent.get("tools"), "/agent/tools")


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    if exchange.framing != "sse":
        return unread(exchange, "a session of an agent")
    draft = Draft()
    problems: list[str] = []
    for name, event in objects(exchange.events, problems):
        draft.add(as_text(event.get("type")) or name, event)
    parts = draft.parts()
    return answer(
        parts,
        finish_raw=draft.word,
        finish=_label(draft, parts),
        ended=draft.word is not None or any(part.call and not part.call.server for part in parts),
        usage=chat_usage(draft.usage) if draft.usage else None,
        usage_raw=draft.usage or None,
        model=None,
        id=request.previous_id,
        error=draft.error,
        problems=problems,
    )


def _label(draft: "Draft", parts: list[Part]) -> FinishLabel | None:
    """A turn that waits for an approval and not for results is paused."""
    calls = any(part.call is not None and not part.call.server for part in parts)
    if draft.word is None:
        return "tool_calls" if calls else None
    if draft.word == "requires_action" and not calls:
        return "pause"
    return FINISH.get(draft.word, "unknown")


@mutable
class Draft:
    """What the events of a turn add up to."""

    items: dict[int, Object] = field(default_factory=dict[int, Object])
    """Items by their place in the output."""
    texts: dict[tuple[int, str], list[str]] = field(default_factory=dict[tuple[int, str], list[str]])
    """Pieces of texts that are not whole yet, by place and kind."""
    usage: Object = field(default_factory=dict[str, object])
    word: str | None = None
    error: ApiError | None = None

    def add(self, name: str, event: Object) -> None:
        """Take in one event."""
        name = name.removeprefix(_EVENT)
        place = as_count(event.get("output_index"))
        if name == "error":
            self.error = self.error or error_in(event.get("error"), in_stream=True)
        elif name in ("turn.item.added", "turn.item.done"):
            self.items[len(self.items) if place is None else place] = as_object(event.get("item"))
        elif name == "turn.output_text.delta":
            self._grow(place or 0, "message", event)
        elif name == "turn.reasoning_summary_text.delta":
            self._grow(place or 0, "reasoning", event)
        elif name == "agent.output.command_execution_output.delta":
            self._grow(place or 0, "command_execution", event)
        elif name.removeprefix("turn.") in FINISH:
            self._end(name.removeprefix("turn."), event)

    def _grow(self, place: int, kind: str, event: Object) -> None:
        self.items.setdefault(place, {"type": kind, "id": event.get("item_id")})
        self.texts.setdefault((place, kind), []).append(as_text(event.get("delta")) or "")

    def _end(self, word: str, event: Object) -> None:
        turn, session = as_object(event.get("turn")), as_object(event.get("session"))
        self.word = word
        self.usage = as_object(event.get("usage")) or as_object(turn.get("usage"))
        failure = turn.get("error") or session.get("error")
        if word == "failed" and self.error is None:
            self.error = error_in(failure, in_stream=True) or ApiError("The turn failed.", in_stream=True)

    def parts(self) -> list[Part]:
        """The parts of all items. A text that came in pieces only is put into its item."""
        found: list[Part] = []
        for number, (place, item) in enumerate(sorted(self.items.items())):
            found += item_parts(self._filled(place, item), f"/items/{number}")
        return found

    def _filled(self, place: int, item: Object) -> Object:
        kind = as_text(item.get("type")) or ""
        text = "".join(self.texts.get((place, kind), ()))
        empty = not any(as_array(item.get(key)) or item.get(key) for key in ("content", "summary", "output"))
        if not text or not empty:
            return item
        piece: list[object] = [{"text": text}]
        whole: dict[str, object] = {"message": piece, "reasoning": piece, "command_execution": text}
        key = {"message": "content", "reasoning": "summary", "command_execution": "output"}[kind]
        return {**item, key: whole[kind]}


OPENAI_AGENTS = Protocol(
    name="openai-agents",
    title="OpenAI Agents API",
    spec="https://developers.openai.com/api/docs/guides/agents-api, and openai 3.54.0, read 2026-11-22",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    finish=dict(FINISH),
    not_read=NOT_READ,
    streams=("sse",),
    api=API,
    pairing=Pairing(anywhere=True),
    answers=AnswerRules(has_word_for_calls=False),
    price_provider="openai",
)
