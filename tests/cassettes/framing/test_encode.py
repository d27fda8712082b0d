"""What is encoded is decoded again."""

import pytest

from turntape.cassettes.framing.decoding import decode
from turntape.cassettes.framing.encode import aws_event, sse_event


@pytest.mark.parametrize(
    ("data", "name", "end", "encoded"),
    [
        ({"a": "é"}, "", b"\n", 'data: {"a":"é"}\n\n'.encode()),
        ({"a": 1}, "ping", b"\n", b'event: ping\ndata: {"a":1}\n\n'),
        ("[DONE]", "", b"\n", b"data: [DONE]\n\n"),
        ({}, "x", b"\r\n", b"event: x\r\ndata: {}\r\n\r\n"),
    ],
)
def test_a_server_sent_event(data: object, name: str, end: bytes, encoded: bytes) -> None:
    assert sse_event(data, name, end) == encoded
    [event] = decode("sse", [(encoded, 0)])
    assert (event.name, event.problem) == (name, None)


@pytest.mark.parametrize(("kind", "decoded"), [("event", "data"), ("exception", "exception")])
def test_a_frame_of_an_aws_event_stream(kind: str, decoded: str) -> None:
    data = aws_event({"a": 1}, "contentBlockDelta", kind)

    [event] = decode("aws-event-stream", [(data, 0)])

    assert (event.data, event.name, event.kind, event.problem) == (b'{"a":1}', "contentBlockDelta", decoded, None)
    assert f":{kind}-type".encode() in data
    assert b":content-type\x07\x00\x10application/json" in data


def test_the_usual_frame_is_an_event() -> None:
    assert aws_event([], "x") == aws_event([], "x", "event") != aws_event([], "x", "exception")
