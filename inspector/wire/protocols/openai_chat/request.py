"""Requests in the shape of OpenAI Chat Completions, which many APIs share."""

from collections.abc import Iterator

from ...history import read_messages
from ...json_value import Object, as_array, as_count, as_object, as_text, is_object, parse_json
from ...repeated import Repeated
from ...values import Message, Part, RequestReading, Tool, ToolCall, ToolChoice, ToolResult
from ..shared.cache_marks import chat_marks
from ..shared.output_format import chat_format
from ..shared.parts import arguments_of, call_part, chosen, media_part, other_fields, text_of, text_part, texts

ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_KNOWN = frozenset(
    {
        "model",
        "messages",
        "stream",
        "tools",
        "functions",
        "tool_choice",
        "function_call",
        "parallel_tool_calls",
        "max_tokens",
        "max_completion_tokens",
        "stop",
    }
)
MEDIA = frozenset(
    {"image", "image_url", "input_image", "audio", "audio_url", "input_audio", "video", "video_url", "input_video"}
    | {
        "document",
        "document_url",
        "file",
        "file_url",
        "input_file",
        "reference",
        "resource",
        "resource_link",
        "tool_file",
        "tool_reference",
        "container_upload",
    }
)
"""Types of content that are not text, in all dialects."""
REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text", "thinking")
"""Where servers put reasoning. The first field that holds text counts, because some servers send it twice."""


def read_chat_request(fields: Object, model: str | None = None) -> RequestReading:
    """A request body with `messages`; `model` is the one named in the URL, if any."""
    messages = read_messages(as_array(fields.get("messages")), "/messages", _message)
    parallel = fields.get("parallel_tool_calls")
    return RequestReading(
        model=as_text(fields.get("model")) or model,
        streamed=fields.get("stream") is True,
        messages=messages,
        tools=(*read_tools(fields.get("tools"), "/tools"), *_functions(fields.get("functions"))),
        tool_choice=read_tool_choice(fields.get("tool_choice", fields.get("function_call"))),
        parallel_tool_calls=parallel if isinstance(parallel, bool) else None,
        max_output=as_count(fields.get("max_completion_tokens")) or as_count(fields.get("max_tokens")),
        stop=texts(fields.get("stop")),
        output_format=chat_format(fields),
        cache_marks=chat_marks(fields, messages),
        parameters=other_fields(fields, _KNOWN),
    )


def _message(message: object, pointer: str) -> Message:
    return read_message(as_object(message), pointer)


def read_message(message: Object, pointer: str) -> Message:
    """One message of the history."""
    role = ROLES.get(as_text(message.get("role")) or "", "other")
    if role == "tool":
        return Message("tool", (_result(message, pointer),), pointer, message)
    parts = [*message_reasoning(message, pointer), *content_parts(message.get("content"), f"{pointer}/content")]
    if refusal := as_text(message.get("refusal")):
        parts.append(text_part(refusal, f"{pointer}/refusal", refusal, "refusal"))
    parts += message_calls(message, pointer)
    match role:
        case "system" | "user" | "assistant":
            return Message(role, tuple(parts), pointer, message)
        case _:
            return Message("other", tuple(parts), pointer, message)


def _result(message: Object, pointer: str) -> Part:
    text = text_of(message.get("content"))
    name = as_text(message.get("name"))
    result = ToolResult(as_text(message.get("tool_call_id")), name, False, text)
    return Part("result", pointer, text=text, result=result, raw=message)


def message_reasoning(message: Object, pointer: str) -> list[Part]:
    """The reasoning of an assistant message, whatever its field is called, and its signatures."""
    parts: list[Part] = []
    for name in REASONING_FIELDS:
        if isinstance(value := message.get(name), str) and value:
            parts.append(text_part(value, f"{pointer}/{name}", value, "reasoning"))
            break
    for i, detail in enumerate(as_array(message.get("reasoning_details"))):
        fields = as_object(detail)
        text = "" if parts and parts[0].text else as_text(fields.get("text")) or as_text(fields.get("summary"))
        signature = as_text(fields.get("signature")) or as_text(fields.get("data"))
        if text or signature:
            where = f"{pointer}/reasoning_details/{i}"
            parts.append(Part("reasoning", where, text or "", signature=signature, raw=detail))
    if opaque := as_text(message.get("reasoning_opaque")):
        parts.append(Part("reasoning", f"{pointer}/reasoning_opaque", signature=opaque, raw=opaque))
    return parts


def content_parts(content: object, pointer: str) -> list[Part]:
    """`content` as a string or a list of typed parts."""
    if isinstance(content, str):
        return [text_part(content, pointer, content)] if content else []
    items = as_array([content] if is_object(content) else content)
    return [_content_part(item, f"{pointer}/{i}") for i, item in enumerate(items)]


def _content_part(item: object, pointer: str) -> Part:
    if isinstance(item, str):
        return text_part(item, pointer, item)
    fields = as_object(item)
    kind = as_text(fields.get("type")) or ("text" if "text" in fields else "other")
    match kind:
        case "text" | "input_text" | "output_text":
            return text_part(text_of(fields.get("text")), pointer, item)
        case "thinking" | "reasoning":
            text = text_of(fields.get("thinking") or fields.get("text") or fields.get("reasoning"))
            return Part("reasoning", pointer, text, signature=as_text(fields.get("signature")), raw=item)
        case "refusal":
            return text_part(text_of(fields.get("refusal")), pointer, item, "refusal")
        case "tool_result":
            text = text_of(fields.get("content"))
            error = fields.get("is_error") is True
            result = ToolResult(as_text(fields.get("tool_use_id")), None, error, text)
            return Part("result", pointer, text, result=result, raw=item)
        case "resource" if "text" in as_object(fields.get("content")):
            return text_part(text_of(fields.get("content")), pointer, item)
        case _ if kind in MEDIA:
            return media_part(kind, pointer, item)
        case _:
            return Part("other", pointer, text=f"[{kind}]", raw=item)


def message_calls(message: Object, pointer: str) -> list[Part]:
    """The calls of an assistant message, `function_call` of old included."""
    parts: list[Part] = []
    for i, item in enumerate(as_array(message.get("tool_calls"))):
        parts.append(call_part(read_call(as_object(item)), f"{pointer}/tool_calls/{i}", item))
    old = as_object(message.get("function_call"))
    if (as_text(old.get("name")) or old.get("arguments")) and not is_repeated(old, message):
        parts.append(call_part(read_call({"function": old}), f"{pointer}/function_call", old))
    return parts


def is_repeated(old: Object, message: Object) -> bool:
    """True for a `function_call` of old that says one of `tool_calls` again: it is one call."""
    new = (as_object(as_object(item).get("function")) for item in as_array(message.get("tool_calls")))
    return any(old.get("name") == call.get("name") and old.get("arguments") == call.get("arguments") for call in new)


def read_call(item: Object, choice: int = 0) -> ToolCall:
    """One entry of `tool_calls`. Some servers send both shapes, one of them empty."""
    custom = as_object(item.get("custom"))
    call_id = as_text(item.get("id")) or None
    call_id = None if call_id == "null" else call_id
    function = as_object(item.get("function"))
    if custom and not as_text(function.get("name")):
        text = text_of(custom.get("input"))
        return ToolCall(as_text(custom.get("name")) or "", call_id, text, text, choice=choice)
    arguments, raw = arguments_of(function.get("arguments"))
    return ToolCall(as_text(function.get("name")) or "", call_id, arguments, raw, choice=choice)


_NO_ID = (None, "", "null", "None", "undefined")
"""What servers write for an id that they do not have."""


def lacks_id(item: Object) -> bool:
    """Whether an entry of `tool_calls` has no id; `function_call` of old never has one."""
    return not item.keys().isdisjoint(("function", "custom", "type")) and item.get("id") in _NO_ID


def _tools(tools: object, pointer: str) -> Iterator[Tool]:
    return (_tool(as_object(tool), f"{pointer}/{i}") for i, tool in enumerate(as_array(tools)))


read_tools = Repeated(_tools).of
"""`tools`: functions, custom tools, and the server's own, which have another type."""


def _tool(tool: Object, pointer: str) -> Tool:
    kind = as_text(tool.get("type")) or "function"
    body = as_object(tool.get(kind)) or tool
    name = as_text(body.get("name"))
    if kind in ("function", "custom") and name is not None:
        schema = body.get("parameters", body.get("input_schema"))
        schema = parse_json(schema) if isinstance(schema, str) else schema
        return Tool(name, as_text(body.get("description")), schema, pointer)
    return Tool(name or kind, as_text(body.get("description")), None, pointer, server=True)


def _functions(functions: object) -> tuple[Tool, ...]:
    return tuple(_tool({"function": f}, f"/functions/{i}") for i, f in enumerate(as_array(functions)))


def read_tool_choice(value: object) -> ToolChoice | None:
    """`tool_choice` as a word or an object, or `function_call` of old."""
    if not is_object(value):
        return chosen(value)
    fields = as_object(value)
    if allowed := as_object(fields.get("allowed_tools")):
        names = [_choice_name(as_object(tool)) for tool in as_array(allowed.get("tools"))]
        return chosen(allowed.get("mode"), names)
    name = _choice_name(fields)
    return chosen(None, [name]) if name else chosen(fields.get("type"))


def _choice_name(fields: Object) -> str | None:
    for key in ("function", "custom"):
        if name := as_text(as_object(fields.get(key)).get("name")):
            return name
    return as_text(fields.get("name"))
