"""Headers over HTTP that say something else than the request."""

import base64
from dataclasses import replace
from typing import Any

import pytest
from tool_stories import KEPT, MODERN, Story
from tool_wire import answers, asks, fails, http, initialize, initialized

from turntape.cassettes.tape.model import Headers

CALL: dict[str, Any] = {"name": "add", "arguments": {"a": 1}, "_meta": MODERN}
RESULT: dict[str, Any] = {"content": [{"type": "text", "text": "1"}], "resultType": "complete"}


def said(method: str, **headers: str) -> Headers:
    named = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
    return tuple((named | {key.replace("_", "-"): value for key, value in headers.items()}).items())


def modern(headers: Headers, got: object = None, status: int = 200) -> Story:
    """A call of version 2026-07-28 over HTTP with these headers."""
    story = Story(server="files")
    found = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **KEPT}
    meta = {"io.modelcontextprotocol/serverInfo": {"name": "files", "version": "1"}}
    for sent, reply in (
        (asks(0, "server/discover", _meta=MODERN), answers(0, _meta=meta, **found)),
        (asks(1, "tools/list", _meta=MODERN), answers(1, tools=story.tools, _meta=meta, **KEPT)),
    ):
        story.put(http(sent, reply, headers=said(sent["method"]), at=story.at))
    story.turn(("c1", "add", '{"a":1}'))
    story.put(
        http(asks(2, "tools/call", **CALL), got or answers(2, **RESULT), headers=headers, at=story.at, status=status)
    )
    return story.results(("c1", "no" if got else "1")).turn()


@pytest.mark.parametrize("name", ["add", f"=?base64?{base64.b64encode(b'add').decode()}?="])
def test_headers_that_say_what_the_body_says_are_silent(name: str) -> None:
    assert modern(said("tools/call", Mcp_Name=name)).found() == []


@pytest.mark.parametrize(
    ("headers", "wrong"),
    [
        (said("tools/call", Mcp_Name="say"), "says 'say' in its header `Mcp-Name`, and 'add' in its body"),
        (said("tools/list", Mcp_Name="add"), "says 'tools/list' in its header `Mcp-Method`"),
        (said("tools/call"), "has no header `Mcp-Name`, which version 2026-07-28 requires"),
        (said("tools/call", Mcp_Name="add", MCP_Protocol_Version="2025-11-25"), "says '2025-11-25' in its header"),
        (said("tools/call", Mcp_Name="add", Mcp_Session_Id="s-1"), "names a session, which version 2026-07-28"),
    ],
)  # fmt: skip
def test_a_header_that_differs_is_an_info_where_the_server_took_it(headers: Headers, wrong: str) -> None:
    story = modern(headers)

    assert story.found() == [(3, "client-tool-protocol-broken", "client", "info")]
    assert wrong in story.says("client-tool-protocol-broken")[0]


def test_a_header_that_differs_is_the_clients_where_the_server_refused_it() -> None:
    refusal = fails(2, "Header mismatch: Mcp-Name header value 'say' does not match body value 'add'", -32020)
    story = modern(said("tools/call", Mcp_Name="say"), refusal, 400)

    assert (3, "client-tool-protocol-broken", "client", "warning") in story.found()
    assert {layer for _, _, layer, _ in story.found()} == {"client"}


@pytest.mark.parametrize(("version", "count"), [("2025-11-25", 0), ("2025-03-26", 1)])
def test_the_version_that_the_handshake_ended_with_is_in_the_headers(version: str, count: int) -> None:
    story = Story()
    story.put(http(initialize(0), initialized(0), headers=(), at=story.at))
    story.put(http(asks(1, "tools/list"), answers(1, tools=story.tools), at=story.at)).turn(("c1", "add", '{"a":1}'))
    sent = http(
        asks(2, "tools/call", name="add", arguments={"a": 1}), answers(2, content=RESULT["content"]), at=story.at
    )
    headers = (("Accept", "application/json, text/event-stream"), ("MCP-Protocol-Version", version))
    story.put(replace(sent, request=replace(sent.request, headers=headers))).results(("c1", "1")).turn()

    assert [severity for _, _, _, severity in story.found()] == ["info"] * count


@pytest.mark.parametrize(
    ("sentence", "layer", "how"),
    [
        ("Mcp-Name 'say' is not the name in the body", "client", "warning"),
        ("no row of the table has this number", "tool", "info"),
    ],
)
@pytest.mark.parametrize("of_tool", [True, False])
def test_another_failure_is_not_blamed_on_a_header_that_differs(
    sentence: str, layer: str, how: str, of_tool: bool
) -> None:
    result = {**RESULT, "content": [{"type": "text", "text": sentence}], "isError": True}
    story = modern(said("tools/call", Mcp_Name="say"), answers(2, **result) if of_tool else fails(2, sentence))
    failed = [one for one in story.found() if one[1] in ("tool-server-error", "tool-reported-error")]

    assert [one[2] for one in failed] == [layer]
    assert [one[3] for one in story.found() if one[1] == "client-tool-protocol-broken"] == (
        ["info"] if of_tool else [how]
    )
