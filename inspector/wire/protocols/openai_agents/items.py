"""Items of OpenAI's Agents API, which turns and inputs are made of."""

from ...json_value import Object, as_object, as_text, objects_in
from ...values import Message, Part, ToolCall, ToolResult
from ..shared.parts import arguments_of, call_part, media_part, text_of, text_part

_CALL = "_call"
_BESIDE = frozenset({"id", "type", "turn_id", "status", "output", "error", "call_id", "arguments", "name"})
_FAILED = frozenset({"failed", "incomplete"})


def item_parts(item: Object, pointer: str) -> list[Part]:
    """The parts of one item."""
    kind = as_text(item.get("type")) or ("message" if "content" in item else "")
    match kind:
        case "message" | "agent_message":
            return _content(item, pointer)
        case "reasoning":
            texts = [text_of(piece.get("text")) for piece in objects_in(item.get("summary"))]
            return [text_part("\n".join(filter(None, texts)), f"{pointer}/summary", item, "reasoning")]
        case "function_call":
            return [call_part(_function_call(item), pointer, item)]
        case "function_call_output":
            return [_result(item, pointer)]
        case "command_execution":
            return _server_call(item, pointer, kind, failed=item.get("exit_code") not in (None, 0))
        case _ if kind.endswith(_CALL):
            name = as_text(item.get("name")) or kind.removesuffix(_CALL)
            return _server_call(item, pointer, name, failed=item.get("error") is not None)
        case _:
            return [Part("other", pointer, text=f"[{kind or 'item'}]", raw=item)]


def _content(item: Object, pointer: str) -> list[Part]:
    parts: list[Part] = []
    for place, piece in enumerate(objects_in(item.get("content"))):
        at, text = f"{pointer}/content/{place}", as_text(piece.get("text"))
        kind = as_text(piece.get("type")) or "content"
        parts.append(media_part(kind, at, piece) if text is None else text_part(text, at, piece))
    return parts


def _function_call(item: Object) -> ToolCall:
    arguments, raw = arguments_of(item.get("arguments"))
    name, call_id = as_text(item.get("name")) or "", as_text(item.get("call_id"))
    return ToolCall(name, call_id, arguments, raw, complete=item.get("status") != "incomplete")


def _result(item: Object, pointer: str) -> Part:
    error = as_text(item.get("error"))
    text = error or text_of(item.get("output"))
    result = ToolResult(as_text(item.get("call_id")), None, error is not None, text)
    return Part("result", pointer, text=text, result=result, raw=item)


def _server_call(item: Object, pointer: str, name: str, *, failed: bool) -> list[Part]:
    """A call that OpenAI runs, and its result if the item has one."""
    given = item.get("arguments", {key: value for key, value in item.items() if key not in _BESIDE})
    arguments, raw = arguments_of(given)
    call_id = as_text(item.get("id"))
    parts = [call_part(ToolCall(name, call_id, arguments, raw, server=True), pointer, item)]
    found = item.get("error") if item.get("error") is not None else item.get("output")
    failed = failed or item.get("status") in _FAILED
    if found is not None or failed:
        text = text_of(as_object(found).get("content") or found)
        result = ToolResult(call_id, name, failed, text, server=True)
        parts.append(Part("result", f"{pointer}/output", text=text, result=result, raw=found))
    return parts


def item_message(item: Object, pointer: str) -> Message:
    """An item that the client sent, as a message."""
    parts = tuple(item_parts(item, pointer))
    if item.get("type") == "function_call_output":
        return Message("tool", parts, pointer, item)
    return Message("user" if item.get("role") == "user" else "other", parts, pointer, item)
