"""What the API refused, and whom that blames."""

from dataclasses import replace

import pytest
from conversations import CALL, HELLO, chat, result, said, user
from judged import anthropic, ids, judged, only

from turntape.cassettes.tape.model import Failure, RoundTrip


def refused(status: int, message: str = "no", **error: object) -> RoundTrip:
    return chat([HELLO], status=status, error={"error": {"message": message, "type": "x", **error}})


@pytest.mark.parametrize(
    ("status", "expected", "layer", "severity"),
    [
        (500, "api-overloaded", "api", "error"),
        (503, "api-overloaded", "api", "error"),
        (529, "api-overloaded", "api", "error"),
        (429, "api-rate-limited", "api", "warning"),
        (401, "api-auth-or-permission", "client", "error"),
        (404, "api-auth-or-permission", "client", "error"),
        (400, "api-invalid-request", "client", "error"),
        (413, "api-invalid-request", "client", "error"),
        (422, "api-invalid-request", "client", "error"),
    ],
)
def test_each_status_has_its_class_and_its_layer(status: int, expected: str, layer: str, severity: str) -> None:
    one = only(expected, refused(status))

    assert (one.layer, one.severity) == (layer, severity)


def test_a_used_up_quota_is_more_severe_than_a_throttle() -> None:
    quota = refused(429, "You exceeded your current quota.", code="insufficient_quota")

    assert only("api-rate-limited", quota).severity == "error"


def test_the_wait_and_the_limit_that_hit_zero_are_named() -> None:
    one = refused(429)
    assert one.response is not None
    headers = (*one.response.headers, ("retry-after", "20"), ("x-ratelimit-remaining-tokens", "0"))

    message = only("api-rate-limited", replace(one, response=replace(one.response, headers=headers))).message

    assert "retry after 20 s" in message
    assert "x-ratelimit-remaining-tokens is 0" in message


def test_a_500_that_names_the_requests_fault_is_not_an_overload() -> None:
    reported = ids(
        refused(500, "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
    )

    assert "api-overloaded" not in reported
    assert "client-orphan-tool-result" in reported


def test_a_rejection_points_at_the_fault_that_explains_it() -> None:
    first = said(None, CALL)
    error = {"error": {"message": "An assistant message with 'tool_calls' must be followed by tool messages responding "
                       "to each 'tool_call_id'.", "type": "invalid_request_error"}}  # fmt: skip
    reported = judged(chat([HELLO], first), chat([HELLO, first, user("go on")], status=400, error=error, index=1))

    [rejection] = [one for one in reported if one.id == "api-invalid-request"]
    assert rejection.because_of == ("client-missing-tool-result",)


def test_a_rejection_of_what_the_api_itself_returned_is_the_apis() -> None:
    empty = {"type": "text", "text": ""}
    use = {"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": {"word": "tape"}}
    asked = {"role": "user", "content": "hi"}
    answered = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}]}
    history = [asked, {"role": "assistant", "content": [empty, use]}, answered]

    reported = judged(
        anthropic([asked], [empty, use]),
        anthropic(history, index=1, error="messages: text content blocks must be non-empty"),
    )

    assert {one.layer for one in reported} == {"api"}


def test_nothing_that_came_back_is_reported_apart_from_a_client_that_left() -> None:
    assert "api-unreachable" in ids(chat([HELLO], failure=Failure("refused", "connection refused")))
    assert "api-unreachable" not in ids(chat([HELLO], failure=Failure("client_gone", "the client left")))


def test_an_answer_is_not_an_error() -> None:
    history = [HELLO, said(None, CALL), result("call_1", "x")]

    assert ids(chat(history, said("done"))) == set()
