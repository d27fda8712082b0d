"""What the client did about failures."""

from dataclasses import replace
from typing import Any

import orjson
import pytest
from conversations import CALL, HELLO, chat, result, said, user
from dialogues import APIS, asks, run, says
from dialogues import calls as looks_up
from dialogues import gives as finds
from judged import again, anthropic, asked, context_of, ids, judged, lines, only, trip, words
from round_trips import CHAT, sse

from turntape.cassettes.tape.model import Failure, RoundTrip
from turntape.inspector.findings.rules.retries import retry_after

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


@pytest.mark.parametrize(
    ("fields", "words", "place"),
    [
        ({"failure": Failure("cut", "Server disconnected")}, "the connection was dropped", "#0 cut"),
        ({"failure": Failure("timeout", "no answer")}, "the API did not answer in time", "#0 timeout"),
    ],
)
def test_a_client_that_gives_up_after_a_dropped_connection_is_reported(
    fields: dict[str, Any], words: str, place: str
) -> None:
    dropped = replace(chat([HELLO]), **fields)

    assert lines(dropped, only="client-no-retry") == [
        f"#0 client-no-retry-on-transient (client, info, S): the client did not retry after {words} | {place}"
    ]
    assert lines(dropped, chat([HELLO], said("x"), index=1), only="client-no-retry") == []
    assert lines(replace(dropped, closed_first="client"), only="client-no-retry") == []


@pytest.mark.parametrize("kind", ["refused", "dns", "tls", "client_gone", "protocol", "internal"])
def test_a_failure_that_would_come_again_wants_no_retry(kind: Any) -> None:
    assert lines(chat([HELLO], failure=Failure(kind, "no")), only="client-no-retry") == []


def test_a_recording_without_an_answer_and_a_reason_was_not_dropped() -> None:
    assert lines(chat([HELLO]), only="client-no-retry") == []


def test_a_stream_that_was_cut_by_the_server_wants_another_attempt() -> None:
    piece = {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "It"}}]}
    cut = trip(CHAT, {"model": "gpt-5", "messages": [HELLO], "stream": True}, sse(piece))

    assert lines(cut, only="client-no-retry") == [], "nobody knows who ended this recording"
    assert (
        "the connection was dropped"
        in only("client-no-retry-on-transient", replace(cut, closed_first="server")).message
    )
    assert lines(replace(cut, failure=Failure("cut", "x")), only="client-no-retry") != []
    assert lines(replace(cut, failure=Failure("cut", "x"), closed_first="client"), only="client-no-retry") == []
    whole = trip(CHAT, {"model": "gpt-5", "messages": [HELLO]}, {"choices": [{"finish_reason": "stop", "index": 0,
                 "message": {"role": "assistant", "content": "x"}}]}, failure=Failure("cut", "x"))  # fmt: skip
    assert lines(whole, only="client-no-retry") == []


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


def test_a_storm_is_reported_at_the_fourth_and_at_the_tenth_attempt() -> None:
    assert lines(*(failing(503, n, n) for n in range(12)), only="client-retry-storm") == [
        (
            "#3 client-retry-storm (client, warning, P): the same failing request was sent 4 times; the last "
            "attempt before this one failed with status 503 | #0 status, #1 status, #2 status, #3 status"
        ),
        (
            "#9 client-retry-storm (client, error, P): the same failing request was sent 10 times; the last "
            "attempt before this one failed with status 503 | #4 status, "
            "#5 status, #6 status, #7 status, #8 status, #9 status"
        ),
    ]
    changing = [failing(503, n, n, temperature=n) for n in range(5)]
    assert lines(*changing, only="client-retry-storm") == []


def test_a_storm_names_the_count_that_the_sdk_sent() -> None:
    def counted(one: RoundTrip, count: int) -> RoundTrip:
        headers = (*one.request.headers, ("x-stainless-retry-count", str(count)))
        return replace(one, request=replace(one.request, headers=headers))

    [line] = lines(*(counted(failing(503, n, n), n) for n in range(4)), only="client-retry-storm")
    assert "was sent 4 times (the SDK counts this one as retry 3); the last attempt" in line


@pytest.mark.parametrize(
    ("status", "permanent"),
    [(400, True), (401, True), (403, True), (404, True), (405, True), (413, True), (422, True), (408, False),
     (409, False), (429, False), (500, False)],
)  # fmt: skip
def test_a_status_is_permanent_or_passes(status: int, permanent: bool) -> None:
    assert ("client-retried-permanent-error" in ids(failing(status, 0, 0), failing(status, 5, 1))) is permanent


def test_a_permanent_error_that_is_tried_again_is_reported_once_for_each_body() -> None:
    trips = [failing(400, n, n) for n in range(3)]

    assert lines(*trips, only="client-retried-permanent") == [
        (
            "#1 client-retried-permanent-error (client, warning, P): the request was sent again unchanged "
            "after status 400 | #0 status 400, #1 request"
        ),
    ]
    changed = [failing(400, 0, 0), failing(400, 5, 1, temperature=0)]
    assert lines(*changed, only="client-retried-permanent") == []
    others = [failing(400, n, n, temperature=n // 2) for n in range(4)]
    assert len(lines(*others, only="client-retried-permanent")) == 2


def test_a_status_inside_a_stream_counts() -> None:
    def inside(index: int) -> RoundTrip:
        error = {"error": {"message": "no", "type": "invalid_request_error", "code": 400}}
        asked = {"model": "gpt-5", "messages": [HELLO], "stream": True}
        return trip(CHAT, asked, sse(error), index)

    assert "client-retried-permanent-error" in ids(inside(0), inside(1))


def waits(*headers: tuple[str, str], body: object = None) -> float | None:
    one = chat([HELLO], status=429, error=OVERLOADED if body is None else {}, index=0)
    assert one.response is not None
    content = one.response.body if body is None else orjson.dumps(body)
    response = replace(one.response, headers=(*one.response.headers, *headers), content=content, chunks=())
    return retry_after(context_of(replace(one, response=response)).turn)


def test_how_long_to_wait_is_in_a_header_or_in_the_body() -> None:
    delay = {"error": {"details": [{"@type": "x"}, {"retryDelay": "2.5s"}]}}

    assert waits() is None
    assert waits(("retry-after", "20")) == 20
    assert waits(("retry-after-ms", "400")) == 0.4
    assert waits(("retry-after-ms", "400"), ("retry-after", "20")) == 0.4
    assert waits(("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT")) is None
    assert waits(body=delay) == 2.5
    assert waits(body=[delay]) == 2.5
    assert waits(body={"error": {"details": [{"retryDelay": "soon, in days"}]}}) is None
    assert waits(body={"error": {"details": [{"retryDelay": "25"}]}}) is None
    assert retry_after(context_of(chat([HELLO], failure=Failure("refused", "no"))).turn) is None


def early(gap: float, *headers: tuple[str, str], **second: Any) -> list[str]:
    return lines(failing(429, 0, 0, *headers), failing(429, gap + 0.25, 1, **second), only="client-ignored")


def test_coming_back_too_early_is_reported_in_seconds() -> None:
    assert early(2, ("retry-after", "20")) == [
        (
            "#1 client-ignored-retry-after (client, warning, P): the client retried after 2.0 s; the API "
            "asked it to wait 20 s | #0 response header retry-after 20, #1 request"
        ),
    ]
    assert early(17.99, ("retry-after", "20")) != []
    assert early(18.01, ("retry-after", "20")) == []
    assert early(0, ("retry-after-ms", "40")) == [], "less than a twentieth of a second is no matter"
    assert early(0.01, ("retry-after-ms", "100")) != []
    assert early(2, ("x-should-retry", "false")) == [
        (
            "#1 client-ignored-retry-after (client, warning, P): the request was sent again although the API "
            "said not to retry | #0 response header x-should-retry false, #1 request"
        ),
    ]
    assert early(2, ("x-should-retry", "true")) == []
    assert early(2, ("x-should-retry", "false"), temperature=0) == []


def test_a_wait_counts_from_the_end_of_the_answer() -> None:
    first = replace(failing(429, 0, 0, ("retry-after", "2")), ended_at=5_000_000)
    unfinished = replace(first, ended_at=None, first_byte_at=5_000_000)

    for one in (first, unfinished):
        assert "client-ignored-retry-after" in ids(one, failing(429, 6.5, 1))
        assert "client-ignored-retry-after" not in ids(one, failing(429, 7.5, 1))


def test_a_failure_that_nobody_tried_again_is_reported_with_its_status() -> None:
    assert lines(failing(503, 0, 0), only="client-no-retry") == [
        (
            "#0 client-no-retry-on-transient (client, info, S): the client did not retry after status 503 "
            "| #0 status 503"
        ),
    ]
    assert lines(failing(429, 0, 0), only="client-no-retry") != []
    assert lines(failing(503, 0, 0), failing(503, 5, 1), only="client-no-retry") == []
    too_long = {"error": {"message": "This model's maximum context length is 131072 tokens.", "type": "x"}}
    assert lines(chat([HELLO], status=500, error=too_long), only="client-no-retry") == []


def test_a_request_that_was_paid_twice_is_reported_with_both_numbers() -> None:
    assert lines(*twins(0.5, temperature=0), only="client-duplicate-request") == [
        (
            "#1 client-duplicate-request (client, info, P): the request is the same as in #0, byte for byte, and "
            "both were answered | #0 request, #1 request"
        ),
    ]
    assert lines(*twins(2.25), only="client-duplicate-request") != []
    assert lines(*twins(2.26), only="client-duplicate-request") == []
    for holder in ("generationConfig", "inferenceConfig", "options"):
        warm: dict[str, Any] = {holder: {"temperature": 0.5}}
        cold: dict[str, Any] = {holder: {"temperature": 0}}
        assert lines(*twins(0.5, **warm), only="client-duplicate-request") == []
        assert lines(*twins(0.5, **cold), only="client-duplicate-request") != []


def test_a_round_trip_that_the_recording_holds_twice_was_paid_once() -> None:
    call = [{"type": "tool_use", "id": "t1", "name": "look_up", "input": {"word": "tape"}}]
    one = anthropic([asked("hi")], call)

    def severity(other: RoundTrip) -> str:
        return only("client-duplicate-request", one, other).severity

    assert severity(replace(one, index=1)) == "info"
    assert severity(replace(one, index=1, started_at=one.started_at + 0.5)) == "warning"
    assert severity(anthropic([asked("hi")], call, 1, at=0)) == "warning", "another answer"


def test_a_twin_is_only_a_request_whose_answer_was_whole_and_counted() -> None:
    def pair(first: dict[str, Any], second: dict[str, Any]) -> list[str]:
        fields: list[dict[str, Any]] = [{"answer": said("x")} | first, {"answer": said("y")} | second]
        one, two = (chat([HELLO], index=n, at=n / 2, **more) for n, more in enumerate(fields))
        return lines(one, two, only="client-duplicate-r")

    assert pair({}, {}) != []
    assert pair({"answer": FIRST}, {}) != []
    assert pair({"finish": "length"}, {}) == []
    assert pair({"usage": None}, {}) == []
    assert pair({}, {"answer": None, "status": 500, "error": OVERLOADED}) == []
    assert pair({"answer": None, "status": 500, "error": OVERLOADED}, {}) == []


def test_a_twin_that_the_sdk_counts_as_a_retry_is_none() -> None:
    def counted(count: str) -> list[str]:
        first, second = twins(0.5)
        headers = (*second.request.headers, ("x-stainless-retry-count", count))
        return lines(
            first, replace(second, request=replace(second.request, headers=headers)), only="client-duplicate-r"
        )

    assert counted("0") != []
    assert counted("1") == []


def test_a_request_that_is_sent_many_times_is_sampled_and_each_twin_is_reported() -> None:
    trips = [chat([HELLO], said("x"), index=n, at=n / 10) for n in range(6)]

    assert [line.split(" ")[0] for line in lines(*trips, only="client-duplicate-r")] == ["#1", "#2", "#3"]


def test_a_refused_request_that_is_sent_again_is_reported_with_the_finish() -> None:
    filtered = chat([HELLO], said("x"), finish="content_filter")
    asked = {"role": "user", "content": "hi"}

    assert lines(filtered, chat([HELLO], said("x"), index=1), only="client-refusal") == [
        (
            "#1 client-refusal-retried (client, warning, P): the request that was refused in #0 was sent again "
            "unchanged | #0 finish content_filter, #1 request"
        ),
    ]
    refused = anthropic([asked], [], stop="refusal")
    assert lines(*again([refused, refused]), only="client-refusal") == [
        (
            "#1 client-refusal-retried (client, warning, P): the request that was refused in #0 was sent again "
            "unchanged | #0 finish refusal, #1 request"
        ),
    ]


def stuck(
    *second: dict[str, Any], pointer: str = "messages.[1].role", message: str = MISSING, status: int = 400
) -> list[str]:
    error = {"error": {"message": message, "type": "invalid_request_error", "param": pointer}}
    two = chat([HELLO, FIRST, *second], status=status, error=error, index=2)
    return lines(chat([HELLO], FIRST), rejected(user("go on"), index=1), two, only="client-poisoned")


def test_a_session_that_cannot_recover_is_reported_with_its_first_rejection() -> None:
    assert stuck(user("go on"), user("again")) == [
        (
            "#2 client-poisoned-history (client, error, P): 2 requests were rejected because of the same fault, first "
            "#1: retries cannot succeed | #1 status, #2 request | because of "
            "client-missing-tool-result"
        ),
    ]
    assert stuck(user("go on")) == [], "the same request again is a retry"
    other = "Unsupported parameter: 'verbosity' is not supported with this model."
    assert stuck(user("go on"), user("again"), message=other) == []


def test_a_session_that_arguments_poisoned_names_who_broke_them() -> None:
    cut = said(None, ("call_1", "look_up", '{"word": "ta'))
    history = [HELLO, cut, result("call_1", "Error: not JSON")]
    error = {"error": {"message": "Unterminated string starting at: line 1 column 10 (char 9)", "type": "x"}}

    found = lines(
        chat([HELLO], cut, usage=(100, 16), max_tokens=16),
        chat(history, status=400, error=error, index=1),
        chat([*history, user("go on")], status=400, error=error, index=2),
        only="client-poisoned",
    )

    assert [line.rpartition(" | ")[2] for line in found] == ["because of api-truncated-call-mislabelled"]


def test_a_second_try_after_no_answer_at_all_is_neither_early_nor_wrong() -> None:
    def unreached(index: int) -> RoundTrip:
        one = chat([HELLO], failure=Failure("refused", "connection refused"), index=index)
        return replace(one, ended_at=None, first_byte_at=None)

    found = {line.split(" ")[1] for line in lines(unreached(0), unreached(1), unreached(2))}
    assert not {one for one in found if one.startswith("client-")}


def test_a_page_with_a_permanent_status_must_not_be_requested_again() -> None:
    def page(index: int) -> RoundTrip:
        asked = {"model": "gpt-5", "messages": [HELLO]}
        return trip(CHAT, asked, "<html>Not here</html>", index, status=404, content_type="text/html")

    assert "client-retried-permanent-error" in ids(page(0), page(1))


def at_places(*places: int | None, text: str = "text content blocks must be non-empty") -> list[str]:
    """Requests that are rejected one after the other, each for a fault at this place."""
    history: list[dict[str, Any]] = [{"role": "user", "content": "hi"}]
    trips = [anthropic(history, [words("x")])]
    history = [*history, {"role": "assistant", "content": "x"}]
    for n, place in enumerate(places, 1):
        history = [*history, {"role": "user", "content": f"question {n}"}]
        where = "" if place is None else f"messages.{place}.content.0: "
        trips.append(anthropic(history, index=n, error=f"{where}{text}"))
    return lines(*trips, only="client-poisoned")


def test_a_history_is_poisoned_by_one_fault_at_one_place() -> None:
    assert at_places(1, 1)[0].startswith(
        "#2 client-poisoned-history (client, error, P): 2 requests were rejected because of the same fault at "
        "/messages/1/content/0, first #1"
    )
    assert at_places(1, 2) == []
    assert at_places(None, None) != []
    assert at_places(1, None) != [], "a text without a place does not contradict one with a place"
    assert at_places(1, 1, text="prompt is too long: input is too long") == [], "another rule reports a full window"


LOST = "client-retry-lost-results"


@pytest.mark.parametrize("api", APIS)
def test_a_retry_without_the_newest_results_is_found_in_every_api(api: str) -> None:
    question = [asks("Refund order 88213, please, and write to the customer.")]
    looked = [*question, looks_up("the order 88213 of the customer"), finds("a lamp, 39.90 euros")]
    refunded = [*looked, looks_up("the refund of the order 88213"), finds("refunded 39.90 euros")]
    made = run(api, (question, looked[1]), (looked, refunded[3]), (refunded, says("Done.")), (looked, refunded[3]))
    failure = Failure("refused", "the connection was closed")
    made[2] = replace(made[2], response=None, failure=failure)

    [line] = lines(*made, only=LOST)
    assert line == (
        f"#3 {LOST} (client, warning, P): after the failure of #2, the client sent the request of #1 again: 2 "
        "pieces of #2 are missing, results among them | #1 request, #2 request, #3 request"
    )
    whole = replace(made[2], index=3, response=made[1].response, failure=None)
    assert lines(*made[:3], whole, only=LOST) == []


def test_a_question_alone_may_be_left_out_of_a_retry() -> None:
    looked = [asks("Refund it."), looks_up("order"), finds("a lamp")]
    done = says("It is done.")
    turns = [(looked[:1], looked[1]), (looked, done), ([*looked, done, asks("Why?")], says("x")), (looked, done)]
    made = run("chat", *turns)
    made[2] = replace(made[2], response=None, failure=Failure("refused", "closed"))

    assert lines(*made, only=LOST) == []


IMAGE = "messages.2.content.0.image: image dimensions exceed the maximum of 8000 pixels"


def test_a_piece_that_no_class_names_poisons_a_history_too() -> None:
    assert "2 requests were rejected because of the same fault" in poisoned_by(IMAGE)
    assert "2 requests were rejected because of the same fault" in poisoned_by("The image 7 cannot be read.")


def test_a_fault_outside_the_history_poisons_nothing() -> None:
    assert poisoned_by("The API is not available for this plan.") == ""


def poisoned_by(message: str) -> str:
    def refused(index: int, *more: dict[str, Any]) -> RoundTrip:
        error = {"error": {"message": message, "type": "invalid_request_error"}}
        return chat([HELLO, FIRST, result("call_1", "x"), *more], status=400, error=error, index=index)

    trips = [chat([HELLO], FIRST), refused(1, user("go on")), refused(2, user("go on"), user("again"))]
    return "".join(lines(*trips, only="client-poisoned"))


def test_a_retry_in_another_thread_is_a_retry() -> None:
    """A fallback to another API, with another system prompt, is another thread."""
    failed = chat([{"role": "system", "content": "Be brief."}, HELLO], status=503, error={"error": {"message": "busy"}})
    words = [{"type": "text", "text": "It is a strip."}]

    assert lines(failed, anthropic([HELLO], words, 1), only="client-no-retry") == []
    assert lines(failed, anthropic([user("What is a reel?")], words, 1), only="client-no-retry") != []
