"""Error bodies in every shape that was seen on the wire."""

from typing import Any

import pytest
from round_trips import CHAT, exchanged

from turntape.inspector.wire.parse import read


@pytest.mark.parametrize(
    ("body", "message", "kind", "code"),
    [
        ({"error": {"message": "m", "type": "t", "param": None, "code": "c"}}, "m", "t", "c"),
        ({"error": {"message": "m", "code": "404"}}, "m", None, "404"),
        ({"error": {"code": 400, "message": "m", "status": "INVALID_ARGUMENT"}}, "m", "INVALID_ARGUMENT", "400"),
        ({"type": "error", "error": {"type": "t", "message": "m"}, "request_id": "r"}, "m", "t", None),
        ({"code": "c", "error": "m"}, "m", None, "c"),
        ({"error": "m"}, "m", None, None),
        ({"detail": "m"}, "m", None, None),
        ({"detail": [{"loc": ["body"], "msg": "m"}]}, "m", None, None),
        ({"message": "m", "id": "x"}, "m", None, None),
        ({"error_type": "t", "message": "m"}, "m", "t", None),
        ({"object": "error", "message": "m", "type": "t", "code": "1300"}, "m", "t", "1300"),
        ({"object": "error", "message": "m", "type": "t", "code": "1", "raw_status_code": 400}, "m", "t", "1"),
        ({"message": "m", "request_id": "r"}, "m", None, None),
        ({"code": 400, "message": "m", "type": "t"}, "m", "t", "400"),
        ({"errors": [{"code": "c", "message": "m"}]}, "m", None, "c"),
        ([{"error": {"code": 429, "message": "m", "status": "S"}}], "m", "S", "429"),
        ({"error": {"message": "m", "metadata": {"raw": "native"}}}, "m: native", None, None),
        ({"error": {"message": {"odd": 1}}}, '{"odd":1}', None, None),
        (b"plain text", "plain text", None, None),
        (b"<html>no</html>", "<html>no</html>", None, None),
        (b"", "HTTP 400", None, None),
        ({}, "{}", None, None),
    ],
)
def test_every_shape_gives_message_type_and_code(body: Any, message: str, kind: str | None, code: str | None) -> None:
    error = read(exchanged(CHAT, {"messages": []}, body, status=400)).error
    assert error is not None
    assert (error.message, error.type, error.code, error.status) == (message, kind, code, 400)
    assert not error.in_stream


def test_bedrock_names_the_type_in_a_header() -> None:
    headers = (("x-amzn-ErrorType", "ThrottlingException:http://internal"),)
    error = read(exchanged(CHAT, {}, {"message": "slow"}, status=429, headers=headers)).error
    assert error is not None
    assert (error.message, error.type) == ("slow", "ThrottlingException")


def test_an_error_in_a_200_body_is_an_error() -> None:
    reading = read(exchanged(CHAT, {"messages": []}, {"error": {"message": "m", "code": 502}}))
    assert reading.error is not None
    assert (reading.error.status, reading.finish and reading.finish.effective) == (502, "error")


def test_an_error_with_an_event_stream_body_is_read_from_its_event() -> None:
    body = b'event: error\ndata: {"error":{"message":"m","type":"t"}}\n\n'
    error = read(exchanged(CHAT, {"messages": []}, body, status=500)).error
    assert error is not None
    assert (error.message, error.type, error.status) == ("m", "t", 500)
