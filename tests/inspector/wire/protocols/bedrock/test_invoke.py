"""Bedrock InvokeModel: the inner API's reader does the work, whole and in frames."""

import json
from base64 import b64encode

import pytest
from aws_frames import frame
from round_trips import exchanged

from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import Reading, Usage

BASE = "https://bedrock-runtime.us-east-1.amazonaws.com/model/some.model-v1%3A0/invoke"
CLAUDE = {"anthropic_version": "bedrock-2023-05-31", "messages": [{"role": "user", "content": "hi"}]}


def chunks(*bodies: object) -> bytes:
    return b"".join(frame("chunk", {"bytes": b64encode(json.dumps(body).encode()).decode()}) for body in bodies)


def streamed(request: object, *bodies: object) -> Reading:
    kind = "application/vnd.amazon.eventstream"
    return read(exchanged(f"{BASE}-with-response-stream", request, chunks(*bodies), content_type=kind))


def test_claude_in_frames_is_read_as_messages_are() -> None:
    reading = streamed(
        CLAUDE,
        {"type": "message_start", "message": {"id": "m", "model": "claude-x", "usage": {"input_tokens": 4}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    )
    assert reading.protocol == "bedrock-invoke" and reading.streamed
    assert reading.emission and reading.emission.text == "Hello"
    assert reading.finish and reading.finish.label == "complete"
    assert (reading.request.model, reading.response_model) == ("some.model-v1:0", "claude-x")


def test_nova_in_frames_is_read_as_converse_is() -> None:
    request = {"messages": [{"role": "user", "content": [{"text": "hi"}]}], "inferenceConfig": {"max_new_tokens": 5}}
    delta = {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Hey"}}}
    reading = streamed(request, {"messageStart": {}}, delta, {"messageStop": {"stopReason": "max_tokens"}})
    assert reading.emission and reading.emission.text == "Hey"
    assert reading.finish and reading.finish.label == "length" and reading.request.max_output == 5


@pytest.mark.parametrize(
    ("request_body", "answer", "label", "usage"),
    [
        (
            {"inputText": "hi"},
            {"inputTextTokenCount": 3, "results": [{"tokenCount": 2, "outputText": "x", "completionReason": "FINISH"}]},
            "complete",
            Usage(input=3, output=2),
        ),
        (
            {"prompt": "hi", "max_gen_len": 4},
            {"generation": "x", "prompt_token_count": 3, "generation_token_count": 4, "stop_reason": "length"},
            "length",
            Usage(input=3, output=4),
        ),
        ({"prompt": "hi"}, {"outputs": [{"text": "x", "stop_reason": "stop"}]}, "complete", None),
        ({"prompt": "hi"}, {"generations": [{"text": "x", "finish_reason": "MAX_TOKENS"}]}, "length", None),
        (
            {"prompt": "hi"},
            {"completions": [{"data": {"text": "x"}, "finishReason": {"reason": "endoftext"}}]},
            "complete",
            None,
        ),
    ],
    ids=["titan", "llama", "mistral", "cohere", "ai21"],
)
def test_models_that_continue_a_text(request_body: object, answer: object, label: str, usage: Usage | None) -> None:
    reading = read(exchanged(BASE, request_body, answer))
    assert reading.emission and reading.emission.text == "x"
    assert reading.finish and reading.finish.label == label
    assert reading.usage == usage and reading.request.messages


def test_an_exception_frame_is_an_error() -> None:
    body = chunks({"generation": "x"}) + frame("modelStreamErrorException", {"message": "broken"}, exception=True)
    kind = "application/vnd.amazon.eventstream"
    reading = read(exchanged(f"{BASE}-with-response-stream", {"prompt": "hi"}, body, content_type=kind))
    assert reading.error and reading.error.message == "broken"
    assert reading.emission and reading.emission.text == "x"


def test_a_stream_without_a_finish_word_is_cut() -> None:
    reading = streamed({"prompt": "hi"}, {"generation": "x", "stop_reason": None})
    assert reading.finish and reading.finish.label == "cut"


def test_a_blocked_stream_is_a_content_filter() -> None:
    reading = streamed({"inputText": "hi"}, {"outputText": "no", "amazon-bedrock-guardrailAction": "INTERVENED"})
    assert reading.finish and reading.finish.effective == "content_filter"


def test_embeddings_are_not_a_turn() -> None:
    assert read(exchanged(BASE, {"inputText": "hi"}, {"embedding": [0.1]})).kind == "embeddings"
