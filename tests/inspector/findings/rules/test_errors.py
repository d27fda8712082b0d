"""Requests that the API refused, and who is to blame."""

from dataclasses import replace
from typing import Any

import pytest
from conversations import CALL, HELLO, chat, result, said, user
from judged import anthropic, context_of, ids, judged, lines, only, trip
from round_trips import CHAT, MESSAGES, sse, unanswered

from turntape.cassettes.tape.model import Failure, RoundTrip, Side
from turntape.inspector.analysis.seen import Seen
from turntape.inspector.analysis.turn import Turn
from turntape.inspector.findings.finding import Finding, Layer, Severity
from turntape.inspector.findings.memory import ThreadMemory
from turntape.inspector.findings.rules.errors import (
    SHAPE_IDS,
    error_status,
    failure_name,
    failure_place,
    invalid_request,
)
from turntape.inspector.wire.values import ApiError


def refused(status: int, message: str = "no", **error: object) -> RoundTrip:
    return chat([HELLO], status=status, error={"error": {"message": message, "type": "x", **error}})


@pytest.mark.parametrize(
    ("status", "expected", "layer", "severity"),
    [
        (500, "api-overloaded", "api", "error"),
        (503, "api-overloaded", "api", "error"),
        (529, "api-overloaded", "api", "error"),
        (429, "api-rate-limited", "api", "warning"),
        (401, "access-refused", "client", "error"),
        (404, "access-refused", "client", "error"),
        (400, "request-rejected", "client", "error"),
        (413, "request-rejected", "client", "error"),
        (422, "request-rejected", "client", "error"),
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

    [rejection] = [one for one in reported if one.id == "request-rejected"]
    assert rejection.because_of == ("client-missing-tool-result",)


BROKEN = ("call_1", "look_up", '{"word": tape}')


@pytest.mark.parametrize(
    ("sentence", "cause"),
    [
        ("messages.1.tool_calls.0.function.arguments: arguments must be a valid JSON object string", True),
        ("Unterminated string starting at: line 1 column 10 (char 9)", True),
        ("Failed to parse tool call arguments as JSON: unexpected end of input", True),
        ("The request is too odd.", False),
    ],
)
def test_arguments_that_a_rejection_names_are_the_models(sentence: str, cause: bool) -> None:
    first = said(None, BROKEN)
    error = {"error": {"message": sentence, "type": "invalid_request_error"}}
    history = [HELLO, first, result("call_1", "Error: no JSON")]

    reported = judged(chat([HELLO], first), chat(history, status=400, error=error, index=1))

    [rejected] = [one for one in reported if one.id == "request-rejected"]
    assert (rejected.layer, rejected.because_of) == (("model", ("call-args-not-json",)) if cause else ("client", ()))


def test_arguments_that_were_cut_under_another_word_are_the_apis() -> None:
    first = said(None, ("call_1", "look_up", '{"word": "ta'))
    error = {"error": {"message": "Unterminated string starting at: line 1 column 10 (char 9)", "type": "x"}}
    history = [HELLO, first, result("call_1", "Error: no JSON")]

    reported = judged(
        chat([HELLO], first, usage=(100, 16), max_tokens=16), chat(history, status=400, error=error, index=1)
    )

    [rejected] = [one for one in reported if one.id == "request-rejected"]
    assert (rejected.layer, rejected.because_of) == ("api", ("api-truncated-call-mislabelled",))


def test_a_rejection_for_arguments_that_nobody_broke_has_no_cause() -> None:
    first = said(None, CALL)
    error = {"error": {"message": "Expecting value: line 1 column 1 (char 0)", "type": "x"}}

    reported = judged(
        chat([HELLO], first), chat([HELLO, first, result("call_1", "x")], status=400, error=error, index=1)
    )

    [rejected] = [one for one in reported if one.id == "request-rejected"]
    assert (rejected.layer, rejected.because_of) == ("client", ())


AGAIN = ("call_1", "look_up", '{"word": "wire"}')


@pytest.mark.parametrize(
    ("second", "sentence", "layer"),
    [
        (AGAIN, 'Duplicate function_call_output for call_id "call_1"', "api"),
        (AGAIN, "messages.3: `tool_use` ids must be unique, duplicate call id", "api"),
        (("call_2", *AGAIN[1:]), 'Duplicate function_call_output for call_id "call_1"', "client"),
    ],
)
def test_an_id_that_the_api_gave_twice_is_its_own(second: tuple[str, str, str], sentence: str, layer: str) -> None:
    first, then = said(None, CALL), said(None, second)
    history = [HELLO, first, result("call_1", "a strip")]
    error = {"error": {"message": sentence, "type": "invalid_request_error"}}

    reported = judged(
        chat([HELLO], first),
        chat(history, then, index=1),
        chat([*history, then, result(second[0], "a thread")], status=400, error=error, index=2),
    )

    assert {one.layer for one in reported if one.severity == "error"} == {layer}


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


@pytest.mark.parametrize(
    ("side", "reported"),
    [
        ("client", "request-rejected (client, error, P): the request breaks HTTP, so it was not sent on: two lengths"),
        ("server", "api-unreachable (api, error, P): the API could not be reached: two lengths"),
    ],
)
def test_what_breaks_http_is_blamed_on_the_side_that_sent_it(side: Side, reported: str) -> None:
    broken = replace(chat([HELLO], failure=Failure("protocol", "two lengths")), closed_first=side)

    assert lines(broken) == [f"#0 {reported} | #0 protocol"]


def test_an_answer_is_not_an_error() -> None:
    history = [HELLO, said(None, CALL), result("call_1", "x")]

    assert ids(chat(history, said("done"))) == set()


FAILED = "api-overloaded", "api-rate-limited", "access-refused", "request-rejected"


@pytest.mark.parametrize(
    ("expected", "statuses"),
    [
        ("api-overloaded", (408, 424, 500, 502, 503, 504, 520, 522, 524, 529)),
        ("api-rate-limited", (429,)),
        ("access-refused", (401, 402, 403, 404, 498)),
        ("request-rejected", (400, 405, 409, 413, 415, 422)),
    ],
)
def test_every_status_of_a_class_is_in_it(expected: str, statuses: tuple[int, ...]) -> None:
    for status in statuses:
        assert ids(refused(status)) & set(FAILED) == {expected}


def test_an_error_is_reported_with_its_status_and_its_sentence() -> None:
    assert [lines(refused(status, "No such word."))[0] for status in (503, 429, 401, 400)] == (
        [
            "#0 api-overloaded (api, error, P): the API failed or was overloaded: 503 No such word. | #0 status 503",
            "#0 api-rate-limited (api, warning, P): too many requests: 429 No such word. | #0 status 429",
            ("#0 access-refused (client, error, P): the API did not accept the key: 401 No such word. | #0 status 401"),
            ("#0 request-rejected (client, error, P): the API rejected the request: 400 No such word. | #0 status 400"),
        ]
    )


def streamed(message: str, code: object = None) -> RoundTrip:
    begun = {"id": "c", "model": "gpt-5", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "A"}}]}
    asked = {"model": "gpt-5", "messages": [HELLO], "stream": True}
    return trip(CHAT, asked, sse(begun, {"error": {"message": message, "type": "x", "code": code}}))


def test_an_error_inside_a_stream_has_the_status_that_it_names_and_not_the_responses() -> None:
    assert lines(streamed("Overloaded"), only="api-overloaded") == [
        (
            "#0 api-overloaded (api, error, P): the API failed or was overloaded: x: Overloaded | #0 response | "
            "because of api-error-in-200-stream"
        ),
    ]
    assert lines(streamed("Overloaded", 503), only="api-overloaded") == [
        (
            "#0 api-overloaded (api, error, P): the API failed or was overloaded: 503 Overloaded | #0 status 503 | "
            "because of api-error-in-200-stream"
        ),
    ]
    assert "api-overloaded" in ids(streamed("The model is throttled"))
    assert "api-overloaded" in ids(streamed("Service unavailable"))
    assert "api-overloaded" not in ids(streamed("No such word"))
    assert "api-overloaded" not in ids(refused(400, "Overloaded: too many words"))
    assert error_status(context_of(streamed("Overloaded"))) is None
    assert error_status(context_of(streamed("Overloaded", 503))) == 503
    assert error_status(context_of(refused(400))) == 400
    assert error_status(context_of(chat([HELLO], said("x")))) is None


def anthropic_stream(kind: str) -> RoundTrip:
    error = {"type": "error", "error": {"type": kind, "message": "No."}}
    asked = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [HELLO], "stream": True}
    return trip(MESSAGES, asked, sse(error, names=True))


def test_a_status_that_an_error_word_only_means_is_not_quoted() -> None:
    """The rules go by what the word means, but no status was on the wire."""
    assert lines(anthropic_stream("overloaded_error"), only="api-overloaded") == [
        (
            "#0 api-overloaded (api, error, P): the API failed or was overloaded: overloaded_error: No. "
            "| #0 response | because of api-error-in-200-stream"
        ),
    ]
    assert lines(anthropic_stream("rate_limit_error"), only="api-rate") == [
        "#0 api-rate-limited (api, warning, P): too many requests: rate_limit_error: No. | #0 response"
    ]
    assert lines(anthropic_stream("authentication_error"), only="access-refused") == [
        "#0 access-refused (client, error, P): the API did not accept the key: authentication_error: No. | #0 response"
    ]
    assert lines(anthropic_stream("overloaded_error"), only="client-no-retry") == [
        (
            "#0 client-no-retry-on-transient (client, info, S): the client did not retry after the error "
            "'overloaded_error' | #0 response"
        )
    ]


def test_a_failure_without_status_and_word_still_has_a_name() -> None:
    named = context_of(streamed("Overloaded")).turn
    error = named.reading.error
    assert error is not None

    def with_error(changed: ApiError | None) -> Turn:
        reading = replace(named.reading, error=changed)
        return replace(named, seen=Seen(named.round_trip, reading, named.conversation))

    coded, nameless = (
        with_error(replace(error, type=None, code="busy")),
        with_error(replace(error, type=None, code=None)),
    )
    assert failure_name(named) == "the error 'x'"
    assert failure_name(coded) == "the error 'busy'"
    for turn in (nameless, with_error(None)):
        assert (failure_name(turn), failure_place(turn)) == ("an error in the answer", "#0 response")


def test_a_connection_that_was_dropped_was_reached() -> None:
    dropped = chat([HELLO], failure=Failure("cut", "Server disconnected"))

    assert lines(dropped, only="api-unreachable") == [
        "#0 api-unreachable (api, error, P): the connection ended without an answer: Server disconnected | #0 cut"
    ]


LIMITED = {"error": {"message": "slow down", "type": "requests"}}


def attempts(count: int, status: int = 429, **error: Any) -> list[RoundTrip]:
    body = {"error": {**LIMITED["error"], **error}}
    return [chat([HELLO], status=status, error=body, index=n) for n in range(count)]


def causes_of(*trips: RoundTrip) -> list[tuple[str, ...]]:
    return [one.because_of for one in judged(*trips) if one.id == "api-rate-limited"]


def test_a_storm_is_the_cause_of_its_rate_limits_from_the_first_on() -> None:
    assert causes_of(*attempts(3)) == [()] * 3
    assert causes_of(*attempts(4)) == [("client-retry-storm",)] * 4
    assert causes_of(*attempts(6)) == [("client-retry-storm",)] * 6


def test_a_limit_after_a_storm_that_ended_has_no_cause() -> None:
    answered = [*attempts(4), chat([HELLO], said("x"), index=4)]
    later = chat([HELLO, said("x"), user("and?")], status=429, error=LIMITED, index=5)

    assert causes_of(*answered, later) == [("client-retry-storm",)] * 4 + [()]


def test_a_quota_that_is_used_up_is_not_the_storms() -> None:
    spent = attempts(5, code="insufficient_quota")

    assert causes_of(*spent) == [()] * 5
    assert {one.severity for one in judged(*spent) if one.id == "api-rate-limited"} == {"error"}


def test_a_storm_of_other_failures_is_not_their_cause() -> None:
    assert all(one.because_of == () for one in judged(*attempts(5, status=503)) if one.id == "api-overloaded")


@pytest.mark.parametrize("grows", [False, True])
def test_the_same_rejection_keeps_its_cause_and_its_layer(grows: bool) -> None:
    """Anthropic's text counts the messages, so its number grows with the history."""
    full = "This model's maximum context length is 10 tokens. However, your messages have {} tokens."
    trips = [
        chat([HELLO, *[user("go on")] * (n * grows)], status=400, index=n,
             error={"error": {"message": full.format(20 + n), "type": "x", "code": "context_length_exceeded"}})
        for n in range(5)
    ]  # fmt: skip

    rejected = [one for one in judged(*trips) if one.id == "request-rejected"]

    assert [(one.layer, one.because_of) for one in rejected] == [("api", ("api-context-full",))] * 5


def test_another_rejection_has_a_cause_of_its_own() -> None:
    full = {"error": {"message": "maximum context length", "type": "x"}}
    other = {"error": {"message": "Something else", "type": "x"}}
    trips = [chat([HELLO], status=400, index=n, error=error) for n, error in enumerate((full, full, full, other))]

    assert [one.because_of for one in judged(*trips) if one.id == "request-rejected"][2:] == [("api-context-full",), ()]


def test_a_cause_is_known_after_an_answer_too() -> None:
    """A cause that is reported once per thread is not found again."""
    full = {"error": {"message": "maximum context length", "type": "x"}}
    history = [HELLO, said("x"), user("and?")]
    trips = [
        chat([HELLO], status=400, error=full, index=0),
        chat([HELLO], said("x"), index=1),
        chat(history, status=400, error=full, index=2),
        chat(history, status=400, error=full, index=3),
    ]

    rejected = [one for one in judged(*trips) if one.id == "request-rejected"]

    assert [(one.layer, one.because_of) for one in rejected] == [("api", ("api-context-full",))] * 3


@pytest.mark.parametrize(
    "words",
    ["insufficient_quota", "Spend_limit reached", "see your billing page", "Your credit balance is low", "ramp_limit",
     "You exceeded your current quota"],
)  # fmt: skip
def test_a_limit_of_the_account_is_an_error_that_waiting_does_not_end(words: str) -> None:
    [line] = lines(refused(429, words), only="api-rate")

    assert line.startswith("#0 api-rate-limited (api, error, P): the quota or the spending limit is used up")
    assert lines(refused(429, "no", code=words), only="api-rate")[0].startswith("#0 api-rate-limited (api, error")


def limited(*headers: tuple[str, str]) -> list[str]:
    one = refused(429)
    assert one.response is not None
    response = replace(one.response, headers=(*one.response.headers, *headers))
    return lines(replace(one, response=response), only="api-rate")


def test_a_rate_limit_names_what_is_used_up_and_how_long_to_wait() -> None:
    assert limited() == [
        "#0 api-rate-limited (api, warning, P): too many requests: 429 no | #0 status 429",
    ]
    assert limited(("retry-after", "20"), ("X-RateLimit-Remaining-Tokens", "0")) == [
        (
            "#0 api-rate-limited (api, warning, P): too many requests; retry after 20 s; "
            "X-RateLimit-Remaining-Tokens is 0: 429 no | #0 status 429"
        ),
    ]
    assert limited(("anthropic-ratelimit-tokens-remaining", "0")) == [
        (
            "#0 api-rate-limited (api, warning, P): too many requests; anthropic-ratelimit-tokens-remaining is "
            "0: 429 no | #0 status 429"
        ),
    ]
    assert limited(("x-ratelimit-remaining-tokens", "5"), ("age", "0")) == limited()


def test_an_error_that_names_a_fault_of_the_request_is_neither_an_overload_nor_a_matter_of_access() -> None:
    too_long = "This model's maximum context length is 131072 tokens."

    assert "api-overloaded" not in ids(refused(500, too_long))
    assert "access-refused" not in ids(refused(403, too_long))


def test_what_turntape_answered_is_not_the_apis() -> None:
    for status in (404, 400, 503):
        missed = refused(status, "no recording", type="turntape_replay_miss")
        assert ids(missed) & set(FAILED) == set()


def explained(
    *found: Finding, recent: tuple[Finding, ...] = (), message: str = "no"
) -> tuple[tuple[str, ...], str | None]:
    """What a rejection is because of, and whose it is then."""
    context = context_of(refused(400, message), found=list(found), thread=ThreadMemory(recent=list(recent)))
    [note] = invalid_request.check(context)
    return note.because_of, note.layer


def finding(name: str, severity: Severity = "error", layer: Layer = "client") -> Finding:
    return Finding(name, layer, severity, "P", "It is so.", ("#0 request",))


EXPLAINS = (
    "client-missing-tool-result client-orphan-tool-result client-duplicate-tool-result client-duplicated-call "
    "client-results-not-adjacent client-reasoning-dropped client-reasoning-altered client-role-order "
    "client-empty-content client-tools-missing-for-history client-bad-tool-schema client-unsupported-param "
    "client-stale-server-state client-args-wrong-type client-media-unsupported client-tools-changed "
    "client-call-id-rewritten client-id-missing client-pause-not-resumed client-assistant-mutated "
    "client-stored-failed-turn "
    "client-history-truncated api-duplicate-tool-call-id api-context-full api-content-filter "
    "api-prompt-truncated-silently client-poisoned-history"
)


@pytest.mark.parametrize("name", EXPLAINS.split())
def test_a_finding_that_explains_a_rejection_is_its_cause(name: str) -> None:
    assert explained(finding(name)) == ((name,), "client")
    assert explained(recent=(finding(name, layer="api"),)) == ((name,), "api")
    assert explained(finding(name, "info")) == ((), None), "too mild to be the cause"


def test_a_mild_finding_that_the_api_itself_names_is_the_cause() -> None:
    named = (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
    )

    assert explained(finding("client-missing-tool-result", "info"), message=named)[0] == ("client-missing-tool-result",)


def test_other_findings_explain_no_rejection() -> None:
    assert explained(finding("client-no-cache-control")) == ((), None)
    assert set(EXPLAINS.split()) == set(SHAPE_IDS)


def test_an_api_that_cannot_be_reached_is_reported_with_the_cause() -> None:
    asked = {"model": "gpt-5", "messages": [HELLO]}

    assert lines(unanswered(CHAT, asked, "refused"), only="api-unreachable") == [
        "#0 api-unreachable (api, error, P): the API could not be reached: refused! | #0 refused",
    ]
    assert lines(unanswered(CHAT, asked, "timeout"), only="api-unreachable") != []
    assert lines(unanswered(CHAT, asked, "client_gone"), only="api-unreachable") == []
    cut = replace(chat([HELLO], said("x")), failure=Failure("cut", "connection reset"))
    assert lines(cut, only="api-unreachable") == []


@pytest.mark.parametrize("status", [400, 401, 403])
@pytest.mark.parametrize("text", ["Incorrect API key provided: sk-x", "API key not valid.", "invalid api key"])
def test_a_wrong_key_is_known_by_the_text_whatever_the_status(status: int, text: str) -> None:
    reported = judged(refused(status, text))

    assert [one.id for one in reported] == ["access-refused"]
    assert "did not accept the key:" in reported[0].message


def test_a_400_that_speaks_of_something_else_is_a_rejection() -> None:
    assert "request-rejected" in ids(refused(400, "the field key is not known"))


PAGE = b"<!doctype html><h1>Not Found</h1>"


@pytest.mark.parametrize(
    ("one", "address"),
    [
        (refused(404, "Invalid URL (POST /v1/v1/chat/completions)"), True),
        (refused(404, "The model 'x' does not exist"), False),
        (trip(CHAT, {"model": "x", "messages": [HELLO]}, PAGE, status=404), True),
    ],
)
def test_a_404_of_no_api_is_a_wrong_base_url(one: RoundTrip, address: bool) -> None:
    assert ("wrong base URL" in only("access-refused", one).message) is address


TPM = "Request too large for model x on tokens per minute (TPM): Limit 6000, Requested 9000"


@pytest.mark.parametrize("status", [400, 413, 429])
def test_a_limit_of_tokens_per_minute_is_not_a_full_window(status: int) -> None:
    assert {one.id for one in judged(refused(status, TPM)) if one.severity != "info"} == {"api-rate-limited"}


@pytest.mark.parametrize(
    "text",
    [
        "Input Tokens Exceeded: 300000",
        "exceeded max context length of 8192",
        "too_many_prompt_tokens",
        "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
        "too many total text bytes: 9000000",
        "Request too large for the model",
    ],
)
def test_each_sentence_of_a_full_window_is_known(text: str) -> None:
    assert "api-context-full" in ids(refused(400, text))


@pytest.mark.parametrize(
    ("more", "severity"), [("", "error"), ("PerMinutePerProject", "warning"), ("PerDay retryDelay", "error")]
)
def test_a_quota_of_a_minute_can_be_waited_out(more: str, severity: str) -> None:
    detail = [{"quotaId": f"GenerateRequests{more}"}]
    quota = refused(429, "You exceeded your current quota.", details=detail)

    assert only("api-rate-limited", quota).severity == severity


def test_a_quota_with_a_delay_can_be_waited_out() -> None:
    quota = refused(429, "You exceeded your current quota.", details=[{"retryDelay": "17s"}])

    assert only("api-rate-limited", quota).severity == "warning"


NAMED = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."


@pytest.mark.parametrize("status", [400, 405, 409, 413, 415, 422])
def test_a_rejection_that_names_a_fault_is_reported_beside_it(status: int) -> None:
    assert {"request-rejected", "client-orphan-tool-result"} <= ids(refused(status, NAMED))


@pytest.mark.parametrize("status", [403, 404, 500])
def test_under_other_statuses_the_named_fault_is_enough(status: int) -> None:
    assert ids(refused(status, NAMED)) & set(FAILED) == set()


def test_a_rate_that_a_rejection_names_is_a_limit_and_nothing_else() -> None:
    reported = ids(refused(413, "Rate limit exceeded. Please reduce the length of the messages."))

    assert reported & set(FAILED) == {"api-rate-limited"}


@pytest.mark.parametrize("status", [408, 424, 500, 502, 503, 504, 520, 522, 524, 529])
def test_a_failure_that_may_pass_wants_a_retry(status: int) -> None:
    assert "client-no-retry-on-transient" in ids(refused(status))


@pytest.mark.parametrize(
    ("status", "message", "what"),
    [
        (401, "no", "the key"),
        (402, "no", "the account, whose credit or quota is used up"),
        (403, "Access denied", "the account or its permissions"),
        (403, "no", "the key, the account or the model"),
        (400, "User location is not supported", "the region that the request came from"),
        (404, "The model `x` does not exist", "the model"),
        (404, "Not Found", "the address, which looks like a wrong base URL"),
    ],
)
def test_what_was_not_accepted_is_named(status: int, message: str, what: str) -> None:
    assert only("access-refused", refused(status, message)).message == (
        f"the API did not accept {what}: {status} {message}"
    )


@pytest.mark.parametrize(
    ("message", "what", "severity"),
    [
        ("no", "too many requests", "warning"),
        ("Limit 10 per minute, requested 20", "the request alone is larger than the limit", "error"),
        ("10 per day", "the limit of hours, days or a month is used up", "error"),
        ("Your credits are gone", "the quota or the spending limit is used up", "error"),
    ],
)
def test_each_kind_of_limit_has_its_words_and_its_severity(message: str, what: str, severity: str) -> None:
    one = only("api-rate-limited", refused(429, message))

    assert one.message.startswith(what)
    assert one.severity == severity


def test_a_whole_call_in_the_history_does_not_make_a_parser_error_the_clients() -> None:
    history = [HELLO, said(None, CALL), result("call_1", "x")]
    error = {"error": {"message": "Failed to parse tool call arguments as JSON: missing closing quote"}}

    reported = ids(chat(history, status=500, error=error))
    assert "malformed-output" in reported
    assert not reported & set(FAILED)


STREAM_OF_OTHERS = "Unsupported parameter: 'stream'. You lack the permission."


def test_a_rejection_that_names_a_field_is_one_even_if_it_speaks_of_permissions() -> None:
    """Under the statuses of a rejection; under others the named fault is enough."""
    found = {
        status: ids(refused(status, STREAM_OF_OTHERS)) & set(FAILED)
        for status in (*range(400, 429), *range(430, 432), 451, 499)
    }

    rejected = {"request-rejected"}
    assert {status for status, names in found.items() if names == rejected} == {400, 405, 409, 413, 415, 422}
    assert all(names in (rejected, set()) for status, names in found.items() if status not in (408, 424))


def test_the_evidence_of_a_wrong_address_is_its_path() -> None:
    assert lines(refused(404, "Not Found"), only="access-refused") == [
        "#0 access-refused (client, error, P): the API did not accept the address, which looks like a wrong base URL: "
        "404 Not Found | #0 status 404, #0 request /v1/chat/completions"
    ]
    assert lines(refused(404, "The model `x` does not exist"), only="access-refused") == [
        "#0 access-refused (client, error, P): the API did not accept the model: 404 The model `x` does not exist | "
        "#0 status 404"
    ]


def redirected(status: int = 301, place: str | None = "https://api.openai.com/v1/chat/completions") -> list[str]:
    headers = (("location", place),) if place else ()
    asked = {"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}]}
    return lines(trip(CHAT, asked, b"<html></html>", status=status, headers=headers))


def test_a_redirect_is_a_wrong_base_url() -> None:
    assert redirected() == [
        "#0 access-refused (client, error, P): the API did not accept the address, which looks like a wrong base URL: "
        "301 the address redirects to https://api.openai.com/v1/chat/completions | #0 status 301, "
        "#0 request /v1/chat/completions"
    ]
    assert "308 HTTP 308" in redirected(308, None)[0]
    assert "access-refused" not in " ".join(redirected(299))


def test_a_redirect_that_the_client_followed_is_made_good() -> None:
    asked = {"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}]}
    message = {"role": "assistant", "content": "Hello."}
    answer = {"id": "c", "model": "gpt-5", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    first = trip("http://localhost/v1/chat/completions", asked, b"", status=308, headers=(("location", CHAT),))

    [line] = lines(first, trip(CHAT, asked, answer, 1), only="access-refused")
    assert line.startswith("#0 access-refused (client, info, P)")


PARSING = "[json.exception.type_error.302] type must be string, but is null"


def test_a_server_that_fails_while_it_reads_a_request_without_ids_does_not_blame_itself() -> None:
    first = chat([HELLO], said(None, CALL))
    lost = {**said(None, CALL), "tool_calls": [{**said(None, CALL)["tool_calls"][0], "id": None}]}
    history = [HELLO, lost, {**result(CALL[0], "a strip"), "tool_call_id": None}]

    def roots(messages: list[Any], text: str) -> set[str]:
        second = chat(messages, status=500, error={"error": {"message": text, "type": "server_error"}}, index=1)
        return {one.layer for one in judged(first, second) if one.severity == "error" and not one.because_of}

    assert "api" not in roots(history, PARSING)
    assert "request-rejected" in ids(first, chat(history, status=500, error={"error": {"message": PARSING}}, index=1))
    assert roots(history, "Internal error") == {"api"}
    assert roots([HELLO, said(None, CALL), result(CALL[0], "a strip")], PARSING) == {"api"}


def test_a_template_that_finds_no_question_blames_who_lost_it() -> None:
    """Chat templates want a text of the user: the server may have dropped it, or the client did not send it."""
    said_no = "chat prompt error: no user query found in messages"
    first = said(None, CALL)
    history = [first, result("call_1", "a strip")]

    lost = judged(chat([HELLO], first), chat(history, index=1, status=500, error={"error": {"message": said_no}}))
    [rejected] = [one for one in lost if one.id == "request-rejected"]
    assert (rejected.layer, rejected.because_of) == ("client", ("client-user-text-lost",))

    sent_it = chat([HELLO, *history], index=1, status=500, error={"error": {"message": said_no}})
    [dropped] = [one for one in judged(chat([HELLO], first), sent_it) if one.severity == "error"]
    assert (dropped.id, dropped.layer) == ("api-prompt-truncated-silently", "api")


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
        (500, "tools param requires --jinja flag"),
        (501, "This server does not support embeddings. Start it with `--embeddings`"),
        (400, "Reasoning needs a parser: launch the server with --reasoning-parser"),
        (
            400,
            "As of transformers v4.44, default chat template is no longer allowed, so you must provide a chat template "
            "if the tokenizer does not define one.",
        ),
        (400, "Cannot use chat template functions because tokenizer.chat_template is not set"),
    ],
)
def test_a_server_that_was_started_without_a_setting_is_to_blame(status: int, message: str) -> None:
    found = [one for one in lines(refused(status, message)) if "info" not in one]

    assert len(found) == 1
    assert found[0].startswith(
        f"#0 request-rejected (api, error, P): the server lacks a setting that the request needs: {status} "
    )


@pytest.mark.parametrize(
    "message",
    [
        "registry.ollama.ai/library/gemma:2b does not support tools",
        "Unknown option: --model is an argument of the command line",
        "Conversation roles must alternate user/assistant/user/assistant/...",
    ],
)
def test_a_sentence_about_the_request_or_the_model_blames_no_setting(message: str) -> None:
    assert only("request-rejected", refused(400, message)).layer == "client"
