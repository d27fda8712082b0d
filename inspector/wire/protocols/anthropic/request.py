"""Requests in the shape of Anthropic Messages, also as Bedrock and Vertex take them."""

from ...history import read_messages
from ...json_value import Object, as_array, as_count, as_object, as_text
from ...values import Message, OutputFormat, Part, RequestReading, ToolCall, ToolChoice
from ..shared.cache_marks import anthropic_marks
from ..shared.output_format import response_format
from ..shared.parts import arguments_of, call_part, chosen, media_part, other_fields, text_part, texts
from .results import client_result, server_result
from .tools import added_tools, listing_text, read_tools, tool_change_text

_KNOWN = frozenset(
    {"model", "messages", "system", "stream", "tools", "tool_choice", "max_tokens", "stop_sequences", "thread"}
)
_SERVER_CALLS = frozenset({"server_tool_use", "mcp_tool_use"})


def read_anthropic_request(fields: Object, model: str | None = None, *, streamed: bool = False) -> RequestReading:
    """A request body; `model` and `streamed` are for APIs that say them in the URL."""
    choice = as_object(fields.get("tool_choice"))
    disabled = choice.get("disable_parallel_tool_use")
    thread = as_object(fields.get("thread"))
    messages = read_messages(as_array(fields.get("messages")), "/messages", _message)
    return RequestReading(
        model=as_text(fields.get("model")) or model,
        streamed=streamed or fields.get("stream") is True,
        system=tuple(read_blocks(fields.get("system"), "/system")),
        messages=messages,
        tools=read_tools(fields.get("tools"), "/tools"),
        added_tools=tuple(added_tools(messages)),
        tool_choice=_choice(choice),
        parallel_tool_calls=not disabled if isinstance(disabled, bool) else None,
        max_output=as_count(fields.get("max_tokens")),
        stop=texts(fields.get("stop_sequences")),
        output_format=_output_format(fields),
        cache_marks=anthropic_marks(fields, messages),
        parameters=other_fields(fields, _KNOWN),
        previous_id=as_text(thread.get("previous_message_id")),
    )


def _output_format(fields: Object) -> OutputFormat | None:
    """`output_config.format`, or the older `output_format`."""
    return response_format(
        as_object(fields.get("output_config")).get("format"), "/output_config/format"
    ) or response_format(fields.get("output_format"), "/output_format")


def _message(item: object, pointer: str) -> Message:
    message = as_object(item)
    parts = tuple(read_blocks(message.get("content"), f"{pointer}/content"))
    match message.get("role"):
        case "user":
            return Message("user", parts, pointer, message)
        case "assistant":
            return Message("assistant", parts, pointer, message)
        case "system":
            return Message("system", parts, pointer, message)
        case _:
            return Message("other", parts, pointer, message)


def read_blocks(content: object, pointer: str, cut: frozenset[int] = frozenset()) -> list[Part]:
    """The content blocks of a message; `cut` are those that a stream ended inside."""
    if isinstance(content, str):
        return [text_part(content, pointer, content)] if content else []
    return [_block(as_object(b), f"{pointer}/{i}", i not in cut) for i, b in enumerate(as_array(content))]


def _block(block: Object, pointer: str, complete: bool) -> Part:
    kind = as_text(block.get("type")) or "other"
    if kind == "text":
        return text_part(as_text(block.get("text")) or "", pointer, block)
    if kind == "thinking":
        text, signature = as_text(block.get("thinking")) or "", as_text(block.get("signature")) or None
        return Part("reasoning", pointer, text, signature=signature, raw=block)
    if kind == "redacted_thinking":
        return Part("reasoning", pointer, signature=as_text(block.get("data")), raw=block)
    if kind == "tool_use" or kind in _SERVER_CALLS:
        return call_part(_call(block, kind in _SERVER_CALLS, complete), pointer, block)
    if kind == "tool_result":
        return client_result(block, pointer)
    if kind.endswith("_tool_result"):
        return server_result(block, pointer)
    if kind in ("tool_addition", "tool_removal"):
        return Part("other", pointer, text=tool_change_text(block), raw=block)
    if kind == "mcp_tool_listing":
        return Part("other", pointer, text=listing_text(block), raw=block)
    if kind == "fallback":
        return Part("other", pointer, text=_fallback_text(block), raw=block)
    if kind == "compaction":
        text = as_text(block.get("content")) or ""
        signature = as_text(block.get("signature")) or as_text(block.get("encrypted_content"))
        return Part("other", pointer, text, signature=signature, raw=block)
    if kind in ("image", "document", "container_upload", "search_result"):
        return media_part(kind, pointer, block)
    return Part("other", pointer, text=f"[{kind}]", raw=block)


def lacks_id(block: Object) -> bool:
    """Whether a `tool_use` has no id."""
    return block.get("type") == "tool_use" and not block.get("id")


def _call(block: Object, server: bool, complete: bool) -> ToolCall:
    name, call_id = as_text(block.get("name")) or "", as_text(block.get("id"))
    value = block.get("input")
    arguments: object = None
    if isinstance(value, str):  # a stream's fragments that are not JSON; none at all is an empty object
        arguments, raw = None if value else as_object(None), value
    else:
        arguments, raw = arguments_of(value)
        raw = as_text(block.get("input_raw")) or raw
    toolset = as_text(block.get("toolset_name"))
    return ToolCall(name, call_id, arguments, raw, server=server, complete=complete, toolset=toolset)


def _fallback_text(block: Object) -> str:
    """Which model's words end here, and which model continues."""
    before, after = (as_text(as_object(block.get(key)).get("model")) or "?" for key in ("from", "to"))
    return f"{before} declined; {after} continues"


def _choice(choice: Object) -> ToolChoice | None:
    name = as_text(choice.get("name"))
    return chosen(None, [name]) if choice.get("type") == "tool" else chosen(choice.get("type"))
