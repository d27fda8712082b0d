"""Mistral chat: the shape of OpenAI's, with different words, contents and fields."""

from ...exchange import Exchange
from ...json_value import Object
from ...values import FinishLabel, Kind, RequestReading, ResponseReading, Usage
from ..protocol import Protocol
from ..shared.answers import posts
from ..traits import AnswerRules, Pairing, Reasoning, RequestRules
from .answer import FINISH as CHAT_FINISH
from .answer import read_chat_answer
from .answer_format import MARK, MISTRAL, STEADY, WORDS
from .api import MISTRAL_API
from .contradictions import ROLES, breaks, contradictions
from .demands import DEMANDS
from .mistral_roles import check_roles
from .not_read import NOT_READ
from .request import lacks_id, read_chat_request
from .rewrite import EDIT_TARGETS, REWRITE
from .usage import chat_usage

FINISH: dict[str, FinishLabel] = {
    "stop": "complete",
    "length": "length",
    "model_length": "context_full",
    "tool_calls": "tool_calls",
    "error": "error",
}

_OWN_FIELDS = frozenset({"safe_prompt", "random_seed", "prompt_mode", "document_image_limit"})
_OWN_PATHS = ("/fim/completions", "/agents/completions")


def detect(exchange: Exchange) -> Kind | None:
    if posts(exchange, *_OWN_PATHS):
        return "generation"
    if not posts(exchange, "/chat/completions"):
        return None
    # The shape is OpenAI's; the route, the host or a field that nobody else has shows that it is Mistral's.
    named = exchange.round_trip.upstream == "mistral" or "mistral.ai" in exchange.host
    own = named or not _OWN_FIELDS.isdisjoint(exchange.fields)
    return "generation" if own else None


def read_request(exchange: Exchange) -> RequestReading:
    return read_chat_request(exchange.fields)


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    return read_chat_answer(exchange, {**CHAT_FINISH, **FINISH}, mistral_usage)


def mistral_usage(usage: Object) -> Usage:
    """Audio tokens are counted beside `prompt_tokens`; in some answers only the total has them."""
    return chat_usage(usage, "sound" if usage.get("prompt_audio_seconds") else "cached")


MISTRAL_CHAT = Protocol(
    name="mistral-chat",
    title="Mistral chat",
    spec="https://docs.mistral.ai/api/endpoint/chat, and mistralai 3.7.0, read 2026-11-20",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    finish=dict(FINISH),
    not_read=NOT_READ,
    streams=("sse",),
    api=MISTRAL_API,
    rewrite=REWRITE,
    edit_targets=EDIT_TARGETS,
    pairing=Pairing(joins_answers=False),
    requests=RequestRules(
        check_roles=check_roles,
        demands=DEMANDS,
        roles=frozenset({"system", "user", "assistant", "tool"}),
        schema_at=("function", "parameters"),
    ),
    answers=AnswerRules(
        holder="choices",
        roles=ROLES,
        shows_thoughts=True,
        calls_by_index=True,
        always_says_finish=True,
        lacks_id=lacks_id,
        contradictions=contradictions,
        breaks=breaks,
        format=MISTRAL,
        steady=STEADY,
        words=WORDS,
        mark=MARK,
    ),
    reasoning=Reasoning("by_model"),
    price_provider="mistral",
)
