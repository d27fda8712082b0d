"""What the client did about failures."""

from dataclasses import replace
from typing import Any

import pytest
from conversations import CALL, HELLO, chat, result, said, user
from judged import again, anthropic, ids, judged, only, trip, words

from turntape.cassettes.tape.model import RoundTrip

OVERLOADED = {"error": {"message": "overloaded", "type": "server_error"}}


def failing(status: int, at: float, index: int, *headers: tuple[str, str], **fields: Any) -> RoundTrip:
    one = chat([HELLO], status=status, error=OVERLOADED, index=index, at=at, **fields)
    assert one.response is not None
    return replace(one, response=replace(one.response, headers=(*one.response.headers, *headers)))


@pytest.mark.parametrize(("attempts", "severity"), [(3, None), (4, "warning"), (10, "error")])
def test_a_storm_is_many_attempts_of_one_body(attempts: int, severity: str | None) -> None:
    reported = judged(*(failing(503, n, n) for n in range(attempts)))

    assert [one.severity for one in reported if one.id == "client-retry-storm"][-1:] == ([severity] if severity else [])


@pytest.mark.parametrize(("status", "permanent"), [(400, True), (401, True), (404, True), (422, True), (503, False)])
def test_what_cannot_succeed_must_not_be_sent_again(status: int, permanent: bool) -> None:
    assert ("client-retried-permanent-error" in ids(failing(status, 0, 0), failing(status, 5, 1))) is permanent


def test_what_was_fixed_may_be_sent_again() -> None:
    trips = failing(400, 0, 0), chat([HELLO], said("x"), index=1, temperature=0)

    assert "client-retried-permanent-error" not in ids(*trips)


@pytest.mark.parametrize(
    ("header", "gap", "early"),
    [
        (("retry-after", "20"), 2, True),
        (("retry-after", "20"), 21, False),
        (("retry-after", "20"), 19, False),
        (("retry-after-ms", "4000"), 1, True),
        (("retry-after-ms", "400"), 1, False),
        (("x-should-retry", "false"), 60, True),
    ],
)
def test_the_wait_that_the_api_asks_for_is_kept_within_a_tenth(
    header: tuple[str, str], gap: float, early: bool
) -> None:
    reported = ids(failing(429, 0, 0, header), failing(429, gap + 0.25, 1))

    assert ("client-ignored-retry-after" in reported) is early


def test_the_wait_may_be_in_the_body() -> None:
    delay = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "20s"}]
    error = {"error": {"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED", "details": delay}}
    url = "https://generativelanguage.googleapis.com/v1beta/models/gemini-3:generateContent"
    asked = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    trips = [trip(url, asked, error, n, n * 2.0, status=429) for n in range(2)]

    assert "client-ignored-retry-after" in ids(*trips)


def test_a_failure_that_passes_wants_another_attempt() -> None:
    assert only("client-no-retry-on-transient", failing(503, 0, 0)).severity == "info"
    assert "client-no-retry-on-transient" not in ids(failing(503, 0, 0), chat([HELLO], said("x"), index=1))
    assert "client-no-retry-on-transient" not in ids(failing(401, 0, 0))


def twins(apart: float, **fields: Any) -> list[RoundTrip]:
    return [chat([HELLO], said("x"), at=0, **fields), chat([HELLO], said("y"), index=1, at=apart, **fields)]


@pytest.mark.parametrize(
    ("apart", "fields", "doubled"),
    [
        (0.01, {}, True),
        (1.0, {}, True),
        (60.0, {}, False),
        (0.01, {"temperature": 0.9}, False),
        (0.01, {"temperature": 0}, True),
        (0.01, {"model": "gpt-5", "options": {"temperature": 0.9}}, False),
    ],
)
def test_one_request_sent_twice_at_once_is_paid_twice(apart: float, fields: dict[str, Any], doubled: bool) -> None:
    assert ("client-duplicate-request" in ids(*twins(apart, **fields))) is doubled


def test_a_second_attempt_after_an_answer_that_could_not_be_used_is_none() -> None:
    filtered = chat([HELLO], said("x"), finish="content_filter", at=0)
    following = chat([HELLO], said("y"), index=1, at=0.5)

    reported = ids(filtered, following)

    assert "client-duplicate-request" not in reported
    assert "client-refusal-retried" in reported


FIRST = said(None, CALL)
MISSING = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."


def rejected(*more: dict[str, Any], index: int) -> RoundTrip:
    error = {"error": {"message": MISSING, "type": "invalid_request_error", "param": "messages.[1].role"}}
    return chat([HELLO, FIRST, *more], status=400, error=error, index=index)


def test_a_history_that_is_rejected_for_the_same_piece_again_cannot_recover() -> None:
    trips = [chat([HELLO], FIRST), rejected(user("go on"), index=1), rejected(user("go on"), user("again"), index=2)]

    one = only("client-poisoned-history", *trips)

    assert (one.at, one.because_of) == (2, ("client-missing-tool-result",))


def test_a_history_that_was_fixed_is_not_poisoned() -> None:
    fixed = chat([HELLO, FIRST, result("call_1", "x"), user("go on")], said("x"), index=2)

    assert "client-poisoned-history" not in ids(chat([HELLO], FIRST), rejected(user("go on"), index=1), fixed)


def test_a_refused_request_must_change() -> None:
    asked = {"role": "user", "content": "hi"}
    refused = anthropic([asked], [], stop="refusal")
    changed = anthropic([{"role": "user", "content": "hello"}], [words("x")])

    assert "client-refusal-retried" in ids(*again([refused, refused]))
    assert "client-refusal-retried" not in ids(*again([refused, changed]))
