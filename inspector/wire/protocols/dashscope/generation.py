"""DashScope's own text and multimodal generation: chat messages under `input`, everything else under `parameters`.

Alibaba also offers its models behind `/compatible-mode/v1`; those round trips are Chat Completions.
"""

from dataclasses import replace
from functools import partial

from turntape.cassettes.regex import regex

from ...exchange import Exchange, header
from ...json_value import Object, as_array, as_count, as_object, as_text, objects_in, value_at
from ...values import ApiError, FinishLabel, Kind, Message, Part, RequestReading, ResponseReading, ToolResult, Usage
from ..openai_chat.deltas import index_of
from ..openai_chat.request import message_calls, message_reasoning, read_message, read_tool_choice, read_tools
from ..openai_chat.usage import chat_usage
from ..protocol import Protocol
from ..shared.answers import answer, prompt_message, read_assembled
from ..shared.choices import Verdict, choices_of, most_severe
from ..shared.errors import error_in
from ..shared.output_format import response_format
from ..shared.parts import media_part, other_fields, text_part, texts
from .api import API
from .stream import assemble

_PATH = regex(r"/services/aigc/(?:text|multimodal)-generation/generation$")
_TURNS = frozenset({"messages", "prompt", "history"})
_BESIDE = frozenset({"model", "input", "parameters"})
_OPTIONS = frozenset({"tools", "tool_choice", "parallel_tool_calls", "max_tokens", "stop"})
_MEDIA = ("image", "audio", "video", "file")

FINISH: dict[str, FinishLabel] = {"stop": "complete", "length": "length", "tool_calls": "tool_calls"}


def detect(exchange: Exchange) -> Kind | None:
    """Only with a conversation: speech synthesis shares the multimodal path."""
    if exchange.method != "POST" or not _PATH.search(exchange.path.rstrip("/")):
        return None
    return "generation" if not _TURNS.isdisjoint(as_object(exchange.fields.get("input"))) else "other"


def read_request(exchange: Exchange) -> RequestReading:
    fields = exchange.fields
    given, options = as_object(fields.get("input")), as_object(fields.get("parameters"))
    parallel = options.get("parallel_tool_calls")
    return RequestReading(
        model=as_text(fields.get("model")),
        streamed=_asks_for_stream(exchange),
        messages=(*_history(given), *_messages(given), *prompt_message(given.get("prompt"), "/input/prompt")),
        tools=read_tools(options.get("tools"), "/parameters/tools"),
        tool_choice=read_tool_choice(options.get("tool_choice")),
        parallel_tool_calls=parallel if isinstance(parallel, bool) else None,
        max_output=as_count(options.get("max_tokens")),
        stop=texts(options.get("stop")),
        output_format=response_format(options.get("response_format"), "/parameters/response_format"),
        parameters={**other_fields(fields, _BESIDE), **other_fields(options, _OPTIONS)},
    )


def _asks_for_stream(exchange: Exchange) -> bool:
    headers = exchange.request.headers
    enabled = header(headers, "x-dashscope-sse") == "enable"
    return enabled or "text/event-stream" in (header(headers, "accept") or "")


def _messages(given: Object) -> tuple[Message, ...]:
    return tuple(_message(as_object(m), f"/input/messages/{i}") for i, m in enumerate(as_array(given.get("messages"))))


def _message(message: Object, pointer: str) -> Message:
    read = read_message(message, pointer)
    if read.role == "tool" or not isinstance(message.get("content"), list):
        return read
    parts = (*_reasoning(message, pointer), *_content(message, pointer), *message_calls(message, pointer))
    return Message(read.role, parts, pointer, message)


def _content(message: Object, pointer: str) -> list[Part]:
    """Content as a string, or as a list of objects that have their kind as a key: `{"text": …}`, `{"image": …}`."""
    content = message.get("content")
    if isinstance(content, str):
        return [text_part(content, f"{pointer}/content", content)] if content else []
    return [_piece(as_object(piece), f"{pointer}/content/{i}") for i, piece in enumerate(as_array(content))]


def _piece(piece: Object, pointer: str) -> Part:
    text = as_text(piece.get("text"))
    if text is not None:
        return text_part(text, pointer, piece)
    kind = next((kind for kind in _MEDIA if kind in piece), None)
    if kind is not None:
        return media_part(kind, pointer, piece)
    return Part("other", pointer, text=f"[{next(iter(piece), 'content')}]", raw=piece)


def _history(given: Object) -> list[Message]:
    """The older `history`: pairs of a user's text and the answer to it."""
    messages: list[Message] = []
    for i, pair in enumerate(objects_in(given.get("history"))):
        for role in ("user", "bot"):
            text, pointer = as_text(pair.get(role)), f"/input/history/{i}/{role}"
            if text is not None:
                part = text_part(text, pointer, text)
                messages.append(Message("user" if role == "user" else "assistant", (part,), pointer, pair))
    return messages


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    in_pieces = request.parameters.get("incremental_output") is True
    return read_assembled(exchange, "a generation of DashScope", partial(assemble, in_pieces=in_pieces), _read)


def _read(body: Object, *, ended: bool, error: ApiError | None, problems: list[str]) -> ResponseReading:
    output, usage = as_object(body.get("output")), as_object(body.get("usage"))
    choices = objects_in(output.get("choices"))
    parts = [part for place, choice in enumerate(choices) for part in _said(choice, place)]
    if not choices and (text := as_text(output.get("text"))):
        parts.append(text_part(text, "/output/text", text))
    found = as_object(output.get("search_info"))
    if found:
        parts.append(_search_results(found))
    verdicts = [_verdict(choice) for choice in choices or [output]]
    raw, label = most_severe(verdicts)
    if error is None and (body.get("code") or not output):
        error = error_in(body)
    whole = answer(
        parts,
        finish_raw=raw,
        finish=label,
        ended=ended,
        usage=_usage(usage) if usage else None,
        usage_raw=body.get("usage"),
        model=as_text(body.get("model")),
        id=as_text(body.get("request_id")),
        error=error,
        problems=problems,
    )
    if len(choices) < 2:
        return whole
    first = answer(_said(choices[0], 0))
    every = choices_of(parts, verdicts, "/output/choices")
    return replace(whole, text=first.text, reasoning=first.reasoning, choices=every)


def _said(choice: Object, place: int) -> list[Part]:
    """What one choice says: reasoning, content, calls."""
    message, pointer = as_object(choice.get("message")), f"/output/choices/{place}/message"
    calls = [
        replace(part, call=replace(part.call, choice=index_of(choice)))
        for part in message_calls(message, pointer)
        if part.call is not None
    ]
    return [*_reasoning(message, pointer), *_content(message, pointer), *calls]


def _reasoning(message: Object, pointer: str) -> list[Part]:
    parts = message_reasoning(message, pointer)
    if signature := as_text(message.get("reasoning_signature")):
        parts.append(Part("reasoning", f"{pointer}/reasoning_signature", signature=signature, raw=signature))
    return parts


def _search_results(found: Object) -> Part:
    """The pages that the API's own web search found."""
    pages = objects_in(found.get("search_results"))
    text = "\n".join(" ".join(filter(None, (as_text(page.get("title")), as_text(page.get("url"))))) for page in pages)
    result = ToolResult(None, "web_search", False, text, server=True)
    return Part("result", "/output/search_info", text=text, result=result, raw=found)


def _verdict(choice: Object) -> Verdict:
    """The finish word of a choice; while it is being generated the word is the text `null`."""
    word = as_text(choice.get("finish_reason"))
    return (None, None) if word in (None, "", "null") else (word, FINISH.get(word, "unknown"))


def _usage(usage: Object) -> Usage:
    searched = as_count(value_at(usage, ("plugins", "search", "count"))) or 0
    return replace(chat_usage(usage), web_searches=searched)


DASHSCOPE = Protocol(
    name="dashscope",
    title="Alibaba DashScope",
    spec="https://help.aliyun.com/en/model-studio/qwen-api-via-dashscope, and dashscope 2.0.2, read 2026-11-22",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    finish=dict(FINISH),
    streams=("sse",),
    api=API,
)
