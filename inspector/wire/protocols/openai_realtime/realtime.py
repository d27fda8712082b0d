"""OpenAI Realtime over WebSocket: one turn for each response; its request has the items that came since the last."""

from collections.abc import Iterator
from dataclasses import replace

from ...exchange import Exchange
from ...json_value import Object, as_object, as_text
from ...values import FinishLabel, Kind, RequestReading, ResponseReading
from ..openai_responses.agreement import disagreements
from ..openai_responses.contradictions import final_differs
from ..openai_responses.items import lacks_id
from ..openai_responses.responses import FINISH as RESPONSES_FINISH
from ..openai_responses.responses import read_responses_body, read_responses_request
from ..openai_responses.stream import ResponseDraft, final_without_items
from ..protocol import Protocol
from ..shared.answers import objects
from ..shared.parts import unread
from ..traits import AnswerRules, Pairing, RequestRules
from .api import API
from .not_read import NOT_READ

_WORDS = (
    "completed",
    "failed",
    "cancelled",
    "in_progress",
    "incomplete: max_output_tokens",
    "incomplete: content_filter",
)
FINISH: dict[str, FinishLabel] = {word: RESPONSES_FINISH[word] for word in _WORDS}


def detect(exchange: Exchange) -> Kind | None:
    """A turn of a session, as the reader of sessions makes it, or a session that was refused; a session is not one."""
    if not exchange.path.rstrip("/").endswith("/realtime"):
        return None
    is_turn = exchange.method == "POST" and "input" in exchange.fields
    return "generation" if is_turn or exchange.failed_handshake else None


def read_request(exchange: Exchange) -> RequestReading:
    """The URL names the model that the client wants; without one, the session's is known from the server alone."""
    request = read_responses_request(exchange.fields)
    return replace(request, model=exchange.query.get("model") or request.model)


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    if exchange.framing != "sse":
        return unread(exchange, "a response")
    draft = ResponseDraft()
    ended = False
    for name, event in objects(exchange.events, draft.problems):
        draft.add(name.removeprefix("!"), event)
        ended = ended or (as_text(event.get("type")) or name) == "response.done"
    body, reason = _as_response(draft.whole())
    reading = read_responses_body(body, ended=ended, error=draft.error, problems=draft.problems)
    said = draft.body.get("usage")
    return replace(
        reading,
        model=reading.model or as_text(exchange.fields.get("model")),
        usage_raw=said,
        finish_detail=reading.finish_detail or (reason if ended else None),
    )


def _as_response(body: Object) -> tuple[Object, str | None]:
    """The response as OpenAI Responses has it, and why it ended where it says that."""
    details = as_object(body.get("status_details"))
    reason, usage = as_text(details.get("reason")), as_object(body.get("usage"))
    named = {key.replace("_token_details", "_tokens_details"): value for key, value in usage.items()}
    whole: Object = {**body, "usage": named or None}
    if body.get("status") == "incomplete":
        whole["incomplete_details"] = {"reason": reason}
    if error := as_object(details.get("error")):
        whole["error"] = {"message": as_text(error.get("message")) or as_text(error.get("type")) or "", **error}
    return whole, reason


def _contradictions(exchange: Exchange) -> Iterator[str]:
    yield from final_differs(exchange)
    yield from disagreements(exchange)


OPENAI_REALTIME = Protocol(
    name="openai-realtime",
    title="OpenAI Realtime",
    spec="https://platform.openai.com/docs/api-reference/realtime, and openai 3.54.0, read 2026-11-22",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    finish=dict(FINISH),
    not_read=NOT_READ,
    streams=("sse",),
    api=API,
    pairing=Pairing(anywhere=True),
    requests=RequestRules(),
    answers=AnswerRules(
        vague_words=frozenset({"incomplete"}),
        has_word_for_calls=False,
        final_without_items=final_without_items,
        lacks_id=lacks_id,
        contradictions=_contradictions,
    ),
    price_provider="openai",
)
