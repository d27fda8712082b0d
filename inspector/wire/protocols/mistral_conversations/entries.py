"""Entries of Mistral's conversations, which inputs and outputs are both made of."""

from ...json_value import Object, as_object, as_text, compact
from ...values import Message, Part, ToolCall, ToolResult
from ..openai_chat.request import content_parts
from ..shared.parts import arguments_of, call_part

_ROLES = {"message.output": "assistant", "function.call": "assistant", "tool.execution": "assistant"}
_FAILED = frozenset({"error", "is_error"})


def entry_parts(entry: Object, pointer: str) -> list[Part]:
    """The parts of one entry."""
    kind = as_text(entry.get("type")) or ("message.input" if "content" in entry else "")
    match kind:
        case "message.input" | "message.output":
            return content_parts(entry.get("content"), f"{pointer}/content")
        case "function.call":
            return [call_part(_call(entry, "tool_call_id", server=False), pointer, entry)]
        case "function.result":
            text = as_text(entry.get("result")) or compact(entry.get("result"))
            result = ToolResult(as_text(entry.get("tool_call_id")), None, False, text)
            return [Part("result", pointer, text=text, result=result, raw=entry)]
        case "tool.execution":
            return _execution(entry, pointer)
        case "agent.handoff":
            names = (as_text(entry.get(f"{who}_agent_name")) or "?" for who in ("previous", "next"))
            return [Part("other", pointer, text=" hands over to ".join(names), raw=entry)]
        case _:
            return [Part("other", pointer, text=f"[{kind or 'entry'}]", raw=entry)]


def _call(entry: Object, key: str, *, server: bool) -> ToolCall:
    arguments, raw = arguments_of(entry.get("arguments"))
    complete = entry.get("cut") is not True
    name = as_text(entry.get("name")) or ""
    return ToolCall(name, as_text(entry.get(key)), arguments, raw, server=server, complete=complete)


def _execution(entry: Object, pointer: str) -> list[Part]:
    """A call of the API's own tool, and its result if the entry has one."""
    call = _call(entry, "id", server=True)
    parts = [call_part(call, pointer, entry)]
    if info := as_object(entry.get("info")):
        text = as_text(info.get("code_output")) or compact(info)
        result = ToolResult(call.id, call.name, any(info.get(key) for key in _FAILED), text, server=True)
        parts.append(Part("result", f"{pointer}/info", text=text, result=result, raw=info))
    return parts


def entry_message(entry: Object, pointer: str) -> Message:
    """An entry of the inputs as a separate message."""
    parts = tuple(entry_parts(entry, pointer))
    kind = as_text(entry.get("type"))
    if kind == "function.result":
        return Message("tool", parts, pointer, entry)
    role = _ROLES.get(kind or "") or as_text(entry.get("role"))
    match role:
        case "assistant" | "user":
            return Message(role, parts, pointer, entry)
        case _:
            return Message("user" if kind in (None, "message.input") else "other", parts, pointer, entry)
