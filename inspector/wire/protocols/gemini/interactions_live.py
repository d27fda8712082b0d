"""Gemini Interactions over WebSocket: one turn for each answer; its request has the input that came since the last."""

from dataclasses import replace

from ...exchange import Exchange
from ...interactions_session import Steps
from ...json_value import Object, as_count, as_object, as_text
from ...values import FinishLabel, Kind, RequestReading, ResponseReading
from ..protocol import Protocol
from ..shared.answers import read_assembled
from ..shared.parts import unread
from ..traits import AnswerRules, Pairing, Reasoning
from .api import INTERACTIONS_LIVE_API
from .interactions import assemble, read_body
from .interactions import read_request as read_stored_request
from .not_read import INTERACTIONS_LIVE_NOT_READ

FINISH: dict[str, FinishLabel] = {"interaction.cancelled": "cancelled", "interaction.canceled": "cancelled"}
"""The events that say how an answer ended. Others end when their steps have stopped, and no word says why."""

_MADE = ("interaction", "turn")
"""Fields of a turn's request that are not on the wire."""


def detect(exchange: Exchange) -> Kind | None:
    """A turn of a session, as the reader of sessions makes it, or a session that was refused; a session is not one."""
    if not exchange.path.rstrip("/").endswith("/interactions/live"):
        return None
    is_turn = exchange.method == "POST" and "turn" in exchange.fields
    return "generation" if is_turn or exchange.failed_handshake else None


def read_request(exchange: Exchange) -> RequestReading:
    request = read_stored_request(exchange)
    parameters = {key: value for key, value in request.parameters.items() if key not in _MADE}
    return replace(request, parameters=parameters, streamed=True)


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    if exchange.framing != "sse":
        return unread(exchange, "a turn of a live interaction")
    name, number = as_text(exchange.fields.get("interaction")), as_count(exchange.fields.get("turn"))
    reading = read_assembled(exchange, "a turn of a live interaction", lambda e: _assemble(e, number == 1), read_body)
    word = next((kind for event in exchange.events if (kind := _kind(as_object(event.value))) in FINISH), None)
    label: FinishLabel | None = FINISH[word] if word else "tool_calls" if reading.calls else "complete"
    if reading.error is not None:
        label = "error"
    return replace(
        reading,
        finish_raw=word,
        finish=label if reading.ended else None,
        id=f"{name}/{number}",
        continuation=name,
    )


def _kind(event: Object) -> str:
    return as_text(event.get("event_type")) or ""


def _assemble(events: list[tuple[str, Object]], is_first: bool) -> tuple[Object, bool]:
    """The answer that the events add up to, and whether it has ended.

    The counts beside a step that are its own are summed. The others are those of the whole interaction so far, and so
    of its first turn alone.
    """
    body, _ = assemble(events)
    steps = Steps()
    own: dict[str, int] = {}
    for name, event in events:
        steps.add(_kind(event) or name, event)
        for key, value in as_object(event.get("step_usage")).items():
            if (count := as_count(value)) is not None:
                own[key] = own.get(key, 0) + count
        status = as_object(event.get("status"))
        if as_count(status.get("code")):
            body["error"] = status
    if own:
        body["usage"] = own
    elif not is_first:
        body.pop("usage", None)
    return body, steps.over


GEMINI_INTERACTIONS_LIVE = Protocol(
    name="gemini-interactions-live",
    title="Gemini Interactions, live",
    spec="google-genai 3.6.1, read 2026-11-29",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    finish=dict(FINISH),
    not_read=INTERACTIONS_LIVE_NOT_READ,
    streams=("sse",),
    api=INTERACTIONS_LIVE_API,
    pairing=Pairing(anywhere=True),
    answers=AnswerRules(has_word_for_calls=False),
    reasoning=Reasoning("unused"),
    price_provider="google",
    operation="generate_content",
)
