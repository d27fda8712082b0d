"""Anthropic Messages: Anthropic's API, Vertex's raw prediction, and gateways."""

from turntape.cassettes.regex import regex

from ...cache_rules import CLAUDE
from ...exchange import Exchange, header
from ...json_value import as_array, as_object, is_array
from ...values import Kind, RequestReading, ResponseReading
from ..protocol import Protocol
from ..traits import AnswerRules, ArgumentsField, Caching, Demand, Pairing, Reasoning, RequestRules
from .answer import FINISH, read_anthropic_answer
from .answer_format import FORMAT, ORDER
from .api import API
from .contradictions import breaks, contradictions
from .not_read import NOT_READ
from .request import lacks_id, read_anthropic_request
from .rewrite import EDIT_TARGETS, REWRITE
from .roles import check_roles

_VERTEX = regex(r"/models/([^/:]+):(rawPredict|streamRawPredict)$")
_BATCHES = regex(r"/messages/batches(/|$)")


def _is_anthropic(exchange: Exchange) -> bool:
    """True when the body, the headers or the answer is Anthropic's: other APIs have `/messages` too."""
    if "anthropic_version" in exchange.fields or header(exchange.request.headers, "anthropic-version"):
        return True
    fields = exchange.fields
    if as_array(fields.get("messages")) and "max_tokens" in fields and "/threads/" not in exchange.path:
        return True
    return as_object(exchange.answer).get("type") in ("message", "error")


def detect(exchange: Exchange) -> Kind | None:
    path = exchange.path.rstrip("/")
    if _VERTEX.search(path):
        # On Vertex, other publishers have the same verb.
        own = "/publishers/anthropic/" in path or "anthropic_version" in exchange.fields or _answers(exchange)
        return "generation" if own else None
    if _BATCHES.search(path) and "/threads/" not in path:
        return "batches"
    if path.endswith("/messages/count_tokens"):
        return "count_tokens"
    if path.endswith("/v1/complete"):
        return None
    if exchange.method != "POST":
        return None
    if path.endswith("/messages") and (path.endswith("/v1/messages") or _is_anthropic(exchange)):
        return "generation" if "/threads/" not in path else None
    if "messages" in exchange.fields and "max_tokens" in exchange.fields and _answers(exchange):
        return "generation" if "/model/" not in path else None
    return None


def _answers(exchange: Exchange) -> bool:
    """True for an answer that only this protocol gives, wherever the gateway has put the endpoint."""
    if exchange.framing == "sse":
        return any(event.name == "message_start" for event in exchange.events[:3])
    body = as_object(exchange.answer)
    return body.get("type") == "message" and is_array(body.get("content"))


def read_request(exchange: Exchange) -> RequestReading:
    vertex = _VERTEX.search(exchange.path)
    streamed = vertex is not None and vertex[2] == "streamRawPredict"
    return read_anthropic_request(exchange.fields, vertex[1] if vertex else None, streamed=streamed)


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    return read_anthropic_answer(exchange)


ANTHROPIC_MESSAGES = Protocol(
    name="anthropic-messages",
    title="Anthropic Messages",
    spec="https://docs.claude.com/en/api/messages, and anthropic 2.12.0, read 2026-11-22",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    finish=dict(FINISH),
    not_read=NOT_READ,
    streams=("sse",),
    api=API,
    rewrite=REWRITE,
    edit_targets=EDIT_TARGETS,
    pairing=Pairing(results_first=True),
    requests=RequestRules(
        demands=(Demand("no_reasoning", ("thinking", "type"), ("disabled",)),),
        check_roles=check_roles,
        roles=frozenset({"user", "assistant", "system"}),
        schema_at=("input_schema",),
        tool_name=regex(r"[a-zA-Z0-9_-]{1,128}"),
        arguments=(ArgumentsField((), "input", "object", required=True),),
        rejects_empty_text=True,
        needs_tools_for_history=True,
        marks_errors=True,
    ),
    answers=AnswerRules(
        roles=(("role",), ("message", "role")),
        always_says_finish=True,
        contradictions=contradictions,
        breaks=breaks,
        format=FORMAT,
        order=ORDER,
        lacks_id=lacks_id,
        gives_results=True,
        names_events=True,
        words=frozenset(FINISH),
        shows_thoughts=True,
    ),
    reasoning=Reasoning("required"),
    caching=Caching(on_request=True, has_marks=True, most_marks=4, rules=CLAUDE),
    price_provider="anthropic",
)
