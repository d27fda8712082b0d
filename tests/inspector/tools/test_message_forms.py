from typing import Any

import pytest

from turntape.inspector.tools.message_forms import (
    breaks,
    declares,
    is_made_up,
    odd_answer,
    wrong_answer,
    wrong_notice,
    wrong_params,
    wrong_reply,
)

FORM: dict[str, Any] = {"type": "object", "properties": {"place": {"type": "object"}}}
LISTED: dict[str, Any] = {"name": "add", "inputSchema": {"type": "object"}}


@pytest.mark.parametrize(
    ("method", "params", "wrong"),
    [
        ("tools/call", {"name": "add"}, None),
        ("tools/call", {"tool": "add"}, "has no `name`, which MCP requires"),
        ("tools/call", {"name": "add", "_meta": {"progressToken": 0}}, None),
        ("tools/call", {"name": "add", "_meta": {"progressToken": {}}}, "as its `_meta/progressToken`, which must be"),
        ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}}, "has no `clientInfo`"),
        ("elicitation/create", {"message": "Where?", "mode": "url", "url": "https://desk.example"}, None),
        ("elicitation/create", {"message": "Where?", "requestedSchema": FORM}, "which MCP does not allow there"),
        ("vendor/own", {"anything": 1}, None),
    ],
)
def test_the_parameters_of_a_request(method: str, params: dict[str, Any], wrong: str | None) -> None:
    found = wrong_params(method, params)
    assert found is wrong if wrong is None else wrong in (found or "")


@pytest.mark.parametrize(
    ("method", "result", "wrong"),
    [
        ("tools/list", {"tools": [LISTED]}, None),
        ("tools/list", {"tools": [LISTED], "nextCursor": None}, None),
        ("tools/list", {"tools": {"add": LISTED}}, "as its `tools`, which must be a list"),
        ("tools/list", {"tools": [{**LISTED, "outputSchema": {}}]}, "has no `type` in its `tools/0/outputSchema`"),
        ("tools/call", {"content": [{"type": "resource", "resource": {"uri": "a:b", "text": "c"}}]}, None),
        ("tools/call", {"content": [{"type": "resource", "resource": {"text": "c"}}]}, "has no `uri`"),
        ("tools/call", {"content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]}, None),
        ("tools/call", {"content": [{"type": "image", "data": "a:b/c", "mimeType": "image/png"}]}, "`content/0/data`"),
        ("tools/call", {"content": [{"type": "text", "text": "half \ud83d"}]}, None),
        ("tools/call", {"content": [{"type": "resource_link", "uri": "a:b", "name": "c"}]}, None),
        ("tools/call", {"content": [{"type": "resource_link", "uri": "a:b"}]}, "has no `name` in its `content/0`"),
    ],
)  # fmt: skip
def test_the_answer_of_a_server(method: str, result: dict[str, Any], wrong: str | None) -> None:
    found = wrong_answer(method, result)
    assert found is wrong if wrong is None else wrong in (found or "")


def test_schemas_may_be_of_any_kind_in_the_newest_version() -> None:
    assert wrong_answer("tools/list", {"tools": [{**LISTED, "outputSchema": {}}]}, any_json=True) is None


def test_the_reply_of_a_client() -> None:
    assert wrong_reply("roots/list", {"roots": [{"uri": "file:///home"}]}) is None
    assert "which must be a list" in (wrong_reply("roots/list", {"roots": "file:///home"}) or "")
    assert wrong_reply("ping", {}) is None


def test_what_a_side_has_declared() -> None:
    tools: dict[str, Any] = {"tools": [{}]}
    assert declares("sampling/createMessage", {}, {"sampling": {}}) is True
    assert declares("sampling/createMessage", tools, {"sampling": {}}) is False
    assert declares("sampling/createMessage", tools, {"sampling": {"tools": {}}}) is True
    assert declares("prompts/list", {}, {"tools": {}}) is False
    page: dict[str, Any] = {"mode": "url"}
    kinds: list[dict[str, Any]] = [{}, {"form": {}}, {"url": {}}, {"form": {}, "url": {}}]
    assert [declares("elicitation/create", page, {"elicitation": kind}) for kind in kinds] == [False, False, True, True]
    assert [declares("elicitation/create", {}, {"elicitation": kind}) for kind in kinds] == [True, True, False, True]
    assert declares("prompts/list", {}, None) is declares("ping", {}, {}) is None


def test_a_method_in_a_group_of_mcp_that_it_does_not_have() -> None:
    assert is_made_up("tools/execute")
    assert not any(map(is_made_up, ("tools/call", "vendor/execute", "tasks/get", "server/discover")))


def test_a_schema_that_cannot_be_used_is_not_broken() -> None:
    assert breaks({"type": "object", "required": ["a"]}, {})
    assert not breaks({"$ref": "https://desk.example/schema"}, {})


@pytest.mark.parametrize(
    ("result", "odd"),
    [
        ({"content": []}, None),
        ({"content": [], "structuredContent": {}, "isError": False}, None),
        ({"content": [], "isError": None}, "has null as its `isError`, which must be true or false"),
        ({"content": [{"type": "text", "text": "a", "annotations": None}]}, "`content/0/annotations`"),
        ({"content": [{"type": "text", "text": "a", "annotations": {"priority": 1}}]}, None),
    ],
)
def test_null_in_the_place_of_nothing_is_odd(result: dict[str, Any], odd: str | None) -> None:
    found = odd_answer("tools/call", result)
    assert found is odd if odd is None else odd in (found or "")
    assert wrong_answer("tools/call", result) is None


def test_structured_content_may_be_null_in_the_newest_version_only() -> None:
    result: dict[str, Any] = {"content": [], "structuredContent": None}

    assert "has null as its `structuredContent`" in (wrong_answer("tools/call", result) or "")
    assert wrong_answer("tools/call", result, any_json=True) is None


KEY = "io.modelcontextprotocol/"
CLIENT: dict[str, Any] = {f"{KEY}protocolVersion": "2026-07-28", f"{KEY}clientCapabilities": {"elicitation": {}}}


@pytest.mark.parametrize(
    ("method", "params", "wrong"),
    [
        ("tools/call", {"name": "add", "_meta": CLIENT}, None),
        ("tools/call", {"name": "add", "_meta": {**CLIENT, f"{KEY}clientCapabilities": []}}, "must be an object"),
        ("tools/call", {"name": "add", "_meta": {**CLIENT, f"{KEY}clientInfo": {"name": "c"}}}, "has no `version`"),
        ("tools/call", {"name": "add", "_meta": {**CLIENT, f"{KEY}logLevel": "loud"}}, "logLevel`, which MCP"),
        ("tools/call", {"name": "add", "_meta": CLIENT, "requestState": 7}, "as its `requestState`, which must be"),
        ("tools/call", {"name": "add", "_meta": CLIENT, "inputResponses": ["yes"]}, "as its `inputResponses`"),
        ("prompts/list", {"_meta": {**CLIENT, "vendor.example/a": 1}}, None),
        ("subscriptions/listen", {"_meta": CLIENT, "notifications": {"toolsListChanged": True}}, None),
        ("subscriptions/listen", {"_meta": CLIENT}, "has no `notifications`"),
        ("subscriptions/listen", {"_meta": CLIENT, "notifications": {"toolsListChanged": 1}}, "toolsListChanged`"),
    ],
)
def test_what_a_request_says_in_the_newest_version(method: str, params: dict[str, Any], wrong: str | None) -> None:
    found = wrong_params(method, params, modern=True)
    assert found is wrong if wrong is None else wrong in (found or "")
    if method != "subscriptions/listen":
        assert wrong_params(method, params) is None


@pytest.mark.parametrize(
    ("method", "result", "odd"),
    [
        ("tools/call", {"content": [], "resultType": "complete"}, None),
        ("tools/call", {"content": []}, "has no `resultType`, which MCP requires"),
        ("tools/call", {"content": [], "resultType": "complete", "_meta": {f"{KEY}serverInfo": {"name": "s"}}}, "`ver"),
        ("tools/call", {"content": [], "resultType": "complete", "_meta": {"vendor.example/took": 3}}, None),
        ("tools/list", {"tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}, None),
        ("tools/list", {"tools": [], "resultType": "complete", "ttlMs": -1, "cacheScope": "private"}, "has -1 as its"),
        ("tools/list", {"tools": [], "resultType": "complete", "cacheScope": "private"}, "has no `ttlMs`"),
        ("prompts/list", {"prompts": [], "resultType": "complete", "ttlMs": 1, "cacheScope": "all"}, "`cacheScope`"),
        ("resources/read", {"contents": [], "resultType": "complete"}, "has no"),
        ("prompts/get", {"messages": [], "resultType": "complete"}, None),
    ],
)
def test_what_an_answer_says_in_the_newest_version(method: str, result: dict[str, Any], odd: str | None) -> None:
    found = odd_answer(method, result, modern=True)
    assert found is odd if odd is None else odd in (found or "")
    assert odd_answer(method, result) is None


def test_a_notice_of_a_subscription_names_it_in_the_newest_version() -> None:
    tagged: dict[str, Any] = {"_meta": {f"{KEY}subscriptionId": 5}}

    assert wrong_notice("notifications/tools/list_changed", tagged, modern=True) is None
    assert "has no `_meta`" in (wrong_notice("notifications/tools/list_changed", {}, modern=True) or "")
    assert wrong_notice("notifications/tools/list_changed", {}) is None
    assert wrong_notice("notifications/progress", {"progressToken": 1, "progress": 1}, modern=True) is None
    honoured = {**tagged, "notifications": {"toolsListChanged": True}}
    assert wrong_notice("notifications/subscriptions/acknowledged", honoured, modern=True) is None
    assert "has no `notifications`" in (
        wrong_notice("notifications/subscriptions/acknowledged", tagged, modern=True) or ""
    )


def test_a_notification() -> None:
    assert wrong_notice("notifications/progress", {"progressToken": "a", "progress": 0.5, "total": None}) is None
    text = wrong_notice("notifications/progress", {"progressToken": 1, "progress": "1"})
    assert text == 'has "1" as its `progress`, which must be a number'
    assert wrong_notice("notifications/vendor/own", {}) is None
