"""The table of MCP's messages."""

from typing import Any

import pytest

from turntape.inspector.tools.message_forms import odd_answer, wrong_answer, wrong_notice, wrong_params, wrong_reply
from turntape.inspector.tools.message_table import relaxed

REF = {"type": "ref/prompt", "name": "p"}
SAID = {"type": "text", "text": "a"}
TASK = {"taskId": "t", "status": "working", "createdAt": "x", "lastUpdatedAt": "x", "ttl": None}
SAMPLE: dict[str, Any] = {"messages": [{"role": "user", "content": SAID}], "maxTokens": 9}
FORMS: dict[str, Any] = {"params": wrong_params, "notice": wrong_notice, "answer": wrong_answer, "reply": wrong_reply}


@pytest.mark.parametrize(
    ("kind", "method", "whole", "change", "at"),
    [
        ("params", "completion/complete", {"ref": REF, "argument": {"name": "a", "value": "b"}}, {"ref": {}}, "ref"),
        ("params", "sampling/createMessage", SAMPLE, {"temperature": "hot"}, "temperature"),
        ("params", "sampling/createMessage", SAMPLE, {"modelPreferences": {"costPriority": 3}}, "costPriority"),
        ("params", "sampling/createMessage", SAMPLE, {"messages": [{"role": "user", "content": {}}]}, "content"),
        ("params", "prompts/get", {"name": "p", "arguments": {"a": "1"}}, {"arguments": {"a": 1}}, "arguments/a"),
        ("params", "tasks/get", {"taskId": "t"}, {"taskId": 1}, "taskId"),
        ("notice", "notifications/tasks/status", TASK, {"status": "done"}, "status"),
        ("notice", "notifications/message", {"level": "info", "data": 1}, {"logger": 7}, "logger"),
        ("answer", "completion/complete", {"completion": {"values": ["a"]}}, {"completion": {}}, "completion"),
        ("answer", "prompts/list", {"prompts": [{"name": "p"}]}, {"prompts": [{"name": "p", "arguments": {}}]}, "0"),
        ("answer", "prompts/get", {"messages": [{"role": "user", "content": SAID}]}, {"messages": [{}]}, "messages/0"),
        ("answer", "resources/list", {"resources": []}, {"nextCursor": 2}, "nextCursor"),
        ("answer", "tools/list", {"tools": []}, {"tools": [{"name": "a", "inputSchema": {}, "icons": {}}]}, "icons"),
        ("answer", "tools/call", {"content": [SAID], "isError": False}, {"isError": "no"}, "isError"),
        ("answer", "tools/call", {"content": [SAID]}, {"content": [{**SAID, "text": 1}]}, "content/0/text"),
        *(
            ("answer", "tools/call", {"content": [{**SAID, "annotations": {name: right}}]},
             {"content": [{**SAID, "annotations": {name: wrong}}]}, f"annotations/{name}")
            for name, right, wrong in (
                ("priority", 0, 1.5), ("priority", 1, -1), ("lastModified", "2026", 2026),
                ("audience", ["user"], "user"), ("audience", ["assistant"], ["tool"]),
            )
        ),
        ("reply", "sampling/createMessage", {"role": "user", "content": SAID, "model": "m"}, {"content": 1}, "content"),
        ("reply", "elicitation/create", {"action": "accept", "content": {"a": 1}}, {"content": [1]}, "content"),
    ],
)  # fmt: skip
def test_each_field_of_a_message_has_its_form(
    kind: str, method: str, whole: dict[str, Any], change: dict[str, Any], at: str
) -> None:
    assert FORMS[kind](method, whole) is None
    assert at in FORMS[kind](method, {**whole, **change})


def test_null_in_the_place_of_an_optional_field_is_odd_and_not_wrong() -> None:
    page: dict[str, Any] = {"resources": [{"uri": "a:b", "name": "x", "size": None}], "nextCursor": None}

    assert wrong_answer("resources/list", page) is None
    assert odd_answer("resources/list", page) is not None
    assert "`resources/0/name`" in (wrong_answer("resources/list", {"resources": [{"uri": "a:b", "name": None}]}) or "")


def test_a_relaxed_schema_allows_null_where_a_field_may_be_left_out() -> None:
    schema = {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}, "b": {"enum": [1]}}}

    assert relaxed(schema) == {**schema, "properties": {"a": {"type": "string"}, "b": {"enum": [1, None]}}}
    assert relaxed({"items": {"properties": {"a": {"type": ["string", "null"]}}}}) == {
        "items": {"properties": {"a": {"type": ["string", "null"]}}}
    }
