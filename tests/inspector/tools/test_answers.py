"""Answers to the handshake, to lists and to pings: what breaks MCP's form, and what is only unusual."""

from typing import Any

import pytest
from tool_stories import ADD, SAY, Story, text
from tool_wire import answers, asks, fails, initialize, initialized, notifies

ONE = ("c1", "add", '{"a":1}')
OK = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {"listChanged": True}, "resources": {}, "prompts": {}},
    "serverInfo": {"name": "files", "version": "1"},
}


def offered(start: object = None, listed: object = None) -> Story:
    """A server whose tools are offered and called, whatever it answered before."""
    story = Story().exchange(initialize(), start or answers(0, **OK)).exchange(notifies("notifications/initialized"))
    story.exchange(asks(1, "tools/list"), listed or answers(1, tools=story.tools))
    return story.turn(ONE).call("add", {"a": 1}, text("1")).results(("c1", "1")).turn()


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in OK.items() if key != name}


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (without("capabilities"), "gave an answer to initialize that has no `capabilities`"),
        (without("serverInfo"), "gave an answer to initialize that has no `serverInfo`"),
        ({**OK, "serverInfo": {"name": "files"}}, "has no `version` in its `serverInfo`"),
        ({**OK, "capabilities": {"tools": True}}, "has true as its `capabilities/tools`, which must be an object"),
        ({**OK, "instructions": None}, "has null as its `instructions`, which must be a text"),
    ],
)
def test_a_handshake_in_a_wrong_form_that_the_client_took(start: dict[str, Any], said: str) -> None:
    story = offered(answers(0, **start))

    assert story.found() == [(0, "tool-protocol-broken", "tool", "info")]
    assert said in story.says("tool-protocol-broken")[0]


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ({"tools": [ADD, SAY], "nextCursor": None}, "has null as its `nextCursor`"),
        ({"tools": [{**ADD, "annotations": {"readOnlyHint": "true"}}, SAY]}, "`tools/0/annotations/readOnlyHint`"),
        ({"tools": [{**ADD, "title": None}, SAY]}, "has null as its `tools/0/title`, which must be a text"),
        (
            {"tools": [ADD, SAY, {"inputSchema": {"type": "object"}}]},
            "has no `name` in its `tools/2`, which MCP requires, and its tools are offered all the same",
        ),
    ],
)
def test_a_list_of_tools_in_a_wrong_form_that_the_client_took(listed: dict[str, Any], said: str) -> None:
    story = offered(listed=answers(1, **listed))

    assert story.found() == [(2, "tool-protocol-broken", "tool", "info")]
    assert said in story.says("tool-protocol-broken")[0]


@pytest.mark.parametrize(
    ("capabilities", "found"), [({"prompts": {}}, 1), ({"prompts": {}, "tools": {}}, 0), ({"tools": {}}, 0), ({}, 0)]
)
def test_a_server_that_lists_tools_and_has_not_declared_any(capabilities: dict[str, Any], found: int) -> None:
    story = offered(answers(0, **{**OK, "capabilities": capabilities}))

    said = "server 'files' gave an answer to tools/list that it has not declared"
    assert story.says("tool-protocol-broken") == [said] * found
    assert story.found(severity="warning") == []


@pytest.mark.parametrize(("params", "found"), [([], 1), ("", 1), ({}, 0)])
def test_a_notification_whose_parameters_are_not_an_object(params: object, found: int) -> None:
    sent = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": params}
    by_server = offered().exchange(sent, sender="server")
    by_client = offered().exchange({**sent, "method": "notifications/initialized"})

    assert by_server.found() == [(6, "tool-protocol-broken", "tool", "info")] * found
    assert by_client.found() == [(6, "client-tool-protocol-broken", "client", "info")] * found


def test_an_answer_that_is_not_an_object() -> None:
    bare = Story().start().exchange(asks(3, "tools/list"), {"jsonrpc": "2.0", "id": 3, "result": [ADD]}).turn()
    ping = offered().exchange(asks(7, "ping"), {"jsonrpc": "2.0", "id": 7, "result": []})
    page = offered(answers(0, **OK)).exchange(
        asks(7, "resources/read", uri="a:b"), answers(7, contents=[{"uri": "a:b"}])
    )

    assert 'has [{"name"' in bare.says("tool-protocol-broken")[0]
    assert (
        "gave an answer to ping that has [] as its `result`, which must be an object"
        in ping.says("tool-protocol-broken")[0]
    )
    assert page.found() == [(6, "tool-protocol-broken", "tool", "info")]


def test_a_form_that_mcp_allows_is_silent() -> None:
    rich = {**ADD, "title": "Add", "annotations": {"readOnlyHint": True}, "_meta": {"a/b": 1}, "icons": []}
    story = offered(answers(0, **OK, instructions="Use it."), answers(1, tools=[rich, SAY], _meta={}))
    story.exchange(asks(7, "ping"), answers(7))
    story.exchange(asks(8, "resources/list"), answers(8, resources=[{"uri": "a:b", "name": "a"}]))
    story.exchange(asks(9, "prompts/get", name="p"), answers(9, resultType="input_required", requestState="s"))

    assert story.found() == []


def test_a_handshake_that_no_server_completes() -> None:
    refused = Story().exchange(initialize(), fails(0, "Method not found: initialize", -32601))
    assert refused.found() == [(0, "tool-server-error", "tool", "warning")]
    assert refused.says("tool-server-error") == [
        "server 'files' refused the handshake, and none succeeded after it: 'Method not found: initialize'"
    ]

    again = Story().exchange(initialize(), fails(0, "busy")).exchange(initialize(1), initialized(1))
    assert again.found() == []


def test_a_probe_for_a_newer_version_may_fail() -> None:
    story = Story().exchange(asks("probe", "server/discover"), fails("probe", "Method not found", -32601)).start()

    assert story.turn().found() == []


@pytest.mark.parametrize(
    ("said", "begun"),
    [
        ("expect initialized notification, but received: ListToolsRequest", True),
        ('The first message from the client must be "initialize": tools/list', False),
    ],
)
def test_a_server_that_waits_for_the_end_of_the_handshake(said: str, begun: bool) -> None:
    story = Story()
    if begun:
        story.exchange(initialize(), initialized())
    story.exchange(asks(1, "tools/list"), fails(1, said, -32601))

    assert [(name, layer) for _, name, layer, _ in story.found()] == [("client-tool-protocol-broken", "client")]


def test_a_server_that_speaks_of_initializing_something_else() -> None:
    story = Story().start().exchange(notifies("notifications/initialized"))
    story.exchange(asks(9, "tools/list"), fails(9, "you must call init_db before: database is not initialized"))
    unready = Story().start().exchange(asks(9, "tools/list"), fails(9, "Failed to initialize the database"))

    assert [layer for _, _, layer, _ in story.found()] == ["tool"]
    assert [layer for _, _, layer, _ in unready.found()] == ["tool"]


@pytest.mark.parametrize(
    ("method", "params", "said"),
    [
        ("notifications/progress", {"progressToken": 1, "progress": "50%"}, 'has "50%" as its `progress`'),
        ("notifications/message", {"level": "warn", "data": "slow"}, 'has "warn" as its `level`'),
        ("notifications/message", {"level": "info"}, "has no `data`"),
    ],
)
def test_a_notification_of_a_server_in_a_wrong_form(method: str, params: dict[str, Any], said: str) -> None:
    story = Story().start().turn(ONE)
    story.exchange(notifies(method, **params), sender="server")
    story.call("add", {"a": 1}, text("1"), progressToken=1).results(("c1", "1")).turn()

    assert story.found() == [(3, "tool-protocol-broken", "tool", "info")]
    assert said in story.says("tool-protocol-broken")[0]


@pytest.mark.parametrize("level", ["debug", "notice", "warning", "emergency"])
def test_a_notification_in_its_form_is_silent(level: str) -> None:
    story = Story().start().exchange(notifies("notifications/message", level=level, data={"n": None}), sender="server")
    story.exchange(notifies("notifications/vendor/own", anything=1), sender="server")

    assert story.turn().found() == []


@pytest.mark.parametrize(("versions", "wrong"), [([], 1), (["2026-07-28"], 0)])
def test_a_server_that_names_no_version(versions: list[str], wrong: int) -> None:
    said = Story().modern(supportedVersions=versions).says("tool-protocol-broken")

    assert len([one for one in said if "names no version" in one]) == wrong


@pytest.mark.parametrize(("name", "wrong"), [("", 1), ("a", 0)])
def test_a_tool_needs_a_name(name: str, wrong: int) -> None:
    said = offered(listed=answers(1, tools=[ADD, SAY, {**SAY, "name": name}])).says("tool-protocol-broken")

    assert len([one for one in said if "`tools/2/name`" in one]) == wrong
