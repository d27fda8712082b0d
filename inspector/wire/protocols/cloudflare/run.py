"""Cloudflare Workers AI by its own endpoint, `/ai/run/@cf/…`, and behind Cloudflare's gateway."""

from urllib.parse import unquote

from turntape.cassettes.regex import regex

from ...exchange import Exchange
from ...json_value import Object, as_array, as_object, as_text, compact, is_object, parse_json
from ...values import Kind, Part, RequestReading, ResponseReading
from ..openai_chat.answer import read_chat_answer, read_chat_body
from ..openai_chat.request import read_call, read_chat_request
from ..openai_chat.usage import chat_usage
from ..protocol import Protocol
from ..shared.answers import answer, first_object, has_done, objects, prompt_message, stream_error
from ..shared.errors import error_in
from ..shared.parts import call_part, text_of, text_part, unread
from ..traits import AnswerRules
from .api import API

_PATH = regex(r"/(?:ai/run|workers-ai)/((?:@|%40)[^?]+)$")
_WORDS = frozenset({"response", "tool_calls", "choices"})


def detect(exchange: Exchange) -> Kind | None:
    """A model that writes text; models for images and embeddings share the path."""
    if exchange.method != "POST" or not _PATH.search(exchange.path):
        return None
    asks = "messages" in exchange.fields or "prompt" in exchange.fields
    body = first_object(exchange)
    failed = body.get("success") is False or exchange.response is None or exchange.response.status >= 400
    writes = failed or not _WORDS.isdisjoint(_result(body))
    return "generation" if asks and writes else None


def _result(body: Object) -> Object:
    """The answer itself. An unstreamed answer has it in `result`."""
    return as_object(body.get("result")) or body


def read_request(exchange: Exchange) -> RequestReading:
    found = _PATH.search(exchange.path)
    messages = [_with_calls(as_object(message)) for message in as_array(exchange.fields.get("messages"))]
    fields = {**exchange.fields, "messages": messages} if messages else exchange.fields
    request = read_chat_request(fields, unquote(found[1]) if found else None)
    if request.messages:
        return request
    messages = prompt_message(exchange.fields.get("prompt"), "/prompt")
    parameters = {key: value for key, value in request.parameters.items() if key != "prompt"}
    return RequestReading(
        model=request.model,
        streamed=request.streamed,
        messages=messages,
        max_output=request.max_output,
        parameters=parameters,
    )


def _with_calls(message: Object) -> Object:
    """A message with its calls as OpenAI has them.

    Cloudflare's `runWithTools` sends each call back as the JSON text of an answer (@cloudflare/ai-utils 1.0.1), and
    others send the list that the API gave, whose calls have no `function`.
    """
    if message.get("role") != "assistant":
        return message
    given = [as_object(call) for call in as_array(message.get("tool_calls"))]
    if given:
        return {**message, "tool_calls": [_as_function(call) for call in given]}
    content = message.get("content")
    written = as_object(parse_json(content)) if isinstance(content, str) and content[:1] == "{" else {}
    is_call = isinstance(written.get("name"), str) and "arguments" in written and written.keys() <= _CALL
    return {**message, "content": None, "tool_calls": [_as_function(written)]} if is_call else message


def _as_function(call: Object) -> Object:
    return call if "function" in call else {"id": call.get("id"), "function": call}


_CALL = frozenset({"id", "name", "arguments"})
"""The fields of a call of the API."""


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    if exchange.framing == "sse":
        if "choices" in first_object(exchange):
            return read_chat_answer(exchange)
        bodies = [body for _, body in objects(exchange.events, [])]
        return _read(bodies, exchange, ended=has_done(exchange))
    body = exchange.answer_fields
    if not body:
        return unread(exchange, "Workers AI")
    result = _result(body)
    if "choices" in result:
        return read_chat_body(result)
    return _read([{**result, "failure": body if body.get("success") is False else None}], exchange, ended=True)


def _read(bodies: list[Object], exchange: Exchange, *, ended: bool) -> ResponseReading:
    """A whole answer, or the chunks of a stream; there is no finish word."""
    parts: list[Part] = []
    if text := "".join(_words(body.get("response")) for body in bodies):
        parts.append(text_part(text, "/result/response", text))
    for body in bodies:
        for call in map(as_object, as_array(body.get("tool_calls"))):
            read = read_call(_as_function(call))
            parts.append(call_part(read, f"/result/tool_calls/{sum(p.call is not None for p in parts)}", call))
    usage = next((found for body in reversed(bodies) if (found := as_object(body.get("usage")))), None)
    failure = next((error for body in bodies if (error := error_in(body.get("failure")))), None)
    error = failure or stream_error(exchange.events)
    called = any(part.call is not None for part in parts)
    return answer(
        parts,
        finish=("tool_calls" if called else "complete") if ended and error is None else None,
        ended=ended or error is not None,
        usage=chat_usage(usage) if usage else None,
        usage_raw=usage,
        model=next((model for body in bodies if (model := as_text(body.get("model")))), None),
        error=error,
    )


def _words(value: object) -> str:
    """The text of an answer; in JSON mode the API gives the JSON itself, which may have any fields."""
    return compact(value) if is_object(value) else text_of(value)


CLOUDFLARE_RUN = Protocol(
    name="cloudflare-run",
    title="Cloudflare Workers AI",
    spec="https://developers.cloudflare.com/workers-ai/models/, and @cloudflare/workers-types, read 2026-11-22",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    streams=("sse",),
    api=API,
    answers=AnswerRules(has_word_for_calls=False),
)
