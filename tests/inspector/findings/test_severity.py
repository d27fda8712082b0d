"""A finding is as severe as what happened next shows it to be."""

from dataclasses import replace
from typing import Any

import pytest
from conversations import CALL, HELLO, TOOLS, chat, loop, result, said
from dialogues import Piece, asks, run, says
from judged import DECLARED, anthropic, asked, given, judged, lines, only, spoke, trip, use, words
from round_trips import CHAT, GEMINI, sse

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.analysis.threads import Threads
from turntape.inspector.analysis.turn import Turn
from turntape.inspector.findings import severity
from turntape.inspector.findings.finding import SEVERITIES, Finding
from turntape.inspector.findings.memory import RunMemory, ThreadMemory
from turntape.inspector.findings.rule_context import RuleContext
from turntape.inspector.wire.parse import read

CALLED = said(None, CALL)
GIVEN = result("call_1", "a strip")
DONE = said("done")
OVERLOADED: dict[str, Any] = {"status": 529, "error": {"error": {"message": "Overloaded", "type": "overloaded_error"}}}
REJECTED: dict[str, Any] = {"status": 400, "error": {"error": {"message": "no", "type": "invalid_request_error"}}}


def turn_of(trip: RoundTrip) -> Turn:
    return Threads().add(trip, read(trip))


def context_of(trip: RoundTrip, following: RoundTrip | None = None) -> RuleContext:
    context = RuleContext(turn_of(trip), ThreadMemory(), RunMemory())
    context.following = turn_of(following) if following is not None else None
    return context


def finding(name: str) -> Finding:
    return Finding(name, "client", "error", "P", "a fault", ("#0 request",))


@pytest.mark.parametrize(
    ("layer", "place", "moment", "expected"),
    [
        ("client", "#7 response", "ended", "info"),
        ("client", "#7 response", "closed", "error"),
        ("client", "#0 request", "ended", "error"),
        ("model", "#7 response", "ended", "error"),
    ],
)
def test_what_two_requests_show_of_the_client_needs_all_round_trips(
    layer: Any, place: str, moment: Any, expected: str
) -> None:
    context = context_of(chat([HELLO], DONE))
    one = replace(finding("client-forged-answer"), layer=layer, evidence=(place,))

    assert severity.at(moment, one, context).severity == "error"
    context.broken = "the recording lacks #8"
    assert severity.at(moment, one, context).severity == expected
    context.before = context.turn
    assert context.is_attempt and severity.at(moment, one, context).severity == "error"


EXPECTED = {
    "client-args-wrong-type": "info",
    "client-assistant-mutated": "warning",
    "client-bad-tool-schema": "info",
    "client-duplicate-tool-result": "warning",
    "client-duplicated-call": "warning",
    "client-empty-content": "info",
    "client-ignored-retry-after": "info",
    "client-media-type-wrong": "info",
    "client-model-changed": "info",
    "client-orphan-tool-result": "warning",
    "client-reasoning-dropped": "info",
    "client-results-not-adjacent": "info",
    "client-results-reordered": "info",
    "client-retried-permanent-error": "info",
    "client-role-order": "info",
    "client-system-prompt-changed": "info",
    "client-tools-changed": "info",
    "client-tools-missing-for-history": "info",
    "client-unsupported-param": "info",
}


@pytest.mark.parametrize(("name", "expected"), EXPECTED.items())
def test_a_fault_of_a_request_is_milder_when_the_api_answered_it(name: str, expected: str) -> None:
    answered, rejected = context_of(chat([HELLO], DONE)), context_of(chat([HELLO], **REJECTED))

    assert severity.at("ended", finding(name), answered).severity == expected
    assert severity.at("ended", finding(name), rejected).severity == "error"


BUSY: dict[str, Any] = {"status": 429, "error": {"error": {"message": "Slow down.", "type": "rate_limit_error"}}}
BROKE: dict[str, Any] = {"status": 500, "error": {"error": {"message": "Internal error", "type": "api_error"}}}


@pytest.mark.parametrize("name", sorted((severity.ANSWERED.keys() - severity.OF_RETRIES) | severity.CACHE_ONLY))
@pytest.mark.parametrize("failure", [OVERLOADED, BUSY])
def test_a_request_that_the_api_did_not_read_proves_no_fault_of_it(name: str, failure: dict[str, Any]) -> None:
    for one in (context_of(chat([HELLO], **failure)), context_of(replace(chat([HELLO], DONE), response=None))):
        assert severity.at("ended", finding(name), one).severity == EXPECTED[name]


@pytest.mark.parametrize("name", sorted(severity.OF_RETRIES))
def test_a_wrong_retry_stays_what_it_is_when_it_is_refused_again(name: str) -> None:
    assert severity.at("ended", finding(name), context_of(chat([HELLO], **BUSY))).severity == "error"


def test_a_server_that_broke_may_have_broken_on_the_request() -> None:
    assert severity.at("ended", finding("client-reasoning-dropped"), context_of(chat([HELLO], **BROKE))).severity == (
        "warning"
    )


def test_a_failure_that_names_a_fault_proves_it_under_every_status() -> None:
    named = {"error": {"message": "The reasoning_content in the thinking mode must be passed back to the API."}}
    for status in (429, 500, 503):
        context = context_of(chat([HELLO], status=status, error=named))
        assert severity.at("ended", finding("client-reasoning-dropped"), context).severity == "error"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("no", "error"),
        ("messages.1: all messages must have non-empty content", "info"),
        ("conversation roles must alternate", "error"),
    ],
)
def test_a_failure_that_names_another_fault_does_not_prove_this_one(message: str, expected: str) -> None:
    trip = chat([HELLO], status=400, error={"error": {"message": message, "type": "invalid_request_error"}})

    assert severity.at("ended", finding("client-role-order"), context_of(trip)).severity == expected


@pytest.mark.parametrize(("text", "expected"), [("It holds", "info"), ("", "warning")])
def test_an_api_that_has_begun_to_answer_took_the_request(text: str, expected: str) -> None:
    failed = {"error": {"message": "no", "type": "server_error"}}
    began = {"id": "c", "object": "chat.completion.chunk", "model": "gpt-5"}
    pieces = [{**began, "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}] if text else []
    context = context_of(trip(CHAT, {"model": "gpt-5", "messages": [HELLO], "stream": True}, sse(*pieces, failed)))

    assert severity.at("ended", finding("client-role-order"), context).severity == expected


def test_an_overloaded_gemini_is_to_blame_and_not_a_signature_that_it_never_missed() -> None:
    contents: list[dict[str, Any]] = [{"role": "user", "parts": [{"text": "Look up the strip, please."}]}]
    call = {"functionCall": {"name": "look_up", "args": {"word": "strip"}}}
    first = trip(
        GEMINI,
        {"contents": contents, "tools": [DECLARED]},
        {"candidates": [{"content": {"role": "model", "parts": [call | {"thoughtSignature": "c2ln" * 20}]},
                         "finishReason": "STOP"}], "modelVersion": "gemini-3"},
    )  # fmt: skip
    given = {"functionResponse": {"name": "look_up", "response": {"result": "a strip"}}}
    history = [*contents, {"role": "model", "parts": [call]}, {"role": "user", "parts": [given]}]
    busy = {"error": {"code": 429, "message": "Resource has been exhausted.", "status": "RESOURCE_EXHAUSTED"}}
    again = trip(GEMINI, {"contents": history, "tools": [DECLARED]}, busy, status=429, index=1)

    severities = {one.id: one.severity for one in judged(first, again)}

    assert severities["client-reasoning-dropped"] == "info"
    assert severities["api-rate-limited"] == "warning"


def test_the_table_lists_what_is_expected_here() -> None:
    assert set(severity.ANSWERED) | severity.CACHE_ONLY == set(EXPECTED)


def test_what_the_next_request_does_wrong_is_judged_by_the_answer_to_that_request() -> None:
    swapped = finding("client-results-reordered")

    answered = context_of(chat([HELLO], CALLED), chat([HELLO, CALLED, GIVEN], DONE, index=1))
    rejected = context_of(chat([HELLO], CALLED), chat([HELLO, CALLED, GIVEN], index=1, **REJECTED))

    assert severity.at("followed", swapped, answered).severity == "info"
    assert severity.at("followed", swapped, rejected).severity == "error"


@pytest.mark.parametrize(
    "name", ["model-refusal", "client-history-truncated", "client-missing-tool-result", "acme-own-rule"]
)
def test_other_findings_stay_as_the_rule_states_them(name: str) -> None:
    assert severity.at("ended", finding(name), context_of(chat([HELLO], DONE))) == finding(name)


@pytest.mark.parametrize("level", SEVERITIES)
def test_nothing_becomes_more_severe(level: Any) -> None:
    stated = replace(finding("client-assistant-mutated"), severity=level)
    settled = severity.at("ended", stated, context_of(chat([HELLO], DONE)))

    assert SEVERITIES.index(settled.severity) <= SEVERITIES.index(level)


def failed_first(second: RoundTrip, failure: dict[str, Any] = OVERLOADED, count: int = 1) -> list[RoundTrip]:
    failed = [chat([HELLO], index=n, at=60 * n, **failure) for n in range(count)]
    return [*failed, replace(second, index=count, started_at=second.started_at + 60 * count)]


@pytest.mark.parametrize(
    "failure", [OVERLOADED, REJECTED, {**OVERLOADED, "status": 429}, {**OVERLOADED, "status": 401}]
)
def test_a_failure_that_was_retried_with_success_is_an_info(failure: dict[str, Any]) -> None:
    reported = judged(*failed_first(chat([HELLO], DONE), failure))

    assert reported
    assert {one.severity for one in reported} == {"info"}


def test_all_failed_attempts_before_the_answer_become_milder() -> None:
    reported = judged(*failed_first(chat([HELLO], DONE), count=2))

    assert [one.at for one in reported if one.id == "api-overloaded"] == [0, 1]
    assert {one.severity for one in reported} == {"info"}


def test_a_failure_that_ends_the_run_stays_an_error() -> None:
    reported = judged(*failed_first(chat([HELLO], **OVERLOADED)))

    assert [one.severity for one in reported if one.id == "api-overloaded"] == ["error", "error"]


def test_a_retry_storm_stays_a_warning_although_it_succeeded_in_the_end() -> None:
    assert only("client-retry-storm", *failed_first(chat([HELLO], DONE), count=4)).severity == "warning"


def test_a_failure_of_another_thread_stays_an_error() -> None:
    failed = chat([HELLO], **OVERLOADED)
    other = chat([{"role": "user", "content": "Name this chat."}], DONE, index=1, tools=None)

    assert only("api-overloaded", failed, other).severity == "error"


BROKEN = said(None, ("call_1", "look_up", '{"word":5,"page":{}}'))


@pytest.mark.parametrize(
    ("text", "expected"), [("a strip", "warning"), ("Error: no such word", "error"), (None, "error")]
)
def test_arguments_that_the_tool_took_are_a_warning(text: str | None, expected: str) -> None:
    strict = {"type": "object", "properties": {"word": {"type": "string"}}, "additionalProperties": False}
    tool = {"type": "function", "function": {**TOOLS[0]["function"], "parameters": strict}}
    history = [HELLO, BROKEN, *([result("call_1", text)] if text else [])]
    opened = chat([HELLO], BROKEN, tools=[tool])
    following = [chat(history, DONE, index=1, tools=[tool])] if text else []

    assert only("model-args-break-schema", opened, *following).severity == expected


def test_a_call_of_an_unknown_tool_that_was_answered_with_an_error_stays_an_error() -> None:
    ask, call = asked("hi"), use(name="look_out")

    def run(**result_fields: Any) -> str:
        back = asked(given(**result_fields))
        trips = [anthropic([ask], [call]), anthropic([ask, spoke(call), back], [words("x")], 1)]
        return only("model-unknown-tool", *trips).severity

    assert run(is_error=True) == "error"
    assert run() == "warning"


def test_a_healthy_run_has_nothing_above_info() -> None:
    assert [one for one in judged(*loop()) if one.severity != "info"] == []


def capped(*after: Piece) -> list[str]:
    """An answer that hit its cap, and the request after it."""
    begun = says("The first half of a long answer that was cut")
    first, second = run(
        "chat", ([asks("Say it all.")], begun), ([asks("Say it all."), begun, *after], says("The rest."))
    )
    cut = first.response
    assert cut is not None
    body = cut.body.replace(b'"stop"', b'"length"')
    return lines(replace(first, response=replace(cut, content=body)), second, only="api-length-truncated")


def test_a_capped_answer_whose_rest_was_requested_is_an_info() -> None:
    assert "(api, info, P)" in capped(asks("Please continue where you were cut off."))[0]
    assert "(api, warning, P)" in capped(asks("Thank you. What else?"))[0]


@pytest.mark.parametrize(("call_id", "expected"), [("toolu_own", "info"), ("", "warning")])
def test_a_call_without_an_id_costs_nothing_only_where_the_client_gave_it_one(call_id: str, expected: str) -> None:
    trips = (
        anthropic([asked("hi")], [use("")]),
        anthropic([asked("hi"), spoke(use(call_id)), asked(given(call_id))], [words("done")], 1),
    )

    assert [one.severity for one in judged(*trips) if one.id == "api-call-without-id"] == [expected]
