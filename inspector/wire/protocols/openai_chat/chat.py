"""OpenAI Chat Completions, and every provider that uses its shape."""

from turntape.cassettes.regex import regex

from ...exchange import Exchange
from ...json_value import as_array, as_object, as_text
from ...values import Kind, RequestReading, ResponseReading
from ..protocol import Protocol
from ..traits import AnswerRules, ArgumentsField, Pairing, Reasoning, RequestRules
from .answer import FINISH, read_chat_answer
from .answer_format import FORMAT, MARK, STEADY, WORDS
from .api import API
from .contradictions import ROLES, breaks, contradictions
from .demands import DEMANDS
from .not_read import NOT_READ
from .request import ROLES as REQUEST_ROLES
from .request import lacks_id, read_chat_request
from .rewrite import EDIT_TARGETS, REWRITE

_DEPLOYMENT = regex(r"/(?:deployments|serving-endpoints|engines)/([^/]+)/")
_STORED = regex(r"/chat/completions/[^/]+")


def is_chat_answer(exchange: Exchange) -> bool:
    """True for an answer, streamed or not, that says `chat.completion` or holds choices with messages."""
    bodies = [as_object(exchange.answer)] if exchange.framing is None else _first_events(exchange)
    for body in bodies:
        if (as_text(body.get("object")) or "").startswith("chat.completion"):
            return True
        choice = as_object(next(iter(as_array(body.get("choices"))), None))
        if "message" in choice or "delta" in choice:
            return True
    return False


def _first_events(exchange: Exchange) -> list[dict[str, object]]:
    from ...json_value import parse_json

    data = [event.data for event in exchange.events if event.kind == "data"]
    return [as_object(parse_json(event)) for event in data[:3]]


def detect(exchange: Exchange) -> Kind | None:
    path = exchange.path.rstrip("/")
    if path.endswith("/chat/completions"):
        return "generation" if exchange.method == "POST" else "stored"
    if _STORED.search(path):
        return "stored"
    if exchange.method != "POST":
        return None
    # Stored prompts of gateways, model servers, and any other path that is answered as a chat.
    return "generation" if is_chat_answer(exchange) else None


def read_request(exchange: Exchange) -> RequestReading:
    deployment = _DEPLOYMENT.search(exchange.path)
    return read_chat_request(exchange.fields, deployment[1] if deployment else None)


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    return read_chat_answer(exchange)


OPENAI_CHAT = Protocol(
    name="openai-chat",
    title="OpenAI Chat Completions",
    spec="https://platform.openai.com/docs/api-reference/chat, and openai 3.52.0, read 2026-11-20",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    finish=dict(FINISH),
    not_read=NOT_READ,
    streams=("sse", "ndjson"),
    api=API,
    rewrite=REWRITE,
    edit_targets=EDIT_TARGETS,
    pairing=Pairing(joins_answers=False),
    requests=RequestRules(
        demands=DEMANDS,
        roles=frozenset(REQUEST_ROLES),
        tool_name=regex(r"[a-zA-Z0-9_-]{1,64}"),
        max_tools=128,
        arguments=(ArgumentsField(("function",), "arguments", "string", required=True),),
        rejects_nothing_said=True,
        schema_at=("function", "parameters"),
        usage_on_request=True,
        strict_tools=True,
    ),
    answers=AnswerRules(
        holder="choices",
        roles=ROLES,
        calls_by_index=True,
        always_says_finish=True,
        lacks_id=lacks_id,
        contradictions=contradictions,
        breaks=breaks,
        format=FORMAT,
        steady=STEADY,
        words=WORDS,
        mark=MARK,
    ),
    reasoning=Reasoning("by_model"),
)
