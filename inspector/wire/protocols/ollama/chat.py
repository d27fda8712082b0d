"""Ollama's native chat: NDJSON or one object, tool calls as objects and mostly without ids."""

from dataclasses import replace

from turntape.cassettes.regex import regex

from ...exchange import Exchange
from ...json_value import Object, as_array, as_count, as_object, as_text, parse_json
from ...values import Kind, Message, Part, RequestReading, ResponseReading
from ..openai_chat.request import message_calls, read_chat_request
from ..protocol import Protocol
from ..shared.answers import first_object, posts
from ..shared.parts import media_part, text_part, texts
from ..traits import AnswerRules, ArgumentsField, Pairing, RequestRules
from .answer import FINISH, IDLE, contradictions, joined, output_format, read_lines
from .answer_format import CHAT, STEADY
from .api import CHAT_API
from .demands import DEMANDS
from .not_read import NOT_READ
from .rewrite import EDIT_TARGETS, REWRITE

_OWN_HOST = regex(r"^[a-z]+://(?:[^/]*\.)?(?:ollama\.com(?::\d+)?|[^/]+:11434)/")
"""Ollama's cloud, and its own port. Others have an endpoint of this path too, for something else."""


def detect(exchange: Exchange) -> Kind | None:
    if not posts(exchange, "/api/chat") or not ("messages" in exchange.fields or _is_cut(exchange)):
        return None
    body = first_object(exchange)
    foreign = bool(body) and not {"done", "error", "message", "created_at"} & set(body)
    return None if foreign and not _OWN_HOST.search(exchange.round_trip.request.url) else "generation"


def _is_cut(exchange: Exchange) -> bool:
    """True for the beginning of a request: no JSON, and a list of messages in it."""
    body = exchange.round_trip.request.body
    return body.lstrip()[:1] == b"{" and b'"messages"' in body and parse_json(body) is None


def read_request(exchange: Exchange) -> RequestReading:
    fields = exchange.fields
    request = read_chat_request(fields)
    options = as_object(fields.get("options"))
    return replace(
        request,
        streamed=fields.get("stream") is not False,
        messages=tuple(read_message(message) for message in request.messages),
        max_output=request.max_output or as_count(options.get("num_predict")),
        stop=request.stop or texts(options.get("stop")),
        output_format=output_format(fields),
    )


def read_message(message: Message) -> Message:
    raw = as_object(message.raw)
    parts = list(message.parts)
    if message.role == "tool" and (name := as_text(raw.get("tool_name"))):
        parts = [replace(p, result=replace(p.result, name=name)) if p.result else p for p in parts]
    images = enumerate(as_array(raw.get("images")))
    parts += [media_part("image", f"{message.pointer}/images/{i}", image) for i, image in images]
    return replace(message, parts=tuple(parts))


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    return read_lines(exchange, _parts, "a chat answer of Ollama")


def _parts(bodies: list[Object]) -> list[Part]:
    parts: list[Part] = []
    if thinking := joined(bodies, "message", "thinking"):
        parts.append(text_part(thinking, "/message/thinking", thinking, "reasoning"))
    if text := joined(bodies, "message", "content"):
        parts.append(text_part(text, "/message/content", text))
    calls = [call for body in bodies for call in as_array(as_object(body.get("message")).get("tool_calls"))]
    return [*parts, *message_calls({"tool_calls": calls}, "/message")]


OLLAMA_CHAT = Protocol(
    name="ollama-chat",
    title="Ollama chat",
    spec="https://docs.ollama.com/api/chat, and ollama 0.6.3, read 2026-11-20",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    finish=dict(FINISH),
    not_read=NOT_READ,
    streams=("ndjson",),
    api=CHAT_API,
    rewrite=REWRITE,
    edit_targets=EDIT_TARGETS,
    pairing=Pairing(named_results=True),
    requests=RequestRules(
        demands=DEMANDS,
        roles=frozenset({"system", "user", "assistant", "tool", "control"}),
        schema_at=("function", "parameters"),
        arguments=(ArgumentsField(("function",), "arguments", "object"),),
    ),
    answers=AnswerRules(
        format=CHAT,
        steady=STEADY,
        holder="message",
        roles=(("message", "role"),),
        has_word_for_calls=False,
        drops_prompt_silently=True,
        shows_thoughts=True,
        always_says_finish=True,
        marks_end=True,
        idle_words=IDLE,
        contradictions=contradictions,
    ),
    has_prices=False,
)
