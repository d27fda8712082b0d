"""Cohere, version 2 and version 1."""

import json
from typing import Any

from round_trips import exchanged, sse

from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import Reading, Usage

URL = "https://api.cohere.com/v2/chat"
ASK = {"model": "command-a", "messages": [{"role": "user", "content": "hi"}], "stop_sequences": ["END"]}


def delta_of(**delta: Any) -> dict[str, Any]:
    return {"message": delta}


EVENTS: list[dict[str, Any]] = [
    {"type": "message-start", "id": "m1"},
    {"type": "tool-plan-delta", "delta": delta_of(tool_plan="I will add.")},
    {
        "type": "tool-call-start",
        "index": 0,
        "delta": delta_of(tool_calls={"id": "add_1", "type": "function", "function": {"name": "add", "arguments": ""}}),
    },
    {"type": "tool-call-delta", "index": 0, "delta": delta_of(tool_calls={"function": {"arguments": '{"a":'}})},
    {"type": "tool-call-delta", "index": 0, "delta": delta_of(tool_calls={"function": {"arguments": "1}"}})},
    {"type": "tool-call-end", "index": 0},
    {
        "type": "message-end",
        "delta": {
            "finish_reason": "TOOL_CALL",
            "usage": {
                "billed_units": {"input_tokens": 1, "output_tokens": 1},
                "tokens": {"input_tokens": 9, "output_tokens": 3},
            },
        },
    },
]


def streamed(events: list[dict[str, Any]]) -> Reading:
    return read(exchanged(URL, {**ASK, "stream": True}, sse(*events, names=True)))


def test_a_streamed_call_with_its_plan() -> None:
    reading = streamed(EVENTS)
    assert reading.protocol == "cohere-v2" and reading.emission
    assert reading.emission.calls[0].arguments == {"a": 1} and reading.emission.reasoning == "I will add."
    assert reading.finish and reading.finish.label == "tool_calls"
    assert reading.usage == Usage(input=9, output=3), "tokens count, not what is billed"
    assert reading.request.stop == ("END",)


def test_a_stream_without_message_end_is_cut() -> None:
    reading = streamed(EVENTS[:4])
    assert reading.finish and reading.finish.label == "cut"
    assert reading.emission and not reading.emission.calls[0].complete


def test_a_whole_answer() -> None:
    body = {"id": "m", "finish_reason": "MAX_TOKENS", "message": {"content": [{"type": "text", "text": "Hey"}]}}
    reading = read(exchanged(URL, ASK, body))
    assert reading.emission and reading.emission.text == "Hey"
    assert reading.finish and reading.finish.label == "length" and reading.usage is None


def test_version_one_in_lines_and_whole() -> None:
    ask = {"model": "command", "message": "hi", "chat_history": [{"role": "CHATBOT", "message": "yes?"}]}
    events = [
        {"event_type": "text-generation", "text": "Hey", "is_finished": False},
        {"event_type": "stream-end", "finish_reason": "COMPLETE", "response": {"text": "Hey"}, "is_finished": True},
    ]
    body = "".join(json.dumps(event) + "\n" for event in events)
    url = "https://api.cohere.com/v1/chat"
    for answer in (body, {"text": "Hey", "finish_reason": "COMPLETE"}):
        reading = read(exchanged(url, ask, answer, content_type="application/stream+json"))
        assert reading.protocol == "cohere-v1"
        assert reading.emission and reading.emission.text == "Hey"
        assert reading.finish and reading.finish.label == "complete"
        assert [message.role for message in reading.request.messages] == ["assistant", "user"]
