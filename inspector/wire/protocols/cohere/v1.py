"""Cohere chat and generate, version 1: one message with a separate history, streamed as NDJSON."""

from turntape.cassettes.regex import regex

from ...exchange import Exchange
from ...json_value import Object, as_array, as_count, as_object, as_text, compact, is_object
from ...values import ApiError, Kind, Message, Part, RequestReading, ResponseReading, Tool, ToolCall, ToolResult
from ..protocol import Protocol
from ..shared.answers import answer, objects, posts, prompt_message
from ..shared.errors import error_in
from ..shared.output_format import response_format
from ..shared.parts import arguments_of, call_part, chosen, other_fields, text_part, texts, unread
from ..traits import AnswerRules
from .answer_format import V1, V1_ORDER
from .api import API
from .not_read import V1_NOT_READ
from .usage import FINISH, cohere_usage

_ROLES = {"user": "user", "chatbot": "assistant", "system": "system", "tool": "tool"}
_KNOWN = frozenset(
    {"message", "prompt", "chat_history", "preamble", "model", "stream", "tools", "tool_results", "max_tokens"}
    | {"stop_sequences", "tool_choice", "conversation_id"}
)


def detect(exchange: Exchange) -> Kind | None:
    fields = exchange.fields
    if posts(exchange, "/v1/chat", "/chat") and isinstance(fields.get("message"), str) and "messages" not in fields:
        return "generation"
    if posts(exchange, "/v1/generate") and "prompt" in fields:
        return "generation"
    return None


def read_request(exchange: Exchange) -> RequestReading:
    fields = exchange.fields
    history = enumerate(as_array(fields.get("chat_history")))
    messages = [_message(as_object(item), f"/chat_history/{i}") for i, item in history]
    messages += prompt_message(fields.get("message") or fields.get("prompt"), _now(fields))
    if results := _results(fields.get("tool_results"), "/tool_results"):
        messages += _repeated_calls(fields)
        messages.append(Message("tool", results, "/tool_results", fields.get("tool_results")))
    tools = enumerate(as_array(fields.get("tools")))
    preamble = as_text(fields.get("preamble"))
    return RequestReading(
        model=as_text(fields.get("model")),
        streamed=fields.get("stream") is True,
        system=(text_part(preamble, "/preamble", preamble),) if preamble else (),
        messages=tuple(messages),
        tools=tuple(_tool(as_object(tool), f"/tools/{i}") for i, tool in tools),
        tool_choice=chosen(fields.get("tool_choice")),
        max_output=as_count(fields.get("max_tokens")),
        stop=texts(fields.get("stop_sequences")),
        output_format=response_format(fields.get("response_format"), "/response_format"),
        parameters=other_fields(fields, _KNOWN),
        previous_id=as_text(fields.get("conversation_id")),
    )


def _now(fields: Object) -> str:
    return "/message" if fields.get("message") else "/prompt"


def _tool(tool: Object, pointer: str) -> Tool:
    return Tool(
        as_text(tool.get("name")) or "",
        as_text(tool.get("description")),
        _schema(tool.get("parameter_definitions")),
        pointer,
    )


_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "dict": "object", "list": "array"}
"""The names of Python's types, which the API documents for parameters, in JSON Schema."""
_TYPE = regex(r"\w+")


def _schema(definitions: object) -> object:
    """The parameters of a tool as a JSON Schema: the API lists them by name, each with a type of Python's."""
    if not is_object(definitions):
        return definitions
    properties: dict[str, object] = {}
    for name, value in definitions.items():
        fields = as_object(value)
        word = _TYPE.match((as_text(fields.get("type")) or "").lower())
        kind = _TYPES.get(word[0]) if word is not None else None
        # A number that a float takes may be whole, and a type of another name is not checked.
        properties[name] = {
            "description": fields.get("description") or "",
            **({"type": kind} if kind else {}),
            **({"items": {}} if kind == "array" else {}),
        }
    required = [name for name, value in definitions.items() if as_object(value).get("required") is True]
    return {"type": "object", "properties": properties, "required": required}


def _repeated_calls(fields: Object) -> list[Message]:
    """The calls that the results repeat, as the answer that made them, if the history does not end with that answer."""
    last = as_object(next(reversed(as_array(fields.get("chat_history"))), None))
    if as_array(last.get("tool_calls")):
        return []
    given = [as_object(item).get("call") for item in as_array(fields.get("tool_results"))]
    calls = [call for i, value in enumerate(given) for call in _calls_of(value, f"/tool_results/{i}/call")]
    return [Message("assistant", tuple(calls), "/tool_results", given)] if calls else []


def _message(item: Object, pointer: str) -> Message:
    parts: list[Part] = []
    if text := as_text(item.get("message")):
        parts.append(text_part(text, f"{pointer}/message", text))
    parts += _calls(item.get("tool_calls"), pointer)
    parts += _results(item.get("tool_results"), f"{pointer}/tool_results")
    match _ROLES.get((as_text(item.get("role")) or "").lower()):
        case "user":
            return Message("user", tuple(parts), pointer, item)
        case "assistant":
            return Message("assistant", tuple(parts), pointer, item)
        case "system":
            return Message("system", tuple(parts), pointer, item)
        case "tool":
            return Message("tool", tuple(parts), pointer, item)
        case _:
            return Message("other", tuple(parts), pointer, item)


def _calls(calls: object, pointer: str) -> list[Part]:
    listed = enumerate(as_array(calls))
    return [part for i, value in listed for part in _calls_of(value, f"{pointer}/tool_calls/{i}")]


def _calls_of(value: object, pointer: str) -> list[Part]:
    if not is_object(value):
        return []
    arguments, raw = arguments_of(value.get("parameters"))
    return [call_part(ToolCall(as_text(value.get("name")) or "", None, arguments, raw), pointer, value)]


def _results(results: object, pointer: str) -> tuple[Part, ...]:
    parts: list[Part] = []
    for i, value in enumerate(as_array(results)):
        item = as_object(value)
        text = compact(item.get("outputs"))
        read = ToolResult(None, as_text(as_object(item.get("call")).get("name")), False, text)
        parts.append(Part("result", f"{pointer}/{i}", text=text, result=read, raw=value))
    return tuple(parts)


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    problems: list[str] = []
    if exchange.framing in ("ndjson", "sse"):
        body, ended, error = assemble(objects(exchange.events, problems))
        return _read(body, ended=ended, error=error, problems=problems)
    body = exchange.answer_fields
    if not body:
        return unread(exchange, "an answer of Cohere")
    if body.get("event_type") or body.get("is_finished") is False:
        # A stream of one line.
        body, ended, error = assemble([("", body)])
        return _read(body, ended=ended, error=error, problems=problems)
    return _read(body, ended=True, error=None, problems=problems)


def assemble(events: list[tuple[str, Object]]) -> tuple[Object, bool, ApiError | None]:
    text, ended = "", False
    body: Object = {}
    error: ApiError | None = None
    for _, event in events:
        match event.get("event_type"):
            case "tool-calls-generation":
                body["tool_calls"] = event.get("tool_calls")
            case "stream-end":
                body.update(as_object(event.get("response")))
                body["finish_reason"] = event.get("finish_reason") or body.get("finish_reason")
                ended = True
            case "text-generation" | None:
                text += as_text(event.get("text")) or ""
            case _:
                pass
        if event.get("event_type") is None and (event.get("is_finished") is True or event.get("finish_reason")):
            # A whole answer in one line, or the last line of `generate`.
            body.update({key: value for key, value in event.items() if key != "text"})
            body.update(as_object(event.get("response")))
            ended = True
        if generation := event.get("generation_id"):
            body.setdefault("generation_id", generation)
        if event.get("error") or (event.get("message") and "event_type" not in event):
            error = error or error_in(event, in_stream=True)
    if not body.get("text") and not body.get("generations"):
        body["text"] = text
    return body, ended, error


def _read(body: Object, *, ended: bool, error: ApiError | None, problems: list[str]) -> ResponseReading:
    generations = [as_object(item) for item in as_array(body.get("generations"))]
    first = generations[0] if generations else as_object(None)
    text = as_text(body.get("text")) or as_text(first.get("text"))
    pointer = "/generations/0/text" if first else "/text"
    raw = as_text(body.get("finish_reason")) or as_text(first.get("finish_reason"))
    label = FINISH.get(raw.upper(), "unknown") if raw else None
    if label == "error" and error is None:
        error = ApiError(f"The generation ended with {raw}.", raw, in_stream=True)
    meta = as_object(body.get("meta"))
    parts = [text_part(text, pointer, text)] if text else []
    return answer(
        [*parts, *_calls(body.get("tool_calls"), "")],
        finish_raw=raw,
        finish=label,
        ended=ended,
        usage=cohere_usage(meta),
        usage_raw=body.get("meta"),
        model=as_text(body.get("model")),
        id=as_text(body.get("response_id")) or as_text(body.get("generation_id")) or as_text(body.get("id")),
        error=error,
        problems=problems,
    )


COHERE_V1 = Protocol(
    name="cohere-v1",
    title="Cohere chat and generate v1",
    spec="https://docs.cohere.com/v1/reference/chat, and cohere 7.3.1, read 2026-11-20",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    finish=dict(FINISH),
    not_read=V1_NOT_READ,
    streams=("ndjson", "sse"),
    api=API,
    answers=AnswerRules(format=V1, order=V1_ORDER, has_word_for_calls=False),
)
