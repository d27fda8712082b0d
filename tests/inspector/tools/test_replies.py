"""Replies of a client, and the requests that they answer: who broke the form first."""

from dataclasses import replace
from typing import Any

import pytest
from tool_stories import MODERN, Story, text
from tool_wire import answers, fails

ONE = ("c1", "add", '{"a":1}')
SAMPLE: dict[str, Any] = {"messages": [], "maxTokens": 9}
TAKEN: dict[str, Any] = {"role": "assistant", "content": {"type": "text", "text": "4"}, "model": "m"}
FORM: dict[str, Any] = {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}}


def asked(method: str, params: dict[str, Any], reply: object, gives: object = None, **declared: Any) -> Story:
    """A call during which the server asks its client."""
    story = Story().start(**declared).turn(ONE).call("add", {"a": 1}, gives or text("1"))
    story.exchange({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, reply, sender="server")
    story.trips[-1] = replace(story.trips[-1], started_at=story.trips[-2].started_at + 0.001)
    return story.results(("c1", gives if isinstance(gives, str) else "1")).turn()


def both(**more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "result": TAKEN, **more}


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (both(error={"code": -1, "message": "rejected"}), "has a result and an error"),
        ({"jsonrpc": "2.0", "id": 1, "error": "rejected"}, 'has "rejected" as its `error`, which must be an object'),
        ({"id": 1, "result": TAKEN}, "has null as `jsonrpc`"),
        ({"jsonrpc": "2.0", "id": 1, "result": "4"}, 'has "4" as its `result`, which must be an object'),
        (answers(1, **{**TAKEN, "content": "4"}), 'has "4" as its `content`'),
    ],
)
def test_a_reply_in_a_wrong_form(reply: object, said: str) -> None:
    story = asked("sampling/createMessage", SAMPLE, reply, "invalid response of the client", sampling={})

    assert (4, "client-tool-protocol-broken", "client", "warning") in story.found()
    assert said in story.says("client-tool-protocol-broken")[0]
    assert {layer for _, _, layer, _ in story.found()} == {"client"}


def test_a_reply_in_its_form_is_silent() -> None:
    assert asked("sampling/createMessage", SAMPLE, answers(1, **TAKEN), sampling={}).found() == []
    assert asked("roots/list", {}, answers(1, roots=[]), roots={}).found() == []
    assert asked("ping", {}, answers(1)).found() == []


def test_a_ping_that_the_client_does_not_know_is_a_warning_where_the_call_fails_for_it() -> None:
    unknown = fails(1, "Method not found", -32601)
    failed = asked("ping", {}, unknown, "the client does not answer")

    assert (2, "tool-server-error", "client", "warning") in failed.found()
    assert asked("ping", {}, unknown).found() == [(4, "client-tool-input-unanswered", "client", "info")]


def test_a_notification_with_an_id_is_the_servers() -> None:
    params = {"level": "info", "data": "step"}
    story = asked("notifications/message", params, fails(1, "Method not found", -32601))

    assert story.found() == [(4, "tool-protocol-broken", "tool", "warning")]
    assert (
        "sent a request notifications/message that has an id, and a notification has none"
        in story.says("tool-protocol-broken")[0]
    )


def test_a_question_in_a_wrong_form_that_the_client_answered_is_an_info() -> None:
    nested = {"type": "object", "properties": {"home": {"type": "object"}}}
    params = {**FORM, "requestedSchema": nested}
    story = asked("elicitation/create", params, answers(1, action="cancel"), elicitation={})

    assert story.found() == [(4, "tool-protocol-broken", "tool", "info")]
    assert asked("elicitation/create", FORM, answers(1, action="cancel"), elicitation={}).found() == []


def modern(method: str, reply: object) -> Story:
    """A server that speaks version 2026-07-28 and asks as older ones did."""
    story = Story().modern().turn(ONE)
    story.exchange({"jsonrpc": "2.0", "id": 1, "method": method, "params": FORM}, reply, sender="server")
    return story.call("add", {"a": 1}, text("1", resultType="complete"), **MODERN).results(("c1", "1")).turn()


@pytest.mark.parametrize(
    ("reply", "severity"), [(fails(1, "Method not found", -32601), "warning"), (answers(1, action="cancel"), "info")]
)
def test_a_server_that_asks_in_a_version_whose_servers_do_not(reply: object, severity: str) -> None:
    story = modern("elicitation/create", reply)

    assert story.found() == [(3, "tool-protocol-broken", "tool", severity)]
    assert "that version 2026-07-28 does not have" in story.says("tool-protocol-broken")[0]


def test_a_sample_that_calls_a_tool_which_it_was_not_offered() -> None:
    call = {"type": "tool_use", "id": "t", "name": "add", "input": {}}
    reply = answers(1, **{**TAKEN, "content": [call], "stopReason": "toolUse"})
    tools = [{"name": "add", "inputSchema": {"type": "object"}}]
    without, with_tools = (
        asked("sampling/createMessage", params, reply, sampling={"tools": {}})
        for params in (SAMPLE, {**SAMPLE, "tools": tools})
    )

    assert without.found() == [(4, "client-tool-protocol-broken", "client", "warning")]
    assert "calls the tool 'add', which the request does not offer" in without.says("client-tool-protocol-broken")[0]
    assert with_tools.found() == []


def test_roots_that_the_client_declared_and_does_not_know_are_an_info() -> None:
    unknown = fails(1, "Method not found", -32601)

    assert asked("roots/list", {}, unknown, roots={}).found() == [(4, "client-tool-input-unanswered", "client", "info")]
    assert asked("roots/list", {}, unknown).found() == [(4, "tool-protocol-broken", "tool", "info")], "not declared"
