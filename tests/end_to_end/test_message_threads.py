"""Anthropic's message threads: the API holds the conversation and its tools, a request brings what is new."""

import json
from collections.abc import Mapping
from typing import Any

from turntape.cassettes.tape.model import Request, Response, RoundTrip
from turntape.inspector.run.labels import label_all

TOOLS = [{"name": "look_up", "input_schema": {"type": "object"}}]
CALL = {"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": {}}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "a strip"}]}


def turn(index: int, thread: Mapping[str, str], messages: list[Any], said: list[Any], **fields: Any) -> RoundTrip:
    asked = {"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": messages, "thread": thread, **fields}
    answer = {
        "id": f"msg_{index}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": said,
        "stop_reason": "tool_use" if said[0]["type"] == "tool_use" else "end_turn",
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }
    headers = (("content-type", "application/json"),)
    url = "https://api.anthropic.com/v1/messages?beta=true"
    request = Request("POST", url, headers, json.dumps(asked).encode())
    return RoundTrip(request, Response(200, "OK", headers, json.dumps(answer).encode()), 100.0 + index, index=index)


def test_a_thread_that_the_api_holds_is_one_thread_without_findings() -> None:
    first = turn(0, {"type": "create"}, [{"role": "user", "content": "what is a tape?"}], [CALL], tools=TOOLS)
    second = turn(1, {"type": "continue", "previous_message_id": "msg_0"}, [RESULT], [{"type": "text", "text": "a"}])
    labels: list[Any] = [done.label for done in label_all([first, second])]

    assert [(label["thread"], label["turn"]) for label in labels] == [("t1", 1), ("t1", 2)]
    assert [label["client"]["outcome"] for label in labels] == ["dispatched", "ended"]
    assert [label["findings"] for label in labels] == [[], []]


def test_without_a_thread_the_tools_are_missed() -> None:
    first = turn(0, {}, [{"role": "user", "content": "what is a tape?"}], [CALL], tools=TOOLS)
    history = [{"role": "user", "content": "what is a tape?"}, {"role": "assistant", "content": [CALL]}, RESULT]
    second = turn(1, {}, history, [{"type": "text", "text": "a strip"}])
    labels: list[Any] = [done.label for done in label_all([first, second])]

    assert "client-tools-missing-for-history" in [finding["id"] for finding in labels[1]["findings"]]
