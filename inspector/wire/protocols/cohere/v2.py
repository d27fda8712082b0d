"""Cohere chat, version 2."""

from dataclasses import replace

from ...exchange import Exchange
from ...json_value import Object, as_object, as_text
from ...values import ApiError, Kind, Message, Part, RequestReading, ResponseReading
from ..openai_chat.request import content_parts, lacks_id, message_calls, read_chat_request
from ..protocol import Protocol
from ..shared.answers import answer, posts, read_assembled
from ..shared.parts import text_part, texts
from ..traits import AnswerRules, ArgumentsField, Demand, RequestRules
from .answer_format import V2, V2_ORDER
from .api import API
from .not_read import NOT_READ
from .rewrite import EDIT_TARGETS, REWRITE
from .stream import assemble, contradictions
from .usage import FINISH, cohere_usage

DEMANDS = (
    Demand("logprobs", ("logprobs",), shown=("logprobs",)),
    Demand("no_reasoning", ("thinking", "type"), ("disabled",)),
)


def detect(exchange: Exchange) -> Kind | None:
    return "generation" if posts(exchange, "/v2/chat") else None


def read_request(exchange: Exchange) -> RequestReading:
    request = read_chat_request(exchange.fields)
    messages = tuple(_message(message) for message in request.messages)
    return replace(request, messages=messages, stop=texts(exchange.fields.get("stop_sequences")))


def _message(message: Message) -> Message:
    plan = as_text(as_object(message.raw).get("tool_plan"))
    if not plan:
        return message
    return replace(message, parts=(text_part(plan, f"{message.pointer}/tool_plan", plan, "reasoning"), *message.parts))


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    return read_assembled(exchange, "a chat answer of Cohere", assemble, _read, "message-start")


def _read(body: Object, *, ended: bool, error: ApiError | None, problems: list[str]) -> ResponseReading:
    message = as_object(body.get("message"))
    parts: list[Part] = []
    if plan := as_text(message.get("tool_plan")):
        parts.append(text_part(plan, "/message/tool_plan", plan, "reasoning"))
    parts += content_parts(message.get("content"), "/message/content")
    for part in message_calls(message, "/message"):
        whole = as_object(part.raw).get("cut") is not True
        parts.append(replace(part, call=replace(part.call, complete=whole)) if part.call else part)
    raw = as_text(body.get("finish_reason"))
    label = FINISH.get(raw, "unknown") if raw else None
    if label == "error" and error is None:
        error = ApiError(as_text(body.get("error")) or f"The generation ended with {raw}.", raw, in_stream=True)
    return answer(
        parts,
        finish_raw=raw,
        finish=label,
        ended=ended,
        usage=cohere_usage(as_object(body.get("usage"))),
        usage_raw=body.get("usage"),
        model=as_text(body.get("model")),
        id=as_text(body.get("id")),
        error=error,
        problems=problems,
    )


COHERE_V2 = Protocol(
    name="cohere-v2",
    title="Cohere chat v2",
    spec="https://docs.cohere.com/reference/chat, and cohere 7.3.1, read 2026-11-20",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    finish=dict(FINISH),
    not_read=NOT_READ,
    streams=("sse",),
    api=API,
    rewrite=REWRITE,
    edit_targets=EDIT_TARGETS,
    requests=RequestRules(
        demands=DEMANDS,
        roles=frozenset({"system", "user", "assistant", "tool"}),
        arguments=(ArgumentsField(("function",), "arguments", "string"),),
        schema_at=("function", "parameters"),
    ),
    answers=AnswerRules(
        format=V2,
        order=V2_ORDER,
        holder="message",
        roles=(("message", "role"), ("delta", "message", "role")),
        streams_holder=False,
        always_says_finish=True,
        lacks_id=lacks_id,
        contradictions=contradictions,
        words=frozenset(FINISH),
        shows_thoughts=True,
    ),
    price_provider="cohere",
)
