"""The part of a request that a value is in, in the same words for every API: system, tools, messages, settings.

This module does not know protocols. It knows the names that APIs give to the same things; no two APIs use one name for
different things.
"""

from collections.abc import Iterator
from typing import cast

from .pointers import segments

type Json = dict[str, object]

CONVERSATIONS = ("messages", "input", "contents")
"""The fields that hold the history, as a list of items."""
_PARTS = {
    "instructions": "system",
    "systemInstruction": "system",
    "system_instruction": "system",
    "preamble": "system",
    "functions": "tools",
    "toolConfig": "tools",
    "input": "messages",
    "contents": "messages",
    "prompt": "messages",
    "message": "messages",
    "chat_history": "messages",
}
CONTAINERS = ("generationConfig", "generation_config", "inferenceConfig", "options", "config")
"""Objects that hold settings, so that `temperature` is a field wherever an API puts it."""
PROMPT = frozenset({"system", "tools", "messages", "tool_results"})
"""The parts that the model reads; all others are settings."""
LINKS = ("previous_response_id", "conversation", "previous_interaction_id", "thread", "previous_message_id")
"""Fields that name an earlier answer instead of repeating it."""
_RESULTS = frozenset({"tool_call_id", "tool_use_id", "functionResponse", "function_response", "toolResult"})
_RESULT_IDS = ("tool_call_id", "tool_use_id", "call_id")


def plain_name(name: str) -> str:
    """`maxOutputTokens` and `max_output_tokens` are one field."""
    return name.replace("_", "").casefold()


def conversation(body: Json) -> list[object]:
    """The items of the history; empty where a request has none."""
    for name in CONVERSATIONS:
        items = body.get(name)
        if isinstance(items, list):
            return cast(list[object], items)
    return []


def blocks(item: object) -> Iterator[Json]:
    """An item of the history, and its blocks."""
    if not isinstance(item, dict):
        return
    fields = cast(Json, item)
    yield fields
    for name in ("content", "parts"):
        inner = fields.get(name)
        if isinstance(inner, list):
            yield from (cast(Json, block) for block in cast(list[object], inner) if isinstance(block, dict))


def is_result(block: Json) -> bool:
    """True for a tool result."""
    kind = block.get("type")
    return not _RESULTS.isdisjoint(block) or (isinstance(kind, str) and kind.endswith("_output") and "call_id" in block)


def result_id(block: object) -> str | None:
    """The id of the call that a tool result answers; None for anything else."""
    if not isinstance(block, dict) or not is_result(fields := cast(Json, block)):
        return None
    inner = fields.get("functionResponse") or fields.get("function_response") or fields.get("toolResult")
    if isinstance(inner, dict):
        found = cast(Json, inner).get("id") or cast(Json, inner).get("toolUseId")
    else:
        found = next((fields[name] for name in _RESULT_IDS if name in fields), None)
    return found if isinstance(found, str) else None


def is_models(item: object) -> bool:
    """True for a part of an earlier answer that the client sends back."""
    if not isinstance(item, dict):
        return False
    fields = cast(Json, item)
    role = fields.get("role")
    if isinstance(role, str):
        return role.casefold() in ("assistant", "model", "chatbot")
    return "type" in fields and not is_result(fields)


def part_of_item(item: object) -> str:
    """The part that an item of the history is: `system`, `tool_results` or `messages`."""
    if isinstance(item, dict) and cast(Json, item).get("role") in ("system", "developer"):
        return "system"
    return "tool_results" if any(is_result(b) for b in blocks(cast(object, item))) else "messages"


def part_of_key(key: str) -> str:
    """The part that a top-level field is."""
    return _PARTS.get(key, key)


def part_of(pointer: str) -> str:
    """The part that a pointer into a body names. Every item of the history is `messages` here."""
    if not pointer:
        return "messages"
    first, *rest = segments(pointer) if pointer.startswith("/") else [pointer]
    return rest[0] if first in CONTAINERS and rest else part_of_key(first)


def with_tools_by_name(fields: Json) -> Json:
    """A request, or the object in it that holds the tools, with these in the order of their names."""
    tools = fields.get("tools")
    return {**fields, "tools": by_name(cast(object, tools))} if isinstance(tools, list) else fields


def by_name(tools: object) -> object:
    """A list of tools in the order of their names, and so the lists in it (Gemini); others stay as they are."""
    if not isinstance(tools, list):
        return tools
    items = [_with_lists_in_order(item) for item in cast(list[object], tools)]
    names = [_name_of(item) for item in items]
    if any(name is None for name in names):
        return items
    return [item for _, item in sorted(zip(names, items, strict=True), key=lambda pair: pair[0] or "")]


def with_tools_as_in(recorded: object, given: object) -> object:
    """A request with its tools in the places that they have in another one. New tools take the places of those that are
    gone, as a tool with another name does, and then come last."""
    if not (isinstance(recorded, dict) and isinstance(given, dict)):
        return given
    before, fields = cast(Json, recorded), cast(Json, given)
    return {
        key: _in_places_of(before.get(key), item)
        if key in _TOOL_LISTS
        else with_tools_as_in(before.get(key), item)
        if key == "toolConfig"
        else item
        for key, item in fields.items()
    }


def _in_places_of(recorded: object, given: object) -> object:
    if not (isinstance(recorded, list) and isinstance(given, list)):
        return given
    before, items = cast(list[object], recorded), cast(list[object], given)
    names, now = [_name_of(item) for item in before], [_name_of(item) for item in items]
    if None in now or None in names:
        pairs = zip(before, items, strict=False)
        return [*(with_tools_as_in(one, item) for one, item in pairs), *items[len(before) :]]
    left = dict(zip(now, items, strict=True))
    if len(left) < len(items):
        return items
    kept = [left.pop(name, None) for name in names]
    new = iter(left.values())
    placed = [item if item is not None else next(new, None) for item in kept]
    pairs = zip(before, placed, strict=True)
    return [*(with_tools_as_in(one, item) for one, item in pairs if item is not None), *new]


def _name_of(tool: object) -> str | None:
    fields = cast(Json, tool) if isinstance(tool, dict) else {}
    function = fields.get("function") or fields.get("toolSpec")
    name = fields.get("name") or (cast(Json, function).get("name") if isinstance(function, dict) else None)
    return name if isinstance(name, str) else None


def tool_names(value: object) -> list[str]:
    """The names of the tools in a definition of one, in a list of them, or in the object that holds the list; empty for
    anything else."""
    if isinstance(value, list):
        return [name for item in cast(list[object], value) for name in tool_names(item)]
    name = _name_of(value)
    if name is not None or not isinstance(value, dict):
        return [name] if name is not None else []
    return [name for key, item in cast(Json, value).items() if key in _TOOL_LISTS for name in tool_names(item)]


def _with_lists_in_order(tool: object) -> object:
    if not isinstance(tool, dict):
        return tool
    fields = cast(Json, tool)
    return {key: by_name(item) if key in _TOOL_LISTS else item for key, item in fields.items()}


_TOOL_LISTS = frozenset({"functionDeclarations", "function_declarations", "tools"})
"""Where an entry holds several tools: Gemini's functions, and a namespace of the Responses API."""
