"""Tools in the shape of Anthropic Messages: of the request, of its messages, and of the listing of an MCP server."""

from collections.abc import Iterator

from ...json_value import Object, as_array, as_object, as_text, objects_in
from ...per_message import Joined
from ...repeated import Repeated
from ...values import Message, Tool

CLIENT_KINDS = ("bash_", "text_editor_", "computer_", "memory_", "browser_toolset_")
"""How the types of those tools of Anthropic begin that the client runs. They have no schema."""
SERVER_KINDS = ("code_execution_", "web_search_", "web_fetch_", "tool_search_tool_", "advisor_", "mcp_toolset")
"""How the types of the tools begin that the API runs."""
_TOOLSET = "_toolset_"


def _tools(tools: object, pointer: str) -> Iterator[Tool]:
    for i, tool in enumerate(as_array(tools)):
        yield _tool(as_object(tool), f"{pointer}/{i}")


def _tool(tool: Object, pointer: str) -> Tool:
    kind = as_text(tool.get("type")) or ""
    family = kind.partition(_TOOLSET)[0] if _TOOLSET in kind else kind
    name = as_text(tool.get("name")) or as_text(tool.get("mcp_server_name")) or family
    own = kind not in ("", "custom") and "input_schema" not in tool
    server = own and not kind.startswith(CLIENT_KINDS)
    deferred = tool.get("defer_loading") is True
    return Tool(name, as_text(tool.get("description")), tool.get("input_schema"), pointer, server, deferred)


read_tools = Repeated(_tools).of
"""The entries of `tools`; a toolset is one tool under the name of its family."""


def _additions_of(message: Message) -> list[Tool]:
    blocks = enumerate(map(as_object, as_array(as_object(message.raw).get("content"))))
    added = ((j, as_object(block.get("tool"))) for j, block in blocks if block.get("type") == "tool_addition")
    defined = ((j, definition) for j, tool in added if (definition := as_object(tool.get("definition"))))
    return [_tool(definition, f"{message.pointer}/content/{j}/tool/definition") for j, definition in defined]


added_tools = Joined(_additions_of).of
"""The tools that `tool_addition` blocks of messages define by value."""


def tool_change_text(block: Object) -> str:
    """What a `tool_addition` or `tool_removal` does: the verb, and the tool or server."""
    verb = "adds" if block.get("type") == "tool_addition" else "removes"
    tool = as_object(block.get("tool"))
    definition = as_object(tool.get("definition"))
    server, name = as_text(tool.get("server_name")), as_text(tool.get("name"))
    named = "/".join(filter(None, (server, name))) or (_tool(definition, "").name if definition else "")
    return f"{verb} {'the tools of ' if server and not name else 'the tool '}{named or '?'}"


def listing_text(block: Object) -> str:
    """The names that an MCP server listed."""
    names = [as_text(tool.get("name")) or "?" for tool in objects_in(block.get("tools"))]
    return f"tools of {as_text(block.get('mcp_server_name')) or '?'}: {', '.join(names) or 'none'}"
