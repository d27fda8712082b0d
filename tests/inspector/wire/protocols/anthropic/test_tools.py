"""Tools of Anthropic's requests: toolsets, tools that messages add and remove, listings of MCP servers."""

from typing import Any

import pytest
from round_trips import MESSAGES, exchanged

from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import RequestReading

ASK: dict[str, Any] = {"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}


def asked(**fields: object) -> RequestReading:
    return read(exchanged(MESSAGES, {**ASK, **fields}, {})).request


def added(*blocks: object) -> RequestReading:
    return asked(messages=[*ASK["messages"], {"role": "system", "content": blocks}])


@pytest.mark.parametrize(
    ("tool", "name", "server"),
    [
        ({"type": "computer_toolset_20260801", "configs": {"zoom": {"enabled": False}}}, "computer", False),
        ({"type": "browser_toolset_20260801"}, "browser", False),
        ({"type": "computer_20250124", "name": "computer"}, "computer", False),
        ({"type": "mcp_toolset", "mcp_server_name": "deepwiki"}, "deepwiki", True),
        ({"type": "web_search_20250305", "name": "web_search"}, "web_search", True),
        ({"type": "someday_20990101"}, "someday_20990101", True),
        ({"name": "add", "input_schema": {}}, "add", False),
        ({"type": "custom", "name": "add", "input_schema": {}}, "add", False),
    ],
)
def test_a_tool_has_a_name_and_somebody_who_runs_it(tool: object, name: str, server: bool) -> None:
    (found,) = asked(tools=[tool]).tools

    assert (found.name, found.server, found.pointer) == (name, server, "/tools/0")


def test_a_call_into_a_toolset_names_its_family() -> None:
    use = {"type": "tool_use", "id": "toolu_1", "name": "left_click", "input": {}, "toolset_name": "computer"}
    body = {"type": "message", "role": "assistant", "content": [use], "stop_reason": "tool_use", "model": "claude-x"}
    request = {**ASK, "tools": [{"type": "computer_toolset_20260801"}]}
    reading = read(exchanged(MESSAGES, request, body))

    assert reading.emission is not None
    (call,) = reading.emission.calls
    assert (call.name, call.toolset, call.server) == ("left_click", "computer", False)


def test_an_inline_definition_is_a_tool_of_the_conversation() -> None:
    definition = {"name": "lookup", "description": "d", "input_schema": {"type": "object"}}
    request = added({"type": "tool_addition", "tool": {"type": "tool_definition", "definition": definition}})

    (tool,) = request.added_tools
    assert (tool.name, tool.pointer) == ("lookup", "/messages/1/content/0/tool/definition")
    assert tool.schema == {"type": "object"} and request.tools == ()


@pytest.mark.parametrize(
    ("kind", "tool", "text"),
    [
        ("tool_addition", {"type": "tool_reference", "name": "lookup"}, "adds the tool lookup"),
        ("tool_removal", {"type": "tool_reference", "name": "lookup"}, "removes the tool lookup"),
        ("tool_addition", {"type": "mcp_tool_reference", "server_name": "s", "name": "n"}, "adds the tool s/n"),
        ("tool_removal", {"type": "mcp_toolset_reference", "server_name": "s"}, "removes the tools of s"),
        ("tool_addition", {"type": "tool_definition", "definition": {"name": "n"}}, "adds the tool n"),
        ("tool_addition", {"type": "someday"}, "adds the tool ?"),
    ],
)
def test_a_change_of_tools_says_what_it_does(kind: str, tool: object, text: str) -> None:
    request = added({"type": kind, "tool": tool})

    assert [part.text for part in request.messages[1].parts] == [text]
    assert kind == "tool_addition" or request.added_tools == ()


def test_the_listing_of_an_mcp_server_names_its_tools() -> None:
    listing = {"type": "mcp_tool_listing", "mcp_server_name": "deepwiki", "tools": [{"name": "ask"}, {"name": "read"}]}
    empty = {"type": "mcp_tool_listing", "mcp_server_name": "deepwiki", "tools": []}
    message = {"role": "assistant", "content": [listing, empty]}

    (reading,) = asked(messages=[message]).messages
    assert [part.text for part in reading.parts] == ["tools of deepwiki: ask, read", "tools of deepwiki: none"]
