"""Items of OpenAI Responses, of which both its input and its output consist."""

from dataclasses import replace

from ...json_value import Object, as_array, as_object, as_text, compact
from ...values import Message, Part, PartKind, ToolCall
from ..shared.parts import arguments_of, call_part, media_part, text_of, text_part
from .outputs import failed_listing, inner_result, read_output
from .session_items import SESSION_ITEMS

CLIENT_CALLS: dict[str, tuple[str, str]] = {
    "function_call": ("", "arguments"),
    "custom_tool_call": ("", "input"),
    "computer_call": ("computer", "action"),
    "local_shell_call": ("local_shell", "action"),
    "shell_call": ("shell", "action"),
    "apply_patch_call": ("apply_patch", "operation"),
    "mcp_approval_request": ("", "arguments"),
}
"""Items that the client must answer: the name of the tool when the item has none, and where its arguments are."""

_BY_ITEM_ID = frozenset({"mcp_approval_request"})
"""Items that are answered by their own id."""

SERVER_CALLS: dict[str, tuple[str, str]] = {
    "web_search_call": ("web_search", "action"),
    "file_search_call": ("file_search", "queries"),
    "code_interpreter_call": ("code_interpreter", "code"),
    "image_generation_call": ("image_generation", "revised_prompt"),
    "mcp_call": ("", "arguments"),
    "tool_search_call": ("tool_search", "arguments"),
    "x_search_call": ("x_search", "action"),
    "program": ("program", "code"),
    "multi_agent_call": ("", "arguments"),
}
"""Items of tools that the API runs."""

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
ROLES = frozenset(_ROLES) | {"unknown", "critic", "discriminator"}
"""The roles of a message (openai 3.54, `types/conversations/message.py`, read 2026-11-29)."""
_PARTIAL = frozenset({"incomplete", "in_progress"})
_RUNNING = _PARTIAL | {"searching", "interpreting", "calling"}
"""The states of a call that the API has not ended. `generating` is also that of a picture that is there."""
_MEDIA = frozenset({"input_image", "input_file", "input_audio", "output_audio", "computer_screenshot"})


def item_parts(
    item: Object, pointer: str, answered: frozenset[str] = frozenset(), *, emitted: bool = False
) -> list[Part]:
    """The parts of one item; calls whose id is in `answered` were run by the API itself.

    `emitted` is true for an item of an answer, whose results are all the API's own.
    """
    parts = _parts(item, pointer, answered, emitted=emitted)
    item_id = as_text(item.get("id")) if emitted else None
    return [replace(part, item_id=item_id) for part in parts] if item_id else parts


def _parts(item: Object, pointer: str, answered: frozenset[str], *, emitted: bool) -> list[Part]:
    kind = as_text(item.get("type")) or ("message" if "role" in item else "")
    if kind == "message":
        return _content(item.get("content"), f"{pointer}/content")
    if kind == "reasoning":
        return [_reasoning(item, pointer)]
    if kind in CLIENT_CALLS or kind in SERVER_CALLS:
        call = _call(item, kind, answered)
        sealed = as_text(item.get("fingerprint"))
        return [call_part(call, pointer, item, sealed), *inner_result(item, kind, pointer, call)]
    if kind.endswith("_output") or kind == "mcp_approval_response":
        return [read_output(item, kind, pointer, emitted=emitted)]
    if kind in SESSION_ITEMS:
        said = Part("other", pointer, text=SESSION_ITEMS[kind](item), raw=item)
        return [said, *(failed_listing(item, kind, pointer) if emitted else ())]
    if kind in ("compaction", "compaction_summary", "context_compaction"):
        signature = as_text(item.get("encrypted_content"))
        return [Part("other", pointer, text="[compaction]", signature=signature, raw=item)]
    if kind == "item_reference":
        named = as_text(item.get("id")) or None
        return [Part("other", pointer, text=f"[{named or 'item'}]", raw=item, item_id=named)]
    return [Part("other", pointer, text=f"[{kind or 'item'}]", raw=item)]


def lacks_id(item: Object) -> bool:
    """Whether a call that the client answers has no `call_id`."""
    return item.get("type") in CLIENT_CALLS and item.get("type") not in _BY_ITEM_ID and not item.get("call_id")


def item_message(item: Object, pointer: str) -> Message:
    """An item of the input as a separate message."""
    parts = tuple(item_parts(item, pointer))
    role = _ROLES.get(as_text(item.get("role")) or "")
    if role is None:
        kinds = {part.kind for part in parts}
        given = any(part.result is not None and not part.result.server for part in parts)
        role = "tool" if given else "assistant" if kinds & {"call", "reasoning", "result"} else "other"
    match role:
        case "system" | "user" | "assistant" | "tool":
            return Message(role, parts, pointer, item)
        case _:
            return Message("other", parts, pointer, item)


def answered_ids(items: list[Object]) -> frozenset[str]:
    """The ids of calls whose output is beside them."""
    outputs = (item for item in items if (as_text(item.get("type")) or "").endswith("_output"))
    return frozenset(call_id for item in outputs if (call_id := as_text(item.get("call_id"))))


def _content(content: object, pointer: str) -> list[Part]:
    if isinstance(content, str):
        return [text_part(content, pointer, content)] if content else []
    parts: list[Part] = []
    for i, value in enumerate(as_array(content)):
        fields, where = as_object(value), f"{pointer}/{i}"
        kind = as_text(fields.get("type")) or ""
        if kind == "refusal":
            parts.append(text_part(text_of(fields.get("refusal")), where, value, "refusal"))
        elif kind in ("reasoning_text", "summary_text"):
            parts.append(text_part(text_of(fields.get("text")), where, value, "reasoning"))
        elif isinstance(text := fields.get("text"), str):
            parts.append(text_part(text, where, value))
        elif isinstance(value, str):
            parts.append(text_part(value, where, value))
        elif isinstance(words := fields.get("transcript"), str) and (words or kind != "output_audio"):
            parts.append(text_part(words, where, value))
        elif kind in _MEDIA:
            parts.append(media_part(kind, where, value))
        else:
            parts.append(Part("other", where, text=f"[{kind or 'part'}]", raw=value))
    return parts


def _reasoning(item: Object, pointer: str) -> Part:
    pieces = [text_of(as_object(v).get("text")) for v in as_array(item.get("content"))]
    if not any(pieces):
        pieces = [text_of(as_object(v).get("text")) for v in as_array(item.get("summary"))]
    kind: PartKind = "reasoning"
    signature = as_text(item.get("encrypted_content")) or as_text(item.get("signature"))
    return Part(kind, pointer, "\n\n".join(filter(None, pieces)), signature=signature, raw=item)


def _call(item: Object, kind: str, answered: frozenset[str]) -> ToolCall:
    name, key = CLIENT_CALLS.get(kind) or SERVER_CALLS[kind]
    value = item.get(key)
    if value is None:
        value = item.get("actions")
    if kind == "custom_tool_call":
        raw = text_of(value)
        arguments: object = raw
    elif isinstance(value, str) and key in ("code", "revised_prompt"):
        arguments, raw = {key: value}, compact({key: value})
    else:
        arguments, raw = arguments_of(value)
    call_id = as_text(item.get("call_id")) or as_text(item.get("id")) or None
    server = kind in SERVER_CALLS or (call_id is not None and call_id in answered)
    if kind == "tool_search_call":
        server = item.get("execution") != "client"
    return ToolCall(
        name=as_text(item.get("name")) or as_text(item.get("action")) or name,
        id=call_id,
        arguments=arguments,
        arguments_raw=raw,
        server=server,
        complete=as_text(item.get("status")) not in (_RUNNING if server else _PARTIAL),
    )
