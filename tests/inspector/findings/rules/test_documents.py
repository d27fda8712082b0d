"""Bodies that are not one well-formed document, and streams that nobody asked for."""

import json
from dataclasses import replace
from typing import Any

import pytest
from aws_frames import frame
from conversations import HELLO
from dialogues import APIS, asks, calls, says
from judged import LOOK_UP, Said, asked, ids, judged, only, trip
from round_trips import CHAT, MESSAGES, sse

from turntape.cassettes.tape.model import RoundTrip

ID = "api-malformed-stream"
BROKEN = "api-stream-contradiction"
NAMES = sorted(APIS)
COHERE = "https://api.cohere.com/v2/chat"
STREAM = "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-sonnet-4-5/converse-stream"
RESPONSES = "https://api.openai.com/v1/responses"


def with_body(one: RoundTrip, body: bytes) -> RoundTrip:
    assert one.response is not None
    return replace(one, response=replace(one.response, content=body, chunks=()))


def body_of(one: RoundTrip) -> bytes:
    assert one.response is not None
    return one.response.body


def whole(api: str, text: str = "A strip.") -> RoundTrip:
    return APIS[api]([asks("hi")], says(text), 0)


@pytest.mark.parametrize("api", NAMES)
@pytest.mark.parametrize(
    ("rest", "what"),
    [
        (b'{"error":{"message":"write timeout"}}', "a second JSON document follows after the end of the answer"),
        (b"<html>502</html>", "more follows after the end of the answer"),
    ],
)
def test_what_follows_the_answer_is_not_a_cut(api: str, rest: bytes, what: str) -> None:
    one = whole(api)
    broken = with_body(one, body_of(one) + rest)
    found = judged(broken)

    [said] = [f for f in found if f.severity != "info"]
    assert (said.id, said.layer, said.severity, said.tier) == (ID, "api", "error", "P")
    assert said.message.startswith(f"{what}, at byte {len(body_of(one))}: {rest.decode()!r}")


@pytest.mark.parametrize("api", NAMES)
@pytest.mark.parametrize("around", [b" ", b"\r\n\n"])
def test_white_space_around_the_answer_is_part_of_it(api: str, around: bytes) -> None:
    one = whole(api)

    assert ID not in ids(with_body(one, around + body_of(one) + around))


@pytest.mark.parametrize("api", NAMES)
def test_bytes_that_are_not_utf8(api: str) -> None:
    one = whole(api, "PLACE")
    said = only(ID, with_body(one, body_of(one).replace(b"PLACE", "Sch\u00f6ne".encode("latin-1"))))

    assert (said.layer, said.severity) == ("api", "error")
    assert "is not UTF-8, so clients cannot decode the body: " in said.message
    assert "Sch\u00f6ne" in said.message
    assert ID not in ids(with_body(one, body_of(one).replace(b"PLACE", "Sch\u00f6ne".encode())))


@pytest.mark.parametrize("api", NAMES)
@pytest.mark.parametrize(
    ("value", "what"), [(b"NaN", "the answer holds NaN"), (b"-Infinity", "holds -Infinity"), (b'"\\ud83d"', "\\ud83d")]
)
def test_json_that_only_lenient_parsers_read(api: str, value: bytes, what: str) -> None:
    one = whole(api)
    said = only(ID, with_body(one, body_of(one)[:-1] + b',"more":' + value + b"}"))

    assert (said.layer, said.severity) == ("api", "warning")
    assert what in said.message
    assert "many clients cannot parse the body" in said.message


@pytest.mark.parametrize("value", [b'"NaN"', b'"\\ud83d\\ude00"', b"1e999"])
def test_json_that_all_parsers_read(value: bytes) -> None:
    one = whole("chat")

    assert ID not in ids(with_body(one, body_of(one)[:-1] + b',"more":' + value + b"}"))


def message_events(*, stop: bool = True) -> list[dict[str, Any]]:
    block = {"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": '{"word":"tape"}'}
    return [
        {"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        *([{"type": "content_block_stop", "index": 0}] if stop else []),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]


def messages(*events: dict[str, Any], names: bool = True) -> RoundTrip:
    ask = {"model": "claude", "max_tokens": 99, "stream": True, "messages": [asked("hi")], "tools": [LOOK_UP]}
    return trip(MESSAGES, ask, sse(*events, names=names))


def test_events_without_their_names() -> None:
    said = only(ID, messages(*message_events(), names=False))

    assert (said.layer, said.severity) == ("api", "error")
    assert said.message == (
        "6 events of the stream have no name (`event:`), the first is 'message_start': "
        "clients that know events by their name skip them"
    )
    assert ID not in ids(messages(*message_events()))


def test_one_event_without_its_name() -> None:
    events = message_events()
    body = sse(*events[:3], names=True) + sse(events[3]) + sse(*events[4:], names=True)
    said = only(ID, trip(MESSAGES, {"model": "c", "stream": True, "messages": [asked("hi")], "tools": [LOOK_UP]}, body))

    assert said.message.startswith("1 event of the stream has no name (`event:`), the first is 'content_block_stop'")


def test_other_apis_need_no_names() -> None:
    chunk = {"id": "c", "model": "m", "choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": "stop"}]}

    assert ID not in ids(trip(CHAT, {"model": "m", "stream": True, "messages": [HELLO]}, sse(chunk, done=True)))


def converse(*, stop: bool, text: bool = False) -> RoundTrip:
    use = {"toolUse": {"toolUseId": "t1", "name": "look_up"}}
    delta = {"text": "hi"} if text else {"toolUse": {"input": '{"word":"tape"}'}}
    start = [] if text else [frame("contentBlockStart", {"contentBlockIndex": 1, "start": use})]
    frames = [
        frame("messageStart", {"role": "assistant"}),
        *start,
        frame("contentBlockDelta", {"contentBlockIndex": 1, "delta": delta}),
        *([frame("contentBlockStop", {"contentBlockIndex": 1})] if stop else []),
        frame("messageStop", {"stopReason": "end_turn" if text else "tool_use"}),
        frame("metadata", {"usage": {"inputTokens": 9, "outputTokens": 9, "totalTokens": 18}}),
    ]
    schema = {"json": {"type": "object", "properties": {"word": {"type": "string"}}}}
    asks_for = {
        "messages": [{"role": "user", "content": [{"text": "hi"}]}],
        "toolConfig": {"tools": [{"toolSpec": {"name": "look_up", "inputSchema": schema}}]},
    }
    return trip(STREAM, asks_for, b"".join(frames), content_type="application/vnd.amazon.eventstream")


def cohere(*, stop: bool) -> RoundTrip:
    call = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"word":"tape"}'}}
    events = [
        {"type": "message-start", "id": "m"},
        {"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": call}}},
        *([{"type": "tool-call-end", "index": 0}] if stop else []),
        {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
    ]
    return trip(COHERE, {"model": "m", "stream": True, "messages": [HELLO]}, sse(*events, names=True))


def responses(*, stop: bool) -> RoundTrip:
    item = {"type": "function_call", "id": "fc", "call_id": "c", "name": "look_up", "arguments": '{"word":"tape"}'}
    done = {"id": "r", "status": "completed", "model": "m", "output": [item | {"status": "completed"}]}
    events = [
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.added", "output_index": 0, "item": item | {"arguments": ""}},
        {
            "type": "response.function_call_arguments.delta",
            "output_index": 0,
            "item_id": "fc",
            "delta": '{"word":"tape"}',
        },
        *([{"type": "response.output_item.done", "output_index": 0, "item": item}] if stop else []),
        {"type": "response.completed", "response": done},
    ]
    return trip(RESPONSES, {"model": "m", "stream": True, "input": "hi"}, sse(*events, names=True))


def broken(one: RoundTrip) -> Said:
    """The one finding above info: nothing says that a cap was hit."""
    [said] = [found for found in judged(one) if found.severity != "info" and found.layer == "api"]
    return said


@pytest.mark.parametrize(
    ("open_one", "closed"),
    [
        (messages(*message_events(stop=False)), messages(*message_events())),
        (converse(stop=False), converse(stop=True)),
        (converse(stop=False, text=True), converse(stop=True, text=True)),
        (cohere(stop=False), cohere(stop=True)),
        (responses(stop=False), responses(stop=True)),
    ],
    ids=["anthropic", "converse", "converse text", "cohere", "responses"],
)
def test_a_piece_that_is_never_ended(open_one: RoundTrip, closed: RoundTrip) -> None:
    said = broken(open_one)

    assert (said.id, said.layer, said.severity) == (BROKEN, "api", "warning")
    assert "of the answer never comes: clients that wait for it never use the piece" in said.message
    assert BROKEN not in ids(closed)


def test_a_call_that_is_never_ended_is_whole_when_the_message_ended() -> None:
    assert "api-length-truncated-tool-call" not in ids(converse(stop=False)) | ids(cohere(stop=False))


def test_a_stream_that_nobody_asked_for() -> None:
    chunk = {"id": "c", "model": "m", "choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": "stop"}]}

    def streamed(**fields: Any) -> RoundTrip:
        return trip(CHAT, {"model": "m", "messages": [HELLO], **fields}, sse(chunk, done=True))

    said = only("api-stream-unasked", streamed())
    assert (said.layer, said.severity) == ("api", "warning")
    assert said.message == "the request asks for one body and a stream of 2 events came"
    assert "api-stream-unasked" in ids(streamed(stream=False))
    assert "api-stream-unasked" not in ids(streamed(stream=True))


def test_a_call_before_more_text_of_the_body_is_still_read() -> None:
    one = APIS["chat"]([asks("hi")], calls("tape"), 0)
    cut = with_body(one, body_of(one) + b"garbage")

    assert "api-stream-cut" not in ids(cut)
    assert json.loads(body_of(one))["choices"]


def test_a_message_that_begins_twice() -> None:
    events = message_events()

    assert "the message begins 2 times" in broken(messages(*events[:2], events[0], *events[2:])).message


@pytest.mark.parametrize("delta", ["thinking_delta", "text_delta"])
def test_a_delta_that_its_block_cannot_have(delta: str) -> None:
    events = message_events()
    strange = {"type": "content_block_delta", "index": 0, "delta": {"type": delta, "text": "a", "thinking": "a"}}

    assert (
        f"a '{delta}' comes in a block of the type 'tool_use'"
        in broken(messages(*events[:2], strange, *events[2:])).message
    )
