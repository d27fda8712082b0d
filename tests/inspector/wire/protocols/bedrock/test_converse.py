"""Bedrock Converse: blocks, frames, exceptions inside a stream, two conventions of counting."""

from typing import Any

import pytest
from aws_frames import frame
from hypothesis import given, settings
from hypothesis import strategies as st
from round_trips import exchanged

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.wire.exchange import Exchange
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.registry import traits_of
from turntape.inspector.wire.values import Message, Reading, ToolResult, Usage

URL = "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-5%3A0/converse"
ASK: dict[str, Any] = {"messages": [{"role": "user", "content": [{"text": "hi"}]}]}
TOOL = [
    frame("messageStart", {"role": "assistant"}),
    frame("contentBlockStart", {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "t1", "name": "add"}}}),
    frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"toolUse": {"input": '{"a"'}}}),
    frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"toolUse": {"input": ": 1}"}}}),
    frame("contentBlockStop", {"contentBlockIndex": 0}),
    frame("messageStop", {"stopReason": "tool_use"}),
    frame("metadata", {"usage": {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}}),
]


def streamed_trip(frames: list[bytes]) -> RoundTrip:
    kind = "application/vnd.amazon.eventstream"
    return exchanged(f"{URL}-stream", ASK, b"".join(frames), content_type=kind)


def streamed(frames: list[bytes]) -> Reading:
    return read(streamed_trip(frames))


def whole(content: object, stop: str, usage: object = None, request: object = None) -> Reading:
    body = {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": stop, "usage": usage}
    return read(exchanged(URL, request or ASK, body))


@pytest.mark.parametrize(
    ("word", "label"),
    [
        ("end_turn", "complete"),
        ("max_tokens", "length"),
        ("guardrail_intervened", "content_filter"),
        ("new", "unknown"),
    ],
)
def test_the_stop_reason_is_labelled(word: str, label: str) -> None:
    reading = whole([{"text": "Hello"}], word)
    assert reading.finish and (reading.finish.raw, reading.finish.label) == (word, label)
    assert reading.request.model == "us.anthropic.claude-5:0" and reading.response_model is None


def test_a_streamed_call_is_put_together() -> None:
    reading = streamed(TOOL)
    assert reading.emission and reading.emission.calls[0].arguments == {"a": 1}
    assert reading.finish and reading.finish.effective == "tool_calls"
    assert reading.usage == Usage(input=3, output=2)


def test_a_stream_without_message_stop_is_cut_and_its_open_call_partial() -> None:
    reading = streamed(TOOL[:3])
    assert reading.finish and reading.finish.label == "cut"
    assert reading.emission and reading.emission.emitted == "partial_call"


def test_an_exception_frame_is_an_error_in_the_stream() -> None:
    reading = streamed([*TOOL[:3], frame("throttlingException", {"message": "slow"}, exception=True)])
    assert reading.error and (reading.error.type, reading.error.status) == ("throttlingException", 429)
    assert reading.finish and reading.finish.effective == "error"


@pytest.mark.parametrize(("counted", "total", "whole_input"), [(5, 17, 15), (12, 14, 12), (5, 7, 15)])
def test_the_total_shows_whether_cached_tokens_are_inside_the_input(counted: int, total: int, whole_input: int) -> None:
    usage = {"inputTokens": counted, "outputTokens": 2, "totalTokens": total, "cacheReadInputTokens": 10}
    read_usage = whole([{"text": "x"}], "end_turn", usage).usage
    assert read_usage == Usage(input=whole_input, cache_read=10, output=2)


def test_the_request_is_read() -> None:
    results = [{"toolResult": {"toolUseId": "t1", "content": [{"text": "bad"}], "status": "error"}}]
    request: dict[str, Any] = {
        "system": [{"text": "be brief"}],
        "messages": [*ASK["messages"], {"role": "user", "content": results}],
        "toolConfig": {
            "tools": [{"toolSpec": {"name": "add", "inputSchema": {"json": {"type": "object"}}}}],
            "toolChoice": {"any": {}},
        },
        "inferenceConfig": {"maxTokens": 9, "stopSequences": ["END"]},
    }
    asked = whole([{"text": "x"}], "end_turn", request=request).request
    assert asked.results[0].is_error and asked.results[0].call_id == "t1"
    assert asked.tools[0].schema == {"type": "object"}
    assert asked.tool_choice and asked.tool_choice.mode == "required"
    assert (asked.max_output, asked.stop) == (9, ("END",))


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_no_mutation_of_the_frames_raises(data: st.DataObject) -> None:
    body = bytearray(b"".join(TOOL))
    for _ in range(data.draw(st.integers(1, 4))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    reading = streamed([bytes(body[: data.draw(st.integers(1, len(body)))])])
    assert not any("could not be read" in problem for problem in reading.problems)


def request_with(role: str, *blocks: object) -> Message:
    (message,) = read(exchanged(URL, {"messages": [{"role": role, "content": blocks}]}, {})).request.messages
    return message


SEARCHED = {"searchResult": {"source": "s3://b/k", "title": "Rules", "content": [{"text": "One."}, {"text": "Two."}]}}


@pytest.mark.parametrize(
    ("block", "kind", "text"),
    [
        ({"guardContent": {"text": {"text": "Is it safe?", "qualifiers": ["query"]}}}, "text", "Is it safe?"),
        ({"guardContent": {"image": {"format": "png", "source": {}}}}, "media", "[image]"),
        (SEARCHED, "media", "Rules\ns3://b/k\nOne.\nTwo."),
        ({"toolAddition": {"tool": {"name": "lookup"}}}, "other", "adds the tool lookup"),
        ({"toolRemoval": {"tool": {"name": "n", "serverName": "s"}}}, "other", "removes the tool s/n"),
        ({"toolRemoval": {}}, "other", "removes the tool ?"),
        ({"audio": {"format": "mp3"}}, "media", "[audio]"),
        ({"someday": {"x": 1}}, "other", "[someday]"),
    ],
)
def test_every_block_of_a_message_says_what_it_is(block: object, kind: str, text: str) -> None:
    (part,) = request_with("system", block).parts
    assert (part.kind, part.text) == (kind, text)


def test_a_search_result_given_by_a_tool_is_its_text() -> None:
    (part,) = request_with("user", {"toolResult": {"toolUseId": "t", "content": [SEARCHED, {"json": {"a": 1}}]}}).parts
    assert part.result == ToolResult("t", None, False, 'Rules\ns3://b/k\nOne.\nTwo.\n{"a":1}')


def test_the_result_of_a_system_tool_is_the_apis_own() -> None:
    use = {"toolUseId": "s", "name": "grounding", "type": "server_tool_use"}
    result = {"toolUseId": "s", "type": "grounding_result", "status": "error"}
    pieces = [[{"text": "not "}], [{"text": "found"}, {"json": {"a": 1}}]]
    sent = [
        frame("contentBlockStart", {"contentBlockIndex": 0, "start": {"toolUse": use}}),
        frame("contentBlockStop", {"contentBlockIndex": 0}),
        frame("contentBlockStart", {"contentBlockIndex": 1, "start": {"toolResult": result}}),
        *(frame("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolResult": piece}}) for piece in pieces),
        frame("contentBlockStop", {"contentBlockIndex": 1}),
        frame("messageStop", {"stopReason": "end_turn"}),
    ]
    emission = streamed(sent).emission
    assert emission is not None
    assert emission.server_results == (ToolResult("s", None, True, 'not found\n{"a":1}', server=True),)
    assert [call.name for call in emission.server_calls] == ["grounding"]


def test_a_streamed_image_and_a_citation_are_kept_with_their_blocks() -> None:
    sent = [
        frame("contentBlockStart", {"contentBlockIndex": 0, "start": {"image": {"format": "png"}}}),
        frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"image": {"source": {"bytes": "iVBO"}}}}),
        frame("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"text": "Cited."}}),
        frame("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"citation": {"title": "T"}}}),
        frame("messageStop", {"stopReason": "end_turn"}),
    ]
    emission = streamed(sent).emission
    assert emission is not None
    assert [(part.kind, part.raw) for part in emission.content] == [
        ("media", {"image": {"format": "png", "source": {"bytes": "iVBO"}}}),
        ("text", {"text": "Cited.", "citations": [{"title": "T"}]}),
    ]


def test_a_text_in_the_block_of_a_call_takes_nothing_from_the_call() -> None:
    use = {"toolUseId": "t", "name": "look_up"}
    sent = [
        frame("contentBlockStart", {"contentBlockIndex": 0, "start": {"toolUse": use}}),
        frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"toolUse": {"input": '{"word":'}}}),
        frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "Let me see."}}),
        frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"toolUse": {"input": '"tape"}'}}}),
        frame("contentBlockStop", {"contentBlockIndex": 0}),
        frame("messageStop", {"stopReason": "tool_use"}),
    ]
    emission = streamed(sent).emission
    assert emission is not None
    assert [call.arguments_raw for call in emission.calls] == ['{"word":"tape"}']
    assert emission.text == "Let me see."

    contradictions = traits_of("bedrock-converse").answers.contradictions
    assert contradictions is not None
    [mixed] = contradictions(Exchange(streamed_trip(sent)))
    assert "a piece of 'text' comes in a block of 'toolUse'" in mixed
    assert not list(contradictions(Exchange(streamed_trip(TOOL))))


@pytest.mark.parametrize(
    ("details", "hour"),
    [
        ([{"ttl": "1h", "inputTokens": 60}, {"ttl": "5m", "inputTokens": 40}], 60),
        ([{"ttl": "5m", "inputTokens": 100}], 0),
        ([{"ttl": "1h", "inputTokens": 900}], 100),  # never more than was written
        ([{"ttl": "1h", "inputTokens": "many"}, 3, {}], 0),
        ("60", 0),
        (None, 0),
    ],
)
def test_what_was_written_for_an_hour(details: object, hour: int) -> None:
    counts = {"inputTokens": 5, "outputTokens": 2, "totalTokens": 107, "cacheWriteInputTokens": 100}

    usage = whole([{"text": "x"}], "end_turn", {**counts, "cacheDetails": details}).usage

    assert usage is not None
    assert (usage.input, usage.cache_write, usage.cache_write_1h) == (105, 100, hour)


def test_arguments_in_a_block_that_no_event_opened_contradict_the_stream() -> None:
    call = [
        frame("messageStart", {"role": "assistant"}),
        frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "Let me see."}}),
        frame("contentBlockStop", {"contentBlockIndex": 0}),
        frame("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolUse": {"input": "{}"}}}),
        frame("contentBlockStop", {"contentBlockIndex": 1}),
        frame("messageStop", {"stopReason": "tool_use"}),
    ]
    opens = frame("contentBlockStart", {"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "t", "name": "x"}}})

    contradictions = traits_of("bedrock-converse").answers.contradictions
    assert contradictions is not None
    [unopened] = contradictions(Exchange(streamed_trip(call)))
    assert unopened.startswith("arguments of a call come in block 1, which no `contentBlockStart` opened")
    assert list(contradictions(Exchange(streamed_trip([*call[:3], opens, *call[3:]])))) == []
