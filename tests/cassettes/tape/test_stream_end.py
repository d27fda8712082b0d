"""A client that hangs up after the end of a stream did not abort; one that hangs up before it did."""

import json
from collections.abc import Iterator

import pytest

from turntape.cassettes.tape.stream_end import ended
from turntape.proxy.scripted import SALES_EMAILS
from turntape.proxy.scripted.answer import Answer
from turntape.proxy.scripted.server import SHAPES

PATHS = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic-messages": "/v1/messages",
    "gemini-generate": "/v1beta/models/m:streamGenerateContent?alt=sse",
    "bedrock-converse": "/model/m/converse-stream",
    "bedrock-invoke": "/model/m/invoke-with-response-stream",
    "ollama-chat": "/api/chat",
    "cohere-v2": "/v2/chat",
}


def streams() -> Iterator[tuple[str, list[bytes]]]:
    for shape in SHAPES:
        ask = shape.ask(PATHS[shape.name], {}, json.dumps({"stream": True, "model": "m"}).encode())
        yield shape.name, [piece for piece in shape.stream(Answer(ask, SALES_EMAILS[0])) if piece]


@pytest.mark.parametrize(("name", "pieces"), list(streams()), ids=[name for name, _ in streams()])
def test_the_end_of_each_apis_stream_is_known_and_its_middle_is_not_taken_for_it(
    name: str, pieces: list[bytes]
) -> None:
    assert ended(pieces)
    assert not ended(pieces[: len(pieces) // 2])


def test_a_chunk_without_a_reason_is_not_the_end() -> None:
    assert not ended([b'data: {"choices":[{"delta":{"content":"a"},"finish_reason":null}]}\n\n'])
    assert ended([b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'])
    assert not ended([])


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_a_last_event_of_any_length_is_known_by_its_beginning(line_end: bytes) -> None:
    """As OpenAI's, which holds the whole answer and all tools again."""
    echo = b'"instructions":"' + b"x" * 100_000 + b'"'
    start = b"event: response.created" + line_end + b"data: {}" + line_end * 2
    last = b"event: response.completed" + line_end + b'data: {"type":"response.completed",' + echo + b"}"

    assert ended([start, last[:5000], last[5000:] + line_end * 2])
    assert ended([start + last])
    assert not ended([start, last.replace(b"completed", b"in_progress")])


@pytest.mark.parametrize("answer", [b'"result":{}', b'"error":{"code":1}'])
def test_a_tool_servers_answer_ends_its_stream(answer: bytes) -> None:
    progress = b'data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n'
    last = b'event: message\r\ndata: {"jsonrpc":"2.0","id":1,' + answer + b"}\r\n\r\n"

    assert ended([progress, last[:20], last[20:]])
    assert not ended([progress])
    assert not ended([progress, last[:-2]])
