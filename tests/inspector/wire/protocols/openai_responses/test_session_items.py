"""Items that are neither words nor calls: what each says, and that no one takes them for an empty answer."""

from typing import Any

import pytest
from round_trips import exchanged

from turntape.inspector.wire.parse import read

URL = "https://api.openai.com/v1/responses"
TOOL = {"type": "function", "name": "lookup", "parameters": {"type": "object"}}
ENCRYPTED = {"type": "encrypted_content", "encrypted_content": "E"}


@pytest.mark.parametrize(
    ("item", "text"),
    [
        ({"type": "additional_tools", "role": "developer", "tools": [TOOL]}, "adds the tools lookup"),
        ({"type": "additional_tools", "role": "developer", "tools": []}, "adds the tools (none)"),
        ({"type": "mcp_list_tools", "server_label": "wiki", "tools": [{"name": "ask"}, {}]}, "tools of wiki: ask, ?"),
        ({"type": "mcp_list_tools", "server_label": "wiki", "tools": []}, "tools of wiki: none"),
        (
            {"type": "mcp_list_tools", "server_label": "wiki", "tools": [], "error": "401"},
            "the tools of wiki could not be listed: 401",
        ),
        (
            {
                "type": "agent_message",
                "author": "/main",
                "recipient": "/main/search",
                "content": [{"type": "input_text", "text": "go"}, ENCRYPTED],
            },
            "/main to /main/search: go\n[encrypted_content]",
        ),
        ({"type": "configuration_update", "reasoning": {"effort": "high"}}, "from here on: reasoning effort high"),
        (
            {
                "type": "configuration_update",
                "reasoning": {"effort": "low"},
                "text": {"format": {"type": "json_schema", "name": "x"}},
            },
            "from here on: reasoning effort low, text format json_schema",
        ),
        ({"type": "configuration_update"}, "from here on: no change"),
        ({"type": "compaction_trigger"}, "asks the API to compact the context"),
    ],
)
def test_each_item_says_what_it_does(item: dict[str, Any], text: str) -> None:
    body = {"id": "resp_1", "object": "response", "status": "completed", "output": [item]}
    reading = read(exchanged(URL, {"model": "gpt-5", "input": [item]}, body))

    assert [part.text for message in reading.request.messages for part in message.parts] == [text]
    assert reading.emission is not None
    assert [part.text for part in reading.emission.content if part.kind == "other"] == [text]
    assert (reading.emission.emitted, reading.emission.text) == ("text", "")


def test_additional_tools_are_tools_of_the_conversation() -> None:
    item = {"type": "additional_tools", "role": "developer", "tools": [TOOL, {"type": "namespace", "tools": [TOOL]}]}
    request = read(exchanged(URL, {"model": "gpt-5", "input": [{"role": "user", "content": "hi"}, item]}, {})).request

    pointers = ["/input/1/tools/0", "/input/1/tools/1/tools/0"]
    assert [(tool.name, tool.pointer) for tool in request.added_tools] == [("lookup", at) for at in pointers]
    assert request.added_tools[0].schema == {"type": "object"} and request.tools == ()


def test_an_item_of_an_unknown_type_is_kept_and_counts_as_content() -> None:
    body = {"id": "r", "object": "response", "status": "completed", "output": [{"type": "someday", "id": "x"}]}
    reading = read(exchanged(URL, {"model": "gpt-5", "input": "hi"}, body))

    assert reading.emission is not None and reading.finish is not None
    assert [(part.kind, part.text) for part in reading.emission.content] == [("other", "[someday]")]
    assert (reading.emission.emitted, reading.finish.effective, reading.problems) == ("text", "complete", ())
