"""Error bodies in every shape that was seen on the wire."""

from typing import Any

import pytest
from round_trips import CHAT, exchanged

from turntape.inspector.wire.exchange import Exchange
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.protocols.shared.errors import error_under_200


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


@pytest.mark.parametrize(
    ("body", "message", "code"),
    [
        ({"choices": None, "base_resp": {"status_code": 1008, "status_msg": "no credit"}}, "no credit", "1008"),
        (
            {"base_resp": {"status_code": 1008, "status_msg": "no credit"}, "usage": {"total_tokens": 0}},
            "no credit",
            "1008",
        ),
        ({"error_code": 336, "error_msg": "busy"}, "busy", "336"),
        ({"code": 1113, "msg": "no credit", "success": False}, "no credit", "1113"),
        ({"success": False, "message": "no"}, "no", None),
        ({"status": "error", "message": "no"}, "no", None),
        ({"errorMessage": "Task timed out", "errorType": "Timeout"}, "Task timed out", None),
        ({"header": {"code": 11200, "message": "no licence"}}, "no licence", "11200"),
    ],
)
def test_an_error_under_a_good_status_has_its_own_words(body: Any, message: str, code: str | None) -> None:
    error = read(exchanged(CHAT, {"messages": []}, body)).error

    assert error is not None
    assert (error.message, error.code, error.names_status) == (message, code, False)


@pytest.mark.parametrize(
    "body",
    [
        {"base_resp": {"status_code": 0, "status_msg": "success"}},
        {"code": 200, "msg": "ok"},
        {"success": True, "message": "fine"},
        {"choices": [{"message": {"content": "hi"}}], "base_resp": {"status_code": 1, "status_msg": "x"}},
        {"error_code": 1},
    ],
)
def test_a_body_that_says_no_error_has_none(body: Any) -> None:
    assert error_under_200(Exchange(exchanged(CHAT, {"messages": []}, body)), "choices") is None


def test_only_a_good_status_and_one_body_are_looked_into() -> None:
    body = {"base_resp": {"status_code": 1008, "status_msg": "no credit"}}

    assert error_under_200(Exchange(exchanged(CHAT, {}, body, status=500)), "choices") is None
    assert error_under_200(Exchange(exchanged(CHAT, {}, b"data: {}\n\n")), "choices") is None
    assert error_under_200(Exchange(exchanged(CHAT, {}, body)), "") is None
