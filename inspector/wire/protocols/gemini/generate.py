"""Gemini `generateContent` and `streamGenerateContent`, on Google's API and on Vertex."""

import re
from collections.abc import Sequence

from turntape.cassettes.regex import regex

from ...exchange import Exchange
from ...history import read_messages
from ...json_value import Object, as_array, as_count, as_object, as_text, is_array, is_object
from ...repeated import Repeated
from ...values import Kind, Message, OutputFormat, RequestReading, ResponseReading, Tool, ToolChoice
from ..protocol import Protocol
from ..shared.output_format import mime_format
from ..shared.parts import chosen, other_fields, texts
from ..traits import AnswerRules, ArgumentsField, Pairing, Reasoning, RequestRules
from .answer import FINISH, read_gemini_answer
from .answer_format import FORMAT, STEADY
from .api import API
from .contradictions import contradictions
from .demands import DEMANDS
from .not_read import NOT_READ
from .parts import PROGRAMS, get, read_parts
from .rewrite import EDIT_TARGETS, REWRITE
from .roles import check_roles

_PATH = regex(r"/([^/:]+)(?::|%3A)(generateContent|streamGenerateContent)$", re.I)
_OTHER_KINDS: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (regex(r":countTokens$|:computeTokens$"), "count_tokens"),
    (regex(r":(batchEmbedContents|embedContent|asyncBatchEmbedContent)$"), "embeddings"),
    (regex(r":batchGenerateContent$"), "batches"),
)
_KNOWN = frozenset(
    {
        "contents",
        "systemInstruction",
        "system_instruction",
        "tools",
        "toolConfig",
        "tool_config",
        "generationConfig",
        "generation_config",
        "model",
    }
)

_KNOWN_CONFIG = frozenset({"maxOutputTokens", "max_output_tokens", "stopSequences", "stop_sequences"})


def detect(exchange: Exchange) -> Kind | None:
    path = exchange.path
    if _PATH.search(path):
        return "generation"
    for pattern, kind in _OTHER_KINDS:
        if pattern.search(path):
            return kind
    if exchange.method == "POST" and is_array(exchange.fields.get("contents")):
        return "generation" if _answers(exchange) else None
    return None


def _answers(exchange: Exchange) -> bool:
    """True for an answer that only this protocol gives, wherever the gateway has put the endpoint."""
    if exchange.framing is not None:
        return any(b'"candidates"' in event.data for event in exchange.events[:3])
    return "candidates" in as_object(exchange.answer)


def read_gemini_request(exchange: Exchange) -> RequestReading:
    """A request with `contents`, or one that wraps such a request."""
    outer = exchange.fields
    inner = as_object(outer.get("request"))
    # Code Assist wraps the request and the answer; the model is beside the request.
    wrapped = "contents" in inner and "contents" not in outer
    fields, base = (inner, "/request") if wrapped else (outer, "")
    path = _PATH.search(exchange.path)
    config = as_object(get(fields, "generationConfig"))
    contents = fields.get("contents")
    parameters = other_fields(fields, _KNOWN)
    parameters.update(other_fields(config, _KNOWN_CONFIG))
    model = as_text(outer.get("model")) or (path[1] if path else None)
    return RequestReading(
        model=model.removeprefix("models/") if model else None,
        streamed=path[2].startswith("stream") if path else exchange.framing is not None,
        system=tuple(read_parts(get(fields, "systemInstruction"), base + _spelling(fields, "systemInstruction"))),
        messages=_messages(contents, f"{base}/contents"),
        tools=_read_tools(fields.get("tools"), f"{base}/tools"),
        tool_choice=_choice(as_object(get(fields, "toolConfig"))),
        max_output=as_count(get(config, "maxOutputTokens")),
        stop=texts(get(config, "stopSequences")),
        output_format=_output_format(config, base),
        parameters=parameters,
        continuation=as_text(get(fields, "continuationToken")),
    )


def _output_format(config: Object, base: str) -> OutputFormat | None:
    """The format of the text: in separate fields, or in the list of formats that Vertex takes."""
    formats = (as_object(item).get("text") for item in as_array(get(config, "responseFormat")))
    if text := next(filter(is_object, formats), None):
        return mime_format(get(text, "mimeType"), text.get("schema"), f"{base}/generationConfig/responseFormat")
    schema = get(config, "responseJsonSchema") or get(config, "responseSchema")
    return mime_format(get(config, "responseMimeType"), schema, f"{base}/generationConfig")


def _spelling(fields: Object, name: str) -> str:
    return f"/{name}" if name in fields else "/system_instruction"


def _messages(contents: object, pointer: str) -> Sequence[Message]:
    if isinstance(contents, str) or is_object(contents):
        return (_message(contents, pointer),)
    return read_messages(as_array(contents), pointer, _message)


def _message(content: object, pointer: str) -> Message:
    parts = tuple(read_parts(content, pointer))
    match as_object(content).get("role", "user"):
        case "model":
            return Message("assistant", parts, pointer, content)
        case "function" | "tool":
            return Message("tool", parts, pointer, content)
        case "system":
            return Message("system", parts, pointer, content)
        case "user" | "":
            return Message("user", parts, pointer, content)
        case _:
            return Message("other", parts, pointer, content)


def _tools(tools: object, pointer: str) -> tuple[Tool, ...]:
    found: list[Tool] = []
    single = is_object(tools)
    for i, group in enumerate([tools] if single else as_array(tools)):
        fields = as_object(group)
        base = pointer if single else f"{pointer}/{i}"
        for key, value in fields.items():
            if key in ("functionDeclarations", "function_declarations"):
                for j, item in enumerate(as_array(value)):
                    found.append(_function(as_object(item), f"{base}/{key}/{j}"))
            elif value is not None:
                found.append(Tool(key, None, None, f"{base}/{key}", server=True))
    return tuple(found)


_read_tools = Repeated(_tools).of


def _function(item: Object, pointer: str) -> Tool:
    schema = get(item, "parametersJsonSchema") or item.get("parameters")
    return Tool(as_text(item.get("name")) or "", as_text(item.get("description")), schema, pointer)


def _choice(config: Object) -> ToolChoice | None:
    calling = as_object(get(config, "functionCallingConfig"))
    return chosen(calling.get("mode"), texts(get(calling, "allowedFunctionNames")))


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    return read_gemini_answer(exchange)


GEMINI_GENERATE = Protocol(
    name="gemini-generate",
    title="Gemini generateContent",
    spec="https://ai.google.dev/api/generate-content, and google-genai 3.4.0, read 2026-11-22",
    detect=detect,
    read_request=read_gemini_request,
    read_response=read_response,
    finish=dict(FINISH),
    not_read=NOT_READ,
    streams=("sse", "json-array", "ndjson"),
    api=API,
    rewrite=REWRITE,
    edit_targets=EDIT_TARGETS,
    pairing=Pairing(one_message=True, named_results=True),
    requests=RequestRules(
        rejects_nothing_said=True,
        demands=DEMANDS,
        check_roles=check_roles,
        roles=frozenset({"user", "model", "function", "tool", "system"}),
        tool_name=regex(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}"),
        arguments=(
            ArgumentsField(("functionCall",), "args", "object"),
            ArgumentsField(("function_call",), "args", "object"),
        ),
    ),
    answers=AnswerRules(
        format=FORMAT,
        steady=STEADY,
        holder="candidates",
        roles=(("candidates", "*", "content", "role"), ("response", "candidates", "*", "content", "role")),
        has_word_for_calls=False,
        always_says_finish=True,
        contradictions=contradictions,
        words=frozenset(FINISH),
        shows_thoughts=True,
        gives_results_of=PROGRAMS,
    ),
    reasoning=Reasoning("required", only_with_calls=True),
    price_provider="google",
    operation="generate_content",
)
