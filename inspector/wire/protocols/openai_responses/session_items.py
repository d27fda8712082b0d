"""Items of OpenAI Responses that are neither text nor calls: new tools, settings, messages between agents."""

from collections.abc import Callable, Iterator

from ...json_value import Object, as_array, as_object, as_text, objects_in
from ..shared.parts import text_of

TOOL_ITEMS = frozenset({"additional_tools", "tool_search_output"})
"""Items that bring definitions of tools."""


def tool_names(item: Object) -> list[str]:
    """The names of the tools that an item lists, those in namespaces too."""
    return [as_text(tool.get("name")) or as_text(tool.get("type")) or "?" for _, tool in listed_tools(item, "")]


def listed_tools(item: Object, pointer: str) -> Iterator[tuple[str, Object]]:
    """The definitions of tools that an item lists, with their pointers; a namespace is replaced by its tools."""
    for i, tool in enumerate(as_array(item.get("tools"))):
        fields, where = as_object(tool), f"{pointer}/tools/{i}"
        if fields.get("type") == "namespace":
            yield from listed_tools(fields, where)
        else:
            yield where, fields


def _additional_tools(item: Object) -> str:
    return f"adds the tools {', '.join(tool_names(item)) or '(none)'}"


def _mcp_list_tools(item: Object) -> str:
    who = as_text(item.get("server_label")) or "?"
    if error := text_of(item.get("error")):
        return f"the tools of {who} could not be listed: {error}"
    return f"tools of {who}: {', '.join(tool_names(item)) or 'none'}"


def _agent_message(item: Object) -> str:
    pieces = (_piece(content) for content in objects_in(item.get("content")))
    text = "\n".join(filter(None, pieces)) or text_of(item.get("content"))
    return f"{as_text(item.get('author')) or '?'} to {as_text(item.get('recipient')) or '?'}: {text}"


def _piece(content: Object) -> str:
    return as_text(content.get("text")) or text_of(content)


def _configuration_update(item: Object) -> str:
    effort = as_text(as_object(item.get("reasoning")).get("effort"))
    form = as_text(as_object(as_object(item.get("text")).get("format")).get("type"))
    changes = (f"reasoning effort {effort}" if effort else "", f"text format {form}" if form else "")
    return f"from here on: {', '.join(filter(None, changes)) or 'no change'}"


SESSION_ITEMS: dict[str, Callable[[Object], str]] = {
    "additional_tools": _additional_tools,
    "agent_message": _agent_message,
    "compaction_trigger": lambda item: "asks the API to compact the context",
    "configuration_update": _configuration_update,
    "mcp_list_tools": _mcp_list_tools,
}
"""What each item says, in one text."""
