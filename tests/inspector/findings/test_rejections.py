"""Errors that quote what the model wrote, and caps that are larger than the model's."""

from typing import Any

import pytest
from conversations import HELLO
from judged import CONVERSE, OLLAMA, ids, only, trip
from round_trips import CHAT

from turntape.inspector.findings.rejections import rejection
from turntape.inspector.wire.parse import read

ASK: dict[str, Any] = {"model": "gpt-5", "messages": [HELLO]}


def test_a_call_that_an_error_quotes_stays_the_models() -> None:
    quoted = {"error": "error parsing tool call: raw='{\"sql\": \"SELECT 1\"}]', err=invalid character ']'"}
    one = only("malformed-output", trip(OLLAMA, ASK, quoted, status=500))

    assert one.layer == "model"
    assert "error parsing tool call" in one.message


@pytest.mark.parametrize(
    "sentence",
    [
        "'max_tokens' or 'max_completion_tokens' is too large: 128000. This model's maximum context length is 32768",
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens",
        "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens",
        "it has a maxOutputTokens value of 9000 but the supported range is from 1 (inclusive) to 8193 (exclusive)",
        "The maximum tokens you requested exceeds the model limit of 4096.",
    ],
)
def test_a_cap_above_the_models_differs_from_a_full_window(sentence: str) -> None:
    found = ids(trip(CHAT, ASK, {"error": {"message": sentence}}, status=400))

    assert "client-unsupported-param" in found
    assert "api-context-full" not in found


def test_a_full_window_stays_one() -> None:
    full = "This model's maximum context length is 128000 tokens. However, your messages resulted in 131200 tokens"

    assert "api-context-full" in ids(trip(CHAT, ASK, {"error": {"message": full}}, status=400))


def test_an_account_that_is_not_verified_is_not_a_wrong_parameter() -> None:
    error = {
        "message": "Your organization must be verified to stream this model.",
        "type": "invalid_request_error",
        "param": "stream",
        "code": "unsupported_value",
    }
    found = trip(CHAT, ASK, {"error": error}, status=400)

    assert "client-unsupported-param" not in ids(found)
    assert "the account or its permissions" in only("access-refused", found).message


@pytest.mark.parametrize(
    "sentence",
    [
        "File not found: file_011CNha8iCJc",
        "The file file-8hQ2zX does not exist.",
        "Container cntr_1 has expired.",
        "Vector store vs_1 not found",
        "no such session",
    ],
)
@pytest.mark.parametrize("status", [400, 404])
def test_a_thing_that_the_api_does_not_have_is_not_a_model(sentence: str, status: int) -> None:
    found = ids(trip(CHAT, ASK, {"error": {"message": sentence}}, status=status))

    assert "client-stale-server-state" in found
    assert "access-refused" not in found


@pytest.mark.parametrize(
    ("sentence", "is_media"),
    [
        ("invalid request: image content is not supported for this model", True),
        ("Audio inputs are not enabled for this deployment", True),
        ("invalid request: frequency_penalty is not supported for this model", False),
    ],
)
def test_media_that_a_model_does_not_take_differ_from_a_parameter(sentence: str, is_media: bool) -> None:
    found = ids(trip(CHAT, ASK, {"error": {"message": sentence}}, status=400))

    assert ("client-media-unsupported" in found, "client-unsupported-param" in found) == (is_media, not is_media)


@pytest.mark.parametrize(
    ("message", "kind"),
    [("Too many tokens", "throttlingException"), ("Too many tokens per day", "ThrottlingException")],
)
def test_a_throttled_request_does_not_fill_the_window(message: str, kind: str) -> None:
    body = {"message": message, "__type": kind}
    found = rejection(read(trip(CONVERSE, {"messages": []}, body, status=429)))

    assert found is not None and found.ids == ()


def test_the_apis_that_hold_a_conversation_say_which_results_they_wait_for() -> None:
    said = (
        "Cannot append other inputs while function results are still missing. "
        "Provide function results first for: ['rXo8OuL9G']"
    )
    body = {"object": "error", "message": said, "type": "invalid_request_error", "code": 3001}
    found = rejection(read(trip("https://api.mistral.ai/v1/conversations/conv_1", {"inputs": "hi"}, body, status=400)))

    assert found is not None and (found.ids, found.named) == (("client-missing-tool-result",), ("rXo8OuL9G",))
