"""How the answer travelled."""

import json
from dataclasses import replace
from typing import Any

import pytest
from aws_frames import frame
from chat_streams import ASKED, BASE, END, WORDS, call, chunk, stream
from conversations import HELLO, chat, said
from judged import (
    CONVERSE,
    OLLAMA,
    RESPONSES,
    Said,
    anthropic,
    ids,
    item_call,
    judged,
    lines,
    only,
    responses,
    trip,
    words,
)
from round_trips import CHAT, GEMINI, MESSAGES, sse
from sockets import create, say, session

from turntape.cassettes.tape.model import Chunk, Failure, RoundTrip


def test_a_whole_stream_is_nobodys() -> None:
    assert ids(stream(sse(*WORDS, END, done=True))) == set()


def test_a_stream_without_its_end_was_cut_by_whoever_closed() -> None:
    cut = stream(sse(*WORDS))

    assert only("api-stream-cut", cut).layer == "api"
    assert only("api-stream-cut", replace(cut, closed_first="server")).tier == "P"
    gone = replace(cut, closed_first="client", failure=Failure("client_gone", "the client closed the connection"))
    assert ids(gone) == {"client-interrupted"}


def test_a_stream_with_its_finish_word_is_whole_without_done() -> None:
    assert "api-stream-cut" not in ids(stream(sse(*WORDS, END)))


def test_an_error_behind_a_200_is_an_error() -> None:
    error = {"error": {"message": "The server had an error.", "type": "server_error", "code": 500}}

    assert only("api-error-in-200-stream", stream(sse(*WORDS, error))).layer == "api"


def timed(seconds: float, *quiet: bytes, first: float = 0.2) -> RoundTrip:
    """A stream that pauses behind its first words; keepalives come in the pause."""
    pieces = [sse(WORDS[0]), *quiet, sse(WORDS[1], END, done=True)]
    late = int((first + seconds) * 1e6)
    between = [int((first + seconds * (n + 1) / (len(quiet) + 1)) * 1e6) for n in range(len(quiet))]
    at = [int(first * 1e6), *between, late]
    chunks = tuple(Chunk(len(piece), when) for piece, when in zip(pieces, at, strict=True))
    one = stream(b"".join(pieces))
    assert one.response is not None
    return replace(one, response=replace(one.response, content=b"".join(pieces), chunks=chunks), ended_at=late + 10)


PING = b": keepalive\n\n"


@pytest.mark.parametrize(
    ("seconds", "quiet", "severity"),
    [(30, (), None), (75, (), "warning"), (75, (PING, PING, PING), "warning"), (320, (PING,), "error")],
)
def test_keepalives_are_not_progress(seconds: float, quiet: tuple[bytes, ...], severity: str | None) -> None:
    reported = [one.severity for one in judged(timed(seconds, *quiet)) if one.id == "api-stream-stalled"]

    assert reported == ([severity] if severity else [])


def test_the_first_token_may_take_long() -> None:
    assert "api-stream-stalled" not in ids(timed(1, first=120))


WHOLE = sse(*WORDS, END, done=True)


@pytest.mark.parametrize(
    ("body", "kind", "said_of_it"),
    [
        (WHOLE.replace(b"data: {", b"data: {'", 1), "text/event-stream", "JSON"),
        (WHOLE + b"data: [DONE]\n\n", "text/event-stream", "[DONE] arrived 2 times"),
        (WHOLE.replace(b"a recording", b"a r\xc3cording"), "text/event-stream", "not UTF-8"),
        (WHOLE, "application/json", "the content type is application/json"),
        (WHOLE.replace(b'"finish_reason": null', b'"finish_reason": ""', 1), "text/event-stream", "is empty"),
    ],
)
def test_a_stream_that_breaks_its_framing_is_reported(body: bytes, kind: str, said_of_it: str) -> None:
    assert said_of_it in only("api-malformed-stream", stream(body, content_type=kind)).message


def test_a_byte_that_is_not_utf8_does_not_lose_the_event() -> None:
    assert "api-stream-cut" not in ids(stream(WHOLE.replace(b"a recording", b"a r\xc3cording")))


LOGIN = b"<html><h1>Please log in</h1></html>"


def test_a_page_in_place_of_an_answer_is_not_the_models_silence() -> None:
    page = trip(CHAT, {"model": "gpt-5", "messages": [HELLO]}, LOGIN, content_type="text/html")
    reported = [one for one in judged(page) if one.severity != "info"]

    assert [(one.id, one.layer, one.severity) for one in reported] == [("api-malformed-stream", "api", "error")]
    assert "Please log in" in reported[0].message


def test_a_body_of_json_that_was_cut_is_cut_and_no_page() -> None:
    cut = trip(CHAT, {"model": "gpt-5", "messages": [HELLO]}, b'{"id":"c","choices":[{"index":0,"mess')

    assert {one.id for one in judged(cut) if one.severity != "info"} == {"api-stream-cut"}


@pytest.mark.parametrize("body", [b'"ok"', b'{"message":"Welcome to the gateway"}'])
def test_json_of_somebody_else_is_not_the_models_silence(body: bytes) -> None:
    asked = {"messages": [{"role": "user", "content": [{"text": "hi"}]}]}
    foreign = trip(CONVERSE, asked, body, content_type="application/json")

    reported = [one for one in judged(foreign) if one.severity != "info"]

    assert [(one.id, one.layer) for one in reported] == [("api-malformed-stream", "api")]


def test_an_error_as_the_whole_body_behind_a_200_is_reported() -> None:
    error = {"error": {"message": "Internal failure", "type": "server_error"}}
    one = only("api-error-in-200-stream", trip(CHAT, {"model": "gpt-5", "messages": [HELLO]}, error))

    assert (one.layer, one.severity) == ("api", "error")
    assert "Internal failure" in one.message


def test_an_answer_that_is_empty_and_counted_is_still_the_models() -> None:
    message = {"role": "assistant", "content": []}
    answer = {"output": {"message": message}, "stopReason": "end_turn", "usage": {"inputTokens": 3, "outputTokens": 0}}
    empty = trip(CONVERSE, {"messages": [{"role": "user", "content": [{"text": "hi"}]}]}, answer)

    assert only("model-empty-response", empty).layer == "model"


def test_an_error_behind_a_good_status_is_quoted() -> None:
    error = {"error": {"message": "The server had an error.", "type": "server_error"}}
    untyped = {"error": {"message": "The server had an error."}}
    plain = {"model": "gpt-5", "messages": [HELLO]}

    assert lines(stream(sse(*WORDS, error)), only="api-error-in") == [
        (
            "#0 api-error-in-200-stream (api, error, P): the stream with status 200 contains an error: "
            "server_error The "
            "server had an error. | #0 response"
        ),
    ]
    assert lines(stream(sse(*WORDS, untyped)), only="api-error-in") == [
        (
            "#0 api-error-in-200-stream (api, error, P): the stream with status 200 contains an error: "
            "The server had an "
            "error. | #0 response"
        ),
    ]
    assert lines(trip(CHAT, plain, error), only="api-error-in") == [
        (
            "#0 api-error-in-200-stream (api, error, P): the body with status 200 is an error: server_error "
            "The server had an error. | #0 response"
        ),
    ]
    assert lines(trip(CHAT, plain, untyped), only="api-error-in") == [
        (
            "#0 api-error-in-200-stream (api, error, P): the body with status 200 is an error: The server "
            "had an error. | #0 response"
        ),
    ]
    assert lines(trip(CHAT, plain, error, status=201), only="api-error-in") != []
    assert lines(trip(CHAT, plain, error, status=300), only="api-error-in") == []
    assert lines(trip(CHAT, plain, error, status=500), only="api-error-in") == []


def test_a_client_that_leaves_is_reported_with_the_call_that_it_cut() -> None:
    half = call(0, "c1", "look_up", '{"wo')
    gone = Failure("client_gone", "the client closed the connection")

    assert lines(replace(stream(sse(*WORDS)), closed_first="client"), only="client-inter") == [
        (
            "#0 client-interrupted (client, info, P): the client closed the connection before the answer was "
            "complete | #0 closed by client"
        ),
    ]
    assert lines(replace(stream(sse(half)), failure=gone), only="client-inter") == [
        (
            "#0 client-interrupted (client, info, P): the client closed the connection before the answer was "
            "complete; the call of 'look_up' was incomplete | #0 closed by client"
        ),
    ]
    whole = call(0, "c1", "look_up", '{"word":"a"}')
    assert "incomplete" not in only("client-interrupted", replace(stream(sse(whole)), failure=gone)).message
    assert lines(replace(stream(sse(*WORDS, END, done=True)), closed_first="client"), only="client-inter") == []
    assert lines(replace(stream(sse(*WORDS)), closed_first="server"), only="client-inter") == []
    assert lines(replace(stream(sse(*WORDS)), failure=Failure("cut", "x")), only="client-inter") == []


def cut_lines(body: bytes, **fields: Any) -> list[str]:
    return lines(replace(stream(body), **fields), only="api-stream-cut")


def test_a_cut_is_reported_with_its_place_and_how_sure_it_is() -> None:
    half = call(0, "c1", "look_up", '{"wo')

    assert cut_lines(sse(*WORDS)) == [
        (
            "#0 api-stream-cut (api, error, S): the answer ended after 338 bytes, before it was complete "
            "| #0 response byte 338"
        ),
    ]
    assert cut_lines(sse(*WORDS), closed_first="server") == [
        (
            "#0 api-stream-cut (api, error, P): the answer ended after 338 bytes, before it was complete "
            "(the server closed first) | #0 response byte 338"
        ),
    ]
    assert cut_lines(sse(*WORDS), failure=Failure("cut", "reset"))[0].startswith("#0 api-stream-cut (api, error, P)")
    assert cut_lines(sse(half))[0].startswith("#0 api-stream-cut (api, error, P)")
    assert cut_lines(sse(*WORDS, half))[0].startswith("#0 api-stream-cut (api, error, P)")
    assert cut_lines(sse(WORDS[0] | {"choices": []}))[0].startswith("#0 api-stream-cut (api, error, P)")
    assert cut_lines(sse(*WORDS), failure=Failure("client_gone", "left")) == []
    assert cut_lines(sse(*WORDS), closed_first="client") == []
    assert lines(stream(sse(*WORDS), status=299), only="api-stream-cut") != []
    assert lines(stream(sse(*WORDS), status=300), only="api-stream-cut") == []
    assert lines(stream(sse(*WORDS), status=400), only="api-stream-cut") == []


def test_a_stall_is_reported_with_its_length_and_its_place() -> None:
    assert lines(timed(75), only="api-stream-stalled") == [
        "#0 api-stream-stalled (api, warning, P): no new data for 75 s at byte 177 | #0 response byte 177",
    ]
    assert lines(timed(75, PING, PING), only="api-stream-stalled") == [
        (
            "#0 api-stream-stalled (api, warning, P): no new data for 75 s at byte 203 (2 keepalives in "
            "the stream) | #0 response byte 203"
        ),
    ]
    assert lines(timed(60), only="api-stream-stalled") != []
    assert lines(timed(59.9), only="api-stream-stalled") == []
    assert lines(timed(300), only="api-stream-stalled")[0].startswith("#0 api-stream-stalled (api, error, P)")
    assert lines(timed(299.9), only="api-stream-stalled")[0].startswith("#0 api-stream-stalled (api, warning, P)")
    assert lines(timed(1, first=301), only="api-stream-stalled") != [], "five minutes to the first word are too many"
    assert lines(timed(1, first=299), only="api-stream-stalled") == []


QUIET = [
    b": keepalive\n\n",
    sse({"type": "ping"}),
    b"event: ping\ndata: {}\n\n",
    b"event: keepalive\ndata: x\n\n",
    sse({"type": "response.in_progress"}),
    sse({"type": "response.queued"}),
    sse({"type": "message_start"}),
    b"event: response.queued\ndata: {}\n\n",
    b"data: \n\n",
    sse(chunk({"role": "assistant"})),
    sse(chunk({"content": ""})),
    sse(chunk({})),
]


@pytest.mark.parametrize("quiet", QUIET)
def test_what_carries_nothing_new_is_not_progress(quiet: bytes) -> None:
    assert "api-stream-stalled" in ids(timed(100, quiet))


@pytest.mark.parametrize("event", [chunk({"content": "x"}), chunk(finish="stop"), {"type": "content_block_delta"}])
def test_what_carries_something_new_is_progress(event: dict[str, Any]) -> None:
    assert "api-stream-stalled" not in ids(timed(100, sse(event)))


def test_a_stream_that_stalled_until_it_was_cut_is_reported() -> None:
    body = sse(*WORDS)
    one = stream(body)
    assert one.response is not None
    response = replace(one.response, chunks=(Chunk(len(body), 200_000),))

    assert lines(replace(one, response=response, ended_at=90_200_000), only="api-stream-stalled") == [
        "#0 api-stream-stalled (api, warning, P): no new data for 90 s at byte 338 | #0 response byte 338",
    ]
    assert lines(replace(one, response=response, ended_at=50_200_000), only="api-stream-stalled") == []


def test_of_two_equal_stalls_the_first_is_named() -> None:
    pieces = [sse(WORDS[0]), sse(WORDS[1]), sse(END, done=True)]
    chunks = tuple(Chunk(len(piece), at) for piece, at in zip(pieces, (200_000, 75_200_000, 150_200_000), strict=True))
    one = stream(b"".join(pieces))
    assert one.response is not None
    twice = replace(one, response=replace(one.response, chunks=chunks), ended_at=150_200_000)

    assert f"at byte {len(pieces[0])}" in only("api-stream-stalled", twice).message


def test_a_stream_whose_times_are_not_known_did_not_stall() -> None:
    one = stream(sse(*WORDS, END, done=True))
    assert one.response is not None

    assert lines(replace(one, response=replace(one.response, chunks=()), ended_at=900_000_000)) == []


def test_a_stream_that_breaks_its_framing_is_quoted() -> None:
    def broken(body: bytes, kind: str = "text/event-stream") -> list[str]:
        return lines(stream(body, content_type=kind), only="api-malformed")

    assert broken(WHOLE + b"data: [DONE]\n\n") == [
        (
            "#0 api-malformed-stream (api, warning, P): the stream breaks its framing: [DONE] arrived 2 times. | "
            "#0 response"
        ),
    ]
    assert broken(WHOLE.replace(b"a recording", b"a r\xc3cording")) == [
        (
            "#0 api-malformed-stream (api, warning, P): the stream breaks its framing: byte 116 of the event "
            "at byte 177 is not UTF-8. | #0 response"
        ),
    ]
    assert broken(WHOLE, "application/json") == [
        (
            "#0 api-malformed-stream (api, warning, P): the stream breaks its framing: the content type is "
            "application/json and the body is an event stream. | #0 response"
        ),
    ]
    assert broken(WHOLE, "text/html") == [
        (
            "#0 api-malformed-stream (api, warning, P): the stream breaks its framing: the content type is "
            "text/html and the body is an event stream. | #0 response"
        ),
    ]
    assert broken(WHOLE, "text/plain") == []
    assert broken(WHOLE.replace(b'"finish_reason": null', b'"finish_reason" : ""', 1)) == [
        (
            "#0 api-malformed-stream (api, info, P): a finish word in the stream is empty; some clients "
            "treat it as the end | #0 response byte 0"
        ),
    ]
    assert broken(sse(*WORDS) + b"data: {'") == [], "the last event of a cut stream may be broken"


def test_a_body_that_is_not_an_answer_is_quoted() -> None:
    plain = {"model": "gpt-5", "messages": [HELLO]}

    def body(content: object, kind: str = "application/json", **fields: Any) -> list[str]:
        return lines(trip(CHAT, plain, content, content_type=kind, **fields), only="api-malformed")

    assert body(LOGIN, "text/html") == [
        (
            "#0 api-malformed-stream (api, error, P): the status is 200 and the body is not JSON (text/html); "
            "it begins with '<html><h1>Please log in</h1></html>': something other than the API answered | "
            "#0 response byte 0"
        ),
    ]
    assert body(b"x" * 80, "") == []
    assert body({"message": "Welcome"}) == []
    assert body(LOGIN, "text/html", status=299) != []
    assert body(LOGIN, "text/html", status=300) == []
    assert body(b"  ") == []
    for known in ({"id": "c1"}, {"model": "gpt-5"}, {"usage": {"prompt_tokens": 5, "completion_tokens": 0}}):
        assert body(known) == []


def test_an_answer_that_the_client_cancelled_was_interrupted() -> None:
    answer = {"id": "r", "object": "response", "status": "cancelled", "output": []}
    asked_for = {"model": "gpt-5.1", "input": "hi"}
    cancelled = trip("https://api.openai.com/v1/responses", asked_for, answer)

    assert lines(replace(cancelled, closed_first="client"), only="client-inter") != []


@pytest.mark.parametrize(("status", "broken"), [("cancelled", False), ("completed", True)])
def test_a_stream_that_was_cancelled_may_break_its_framing(status: str, broken: bool) -> None:
    body = {"id": "r", "object": "response", "status": status, "output": [], "model": "gpt-5.1"}
    end = {"type": f"response.{status}", "response": body}
    asked_for = {"model": "gpt-5.1", "input": "hi", "stream": True}
    one = trip(RESPONSES, asked_for, b"data: {'type'}\n\n" + sse(end, names=True))

    assert ("api-malformed-stream" in ids(one)) is broken


def test_a_stall_needs_no_time_of_the_request() -> None:
    bare = replace(timed(75), first_byte_at=None, request_at=None)

    assert lines(bare, only="api-stream-stalled") == lines(timed(75), only="api-stream-stalled")


def test_a_page_that_is_not_text_is_quoted_as_far_as_it_can_be_read() -> None:
    plain = {"model": "gpt-5", "messages": [HELLO]}
    [line] = lines(trip(CHAT, plain, b"<html>\xff\xfe", content_type="text/html"), only="api-malformed")

    assert "it begins with '<html>\ufffd\ufffd'" in line
    text = {"choices": [{"message": {"role": "assistant", "content": "Hello."}}]}
    assert lines(trip(CHAT, plain, text), only="api-malformed") == [], "an answer without any count is an answer"


# A client that waited without success


GONE = Failure("client_gone", "the client closed the connection")


def waited(seconds: float, *headers: tuple[str, str], index: int = 0, url: str = CHAT, **fields: Any) -> RoundTrip:
    """A request to which nothing came back until the client closed the connection."""
    one = trip(url, ASKED, b"", index, request_headers=headers)
    gone: dict[str, Any] = {"response": None, "failure": GONE, "closed_first": "client", "first_byte_at": None}
    return replace(one, **(gone | {"request_at": 0, "ended_at": int(seconds * 1e6)} | fields))


def waits(*trips: RoundTrip) -> list[tuple[int, str, str]]:
    return [(one.at, one.layer, one.severity) for one in judged(*trips) if one.id == "api-no-first-byte"]


@pytest.mark.parametrize(
    ("seconds", "severity"), [(1, None), (59.9, None), (60, "warning"), (299, "warning"), (300, "error")]
)
def test_an_api_that_sent_nothing_for_long_is_reported(seconds: float, severity: str | None) -> None:
    assert waits(waited(seconds)) == ([(0, "api", severity)] if severity else [])


@pytest.mark.parametrize(
    ("header", "seconds", "timed_out"),
    [
        (("x-stainless-read-timeout", "5"), 5.0, True),
        (("x-stainless-read-timeout", "5"), 4.5, True),
        (("x-stainless-read-timeout", "5"), 6.9, True),
        (("x-stainless-read-timeout", "5"), 4.4, False),
        (("x-stainless-read-timeout", "5"), 7.1, False),
        (("x-stainless-timeout", "2.5"), 2.6, True),
        (("x-stainless-read-timeout", "NOT_GIVEN"), 5.0, False),
        (("x-stainless-read-timeout", "0"), 0.5, False),
        (("x-other", "5"), 5.0, False),
    ],
)
def test_a_wait_as_long_as_the_clients_own_timeout_is_not_a_person(
    header: tuple[str, str], seconds: float, timed_out: bool
) -> None:
    assert waits(waited(seconds, header)) == ([(0, "api", "warning")] if timed_out else [])


@pytest.mark.parametrize(("second", "alike"), [(2.0, True), (2.5, True), (1.7, True), (2.6, False), (1.6, False)])
def test_two_attempts_that_were_given_up_after_the_same_time_are_a_timeout(second: float, alike: bool) -> None:
    trips = [waited(2), waited(second, index=1)]

    assert waits(*trips) == ([(1, "api", "warning")] if alike else [])


def test_two_requests_that_differ_are_not_attempts() -> None:
    other = replace(waited(2, index=1), request=replace(waited(2).request, content=b'{"model":"gpt-5","messages":[]}'))
    answered = stream(sse(*WORDS), index=1, failure=GONE)

    assert waits(waited(2), other) == []
    assert waits(answered, waited(2, index=1)) == []


def test_a_wait_is_shown_with_its_length_and_both_explanations() -> None:
    assert lines(waited(75.2)) == [
        (
            "#0 api-no-first-byte (api, warning, S): the API sent nothing for 75 s; then the client gave up. Either "
            "the API hangs, or a timeout of the client is too short | #0 request, #0 closed by client"
        ),
        (
            "#0 client-interrupted (client, info, P): the client closed the connection after 75 s without any answer | "
            "#0 closed by client | because of api-no-first-byte"
        ),
    ]
    timeout = ("x-stainless-read-timeout", "2")
    assert lines(waited(2.04, timeout), waited(2, timeout, index=1), only="api-no")[1:] == [
        (
            "#1 api-no-first-byte (api, warning, S): the API sent nothing for 2.0 s, as in the attempt before; then "
            "the client gave up. Either the API hangs, or its timeout of 2 s is too short | #1 request, "
            "#1 closed by client"
        ),
    ]
    assert lines(waited(9.96)) == [
        (
            "#0 client-interrupted (client, info, P): the client closed the connection after 10.0 s without any answer "
            "| #0 closed by client"
        ),
    ]


def test_a_wait_counts_from_the_end_of_the_request() -> None:
    assert waits(waited(70, request_at=9_000_000)) == [(0, "api", "warning")]
    assert waits(waited(70, request_at=11_000_000)) == []
    assert waits(waited(70, request_at=None)) == [(0, "api", "warning")]
    assert waits(waited(70, ended_at=None)) == []


def test_a_wait_that_the_client_did_not_end_is_another_finding() -> None:
    assert waits(waited(70, failure=Failure("cut", "x"), closed_first="server")) == []
    assert waits(waited(70, closed_first=None)) == [(0, "api", "warning")]


def headed(body: bytes, seconds: float = 70) -> RoundTrip:
    """A wait behind the head of an answer and this much of its body."""
    return waited(seconds, response=stream(body).response)


@pytest.mark.parametrize("body", [b"", b"  ", PING, PING + PING, sse({"type": "ping"}, names=True)])
def test_a_head_and_keepalives_are_not_an_answer(body: bytes) -> None:
    assert waits(headed(body)) == [(0, "api", "warning")]


@pytest.mark.parametrize("body", [sse(WORDS[0]), PING + sse(WORDS[0]), b'{"id": "c", "choi'])
def test_a_piece_of_an_answer_ends_the_wait(body: bytes) -> None:
    assert waits(headed(body)) == []


def test_a_wait_is_an_info_once_another_attempt_was_answered() -> None:
    answered = stream(WHOLE, index=1)

    assert waits(waited(70), answered) == [(0, "api", "info")]


@pytest.mark.parametrize("url", [MESSAGES, RESPONSES, GEMINI, CONVERSE, OLLAMA])
def test_every_api_can_send_nothing(url: str) -> None:
    assert waits(waited(70, url=url)) == [(0, "api", "warning")]


# An answer without an answer


COUNTS = {"prompt_tokens": 3, "completion_tokens": 0, "total_tokens": 3}
COMPLETION = {"id": "c", "object": "chat.completion", "model": "gpt-5", "usage": COUNTS}
CONTENTS = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
GEMINI_BODY = {"usageMetadata": {"promptTokenCount": 3, "totalTokenCount": 3}, "modelVersion": "gemini-3"}
BLOCKS = {"messages": [{"role": "user", "content": [{"text": "hi"}]}]}
STOPPED = {"stopReason": "end_turn", "usage": {"inputTokens": 3, "outputTokens": 0, "totalTokens": 3}}
PLAIN = {"model": "gpt-5", "messages": [HELLO]}
LOCAL = {"model": "q", "messages": [HELLO], "stream": False}
COHERE = "https://api.cohere.com/v2/chat"
COMPLETIONS = "https://api.openai.com/v1/completions"
DONE = {"model": "q", "done": True, "done_reason": "stop", "prompt_eval_count": 3, "eval_count": 0}


@pytest.mark.parametrize(
    ("url", "asked", "answer", "holder", "what"),
    [
        (CHAT, PLAIN, {**COMPLETION, "choices": []}, "choices", "empty"),
        (CHAT, PLAIN, {**COMPLETION, "choices": None}, "choices", "missing"),
        (CHAT, PLAIN, COMPLETION, "choices", "missing"),
        (CHAT, ASKED, sse({**BASE, "choices": [], "usage": COUNTS}, done=True), "choices", "empty"),
        ("https://api.mistral.ai/v1/chat/completions", PLAIN, {**COMPLETION, "choices": []}, "choices", "empty"),
        (COMPLETIONS, {"model": "gpt-5", "prompt": "hi"}, {**COMPLETION, "object": "text_completion", "choices": []},
         "choices", "empty"),
        (GEMINI, CONTENTS, {"candidates": [], **GEMINI_BODY}, "candidates", "empty"),
        (GEMINI, CONTENTS, GEMINI_BODY, "candidates", "missing"),
        (CONVERSE, BLOCKS, STOPPED, "output", "missing"),
        (CONVERSE, BLOCKS, {**STOPPED, "output": {}}, "output", "empty"),
        (OLLAMA, LOCAL, DONE, "message", "missing"),
        (COHERE, PLAIN, {"id": "c", "finish_reason": "COMPLETE", "message": {}}, "message", "empty"),
    ],
)  # fmt: skip
def test_an_answer_without_an_answer_is_the_apis(
    url: str, asked: dict[str, Any], answer: object, holder: str, what: str
) -> None:
    reported = lines(trip(url, asked, answer))

    assert [one for one in reported if "info" not in one] == [
        (
            f"#0 api-no-choice (api, warning, P): the status is 200, but {holder!r} is {what}: the answer holds "
            "nothing of a model | #0 response"
        ),
    ]


EMPTY = {"index": 0, "message": {"role": "assistant", "content": ""}, "finish_reason": "stop"}


@pytest.mark.parametrize(
    ("url", "asked", "answer"),
    [
        (CHAT, PLAIN, {**COMPLETION, "choices": [EMPTY]}),
        (CHAT, ASKED, sse({**BASE, "choices": []}, chunk({"role": "assistant"}), END, done=True)),
        (GEMINI, CONTENTS, {"candidates": [{"finishReason": "STOP"}], **GEMINI_BODY}),
        (CONVERSE, BLOCKS, {**STOPPED, "output": {"message": {"role": "assistant", "content": []}}}),
        (OLLAMA, LOCAL, {**DONE, "message": {"role": "assistant", "content": ""}}),
        (MESSAGES, {**PLAIN, "max_tokens": 9}, {"id": "m", "type": "message", "role": "assistant", "content": [],
                                                "stop_reason": "end_turn", "usage": {"output_tokens": 0}}),
        (RESPONSES, {"model": "m", "input": "hi"}, {"id": "r", "object": "response", "status": "completed",
                                                    "output": [], "model": "m"}),
    ],
)  # fmt: skip
def test_an_empty_answer_of_a_model_is_still_the_models(url: str, asked: dict[str, Any], answer: object) -> None:
    assert "api-no-choice" not in ids(trip(url, asked, answer))
    assert "model-empty-response" in ids(trip(url, asked, answer))


def test_a_stream_of_blocks_has_no_such_list() -> None:
    """The events of Converse have no `output`."""
    url, media = CONVERSE + "-stream", "application/vnd.amazon.eventstream"
    body = frame("messageStart", {"role": "assistant"}) + frame("messageStop", {"stopReason": "end_turn"})

    assert "api-no-choice" not in ids(trip(url, BLOCKS, body, content_type=media))


# Errors within a WebSocket session


def failing_session(**error: Any) -> RoundTrip:
    return session(create(1), say("server", 2, type="error", **error))


@pytest.mark.parametrize(
    ("error", "reported"),
    [
        (
            {"status": 429, "error": {"type": "requests", "message": "slow down"}},
            ["#0 api-rate-limited (api, warning, P): too many requests: 429 slow down | #0 status 429"],
        ),
        (
            {"status": 400, "error": {"type": "invalid_request_error", "message": "no such word"}},
            ["#0 request-rejected (client, error, P): the API rejected the request: 400 no such word | #0 status 400"],
        ),
        (
            {"error": {"type": "server_error", "message": "oops"}},
            ["#0 api-overloaded (api, error, P): the API failed or was overloaded: server_error: oops | #0 response"],
        ),
        (
            {"error": {"type": "odd", "message": "oops"}},
            ["#0 api-error-in-200-stream (api, error, P): the session contains an error: odd oops | #0 response"],
        ),
        (
            {"error": {"message": "oops"}},
            ["#0 api-error-in-200-stream (api, error, P): the session contains an error: oops | #0 response"],
        ),
    ],
)
def test_an_error_of_a_session_is_one_finding_without_a_status_of_ours(
    error: dict[str, Any], reported: list[str]
) -> None:
    assert [line for line in lines(failing_session(**error)) if "no-retry" not in line] == reported


@pytest.mark.parametrize(
    ("kind", "cause"),
    [("invalid_request_error", "request-rejected"), ("authentication_error", "access-refused"), ("odd", None)],
)
def test_an_error_in_a_stream_that_blames_the_request_has_one_root(kind: str, cause: str | None) -> None:
    reported = judged(stream(sse(WORDS[0], {"error": {"message": "No.", "type": kind}})))

    assert [one.id for one in reported if not one.because_of] == [cause or "api-error-in-200-stream"]
    assert only_cause(reported, "api-error-in-200-stream") == ((cause,) if cause else ())


def only_cause(reported: list[Said], name: str) -> tuple[str, ...]:
    (one,) = (one for one in reported if one.id == name)
    return one.because_of


def test_a_session_that_sends_nothing_until_the_client_leaves_is_a_wait() -> None:
    one = session(create(1_000_000), closed_first="client", failure=GONE, ended_at=71_000_000)

    assert waits(one) == [(0, "api", "warning")]
    assert waits(replace(one, ended_at=60_900_000)) == []


def test_a_failure_that_was_answered_does_not_count_as_a_wait() -> None:
    failed = trip(CHAT, ASKED, {"error": {"message": "No.", "type": "x"}}, status=503)

    assert waits(failed, waited(0.1, index=1)) == []
    assert waits(failed, waited(2, index=1)) == []


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("You lack the permission.", ("access-refused",)),
        ("Unsupported parameter: 'stream'. You lack the permission.", ()),
    ],
)
def test_an_error_that_names_a_field_is_not_a_matter_of_access(message: str, cause: tuple[str, ...]) -> None:
    error = {"error": {"message": message, "type": "x", "code": 403}}

    assert only("api-error-in-200-stream", stream(sse(WORDS[0], error))).because_of == cause


@pytest.mark.parametrize(
    ("end", "place"), [((END,), None), ((), 177), (({"error": {"message": "No.", "type": "server_error"}},), 0)]
)
def test_a_connection_that_stays_open_after_the_answer_did_not_stall(
    end: tuple[dict[str, Any], ...], place: int | None
) -> None:
    body = sse(WORDS[0], *end)
    one = stream(body)
    assert one.response is not None
    late = replace(one, response=replace(one.response, chunks=(Chunk(len(body), 200_000),)), ended_at=100_000_000)

    at = len(body)
    expected = f"#0 api-stream-stalled (api, warning, P): no new data for 100 s at byte {at} | #0 response byte {at}"
    assert lines(late, only="api-stream-stalled") == ([] if place is None else [expected])


def test_one_body_where_a_stream_was_requested_is_reported() -> None:
    def found(one: RoundTrip) -> list[str]:
        return lines(one, only="api-stream-not-sent")

    line = (
        "#0 api-stream-not-sent (api, warning, P): the request asks for a stream and the answer is one JSON body | "
        "#0 request, #0 response"
    )
    hi = {"role": "user", "content": "hi"}
    assert found(chat([hi], said("x"), stream=True)) == [line]
    assert found(chat([hi], said("x"), stream=False)) == []
    assert found(chat([hi], said("x"))) == []
    assert found(anthropic([hi], [words("x")], stream=True)) == [line]
    assert found(responses([hi], [item_call()], stream=True)) == [line]
    assert found(anthropic([hi], error="no", stream=True)) == []


def encoded(kind: str | None, body: bytes = b'{"id": "c"}', undone: str | None = None) -> list[str]:
    one = trip(CHAT, {"model": "gpt-5", "messages": []}, body, headers=(("content-encoding", kind),) if kind else ())
    assert one.response is not None
    one = replace(one, response=replace(one.response, encoding=undone))
    return lines(one, only="api-malformed-stream")


def test_a_body_that_is_not_encoded_as_its_header_says() -> None:
    assert encoded("gzip") == [
        "#0 api-malformed-stream (api, error, P): the content-encoding is 'gzip' and the body is plain text: clients "
        "cannot decode it | #0 response byte 0"
    ]
    assert "'br' and the body" in encoded("BR", b" data: {}\n\n")[0]
    assert "content-encoding" not in " ".join(encoded("gzip", undone="gzip"))
    assert "content-encoding" not in " ".join(encoded("gzip", b"\x1f\x8b\x08"))
    assert "content-encoding" not in " ".join([*encoded("identity"), *encoded(None)])


def test_json_under_the_type_of_a_page() -> None:
    whole = chat([HELLO], said("A strip."))
    assert whole.response is not None

    def typed(kind: str) -> RoundTrip:
        assert whole.response is not None
        return replace(whole, response=replace(whole.response, headers=(("content-type", kind),)))

    assert only("api-malformed-stream", typed("text/html; charset=utf-8")).message == (
        "the content type is text/html and the body is JSON: SDKs do not parse it"
    )
    assert "the content type is text/plain and" in only("api-malformed-stream", typed("text/plain")).message
    for kind in ("application/json", "application/vnd.api+json", ""):
        assert "api-malformed-stream" not in ids(typed(kind))


def test_an_error_of_another_server_is_not_a_cut_message() -> None:
    asked_ = {"model": "claude", "max_tokens": 9, "messages": [HELLO]}

    one = only("api-error-in-200-stream", trip(MESSAGES, asked_, {"detail": "Internal server error"}))
    assert one.message == "the body with status 200 is an error: Internal server error"
    assert "api-stream-cut" in ids(trip(MESSAGES, asked_, b'{"id":'))


def chosen(**choice: object) -> RoundTrip:
    """A chat answer whose one choice has these fields."""
    body = {
        "id": "c",
        "object": "chat.completion",
        "model": "gpt-5",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "x"}, **choice}],
    }
    return trip(CHAT, {"model": "gpt-5", "messages": [HELLO]}, body)  # fmt: skip


@pytest.mark.parametrize(
    ("one", "what"),
    [
        (chosen(finish_reason={"type": "stop"}), "its finish word is an object, where the API has a text"),
        (chosen(message={"content": {"answer": 1}}), "its content is an object, where the API has a text"),
        (
            stream(sse(*WORDS, {**BASE, "choices": [{"index": 0, "delta": None, "finish_reason": "stop"}]}, done=True)),
            "a chunk has null in place of its delta",
        ),
        (
            trip(
                MESSAGES,
                {"model": "claude", "max_tokens": 9, "stream": True, "messages": [HELLO]},
                sse(
                    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
                    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "tape"}},
                    {"type": "content_block_stop", "index": 0},
                    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
                    {"type": "message_stop"},
                    names=True,
                ),
            ),
            "'content_block_start' comes without 'message_start' before it",
        ),
    ],
)
def test_an_answer_on_which_sdks_fail(one: RoundTrip, what: str) -> None:
    found = only("api-malformed-stream", one)

    assert (found.layer, found.severity) == ("api", "warning")
    assert found.message == f"the answer breaks the API's format: {what}; SDKs fail on it"


def test_an_answer_of_the_right_types_is_silent() -> None:
    parts = chosen(message={"role": "assistant", "content": [{"type": "text", "text": "x"}]})

    assert "api-malformed-stream" not in ids(chosen()) | ids(parts) | ids(stream(sse(*WORDS, END, done=True)))


@pytest.mark.parametrize(("mark", "says"), [("data: ", "a stream of events (SSE)"), ("", None)])
def test_a_stream_of_another_kind_than_the_apis(mark: str, says: str | None) -> None:
    message = {"role": "assistant", "content": "A strip."}
    piece = {"model": "m", "created_at": "2026-11-22T00:00:00Z", "message": message, "done": False}
    end = "\n\n" if mark else "\n"
    pieces = (piece, {**piece, "done": True, "done_reason": "stop"})
    body = "".join(f"{mark}{json.dumps(one)}{end}" for one in pieces).encode()
    found = judged(trip(OLLAMA, {"model": "m", "messages": [HELLO]}, body))
    heads = [one.message.partition(",")[0] for one in found if one.id == "api-malformed-stream"]

    assert heads == ([f"the body is {says}"] if says else [])


@pytest.mark.parametrize(("kind", "is_found"), [("text/plain", True), ("REDACTED", False), ("**REDACTED**", False)])
def test_a_content_type_that_the_recorder_left_out_is_not_the_apis(kind: str, is_found: bool) -> None:
    one = chat([HELLO], said("x"))
    assert one.response is not None
    headers = (("content-type", kind),)

    found = ids(replace(one, response=replace(one.response, headers=headers)))

    assert ("api-malformed-stream" in found) is is_found


def test_a_cut_names_the_code_and_the_reason_of_the_close_frame() -> None:
    closed = {"from": "server", "code": 1011, "reason": "internal error"}
    created = say("server", 20, type="response.created", response={"id": "r1", "status": "in_progress"})
    broken = replace(session(create(10), created), closed_first="server", extra={"closed": closed})

    message = only("api-stream-cut", broken).message

    assert message.endswith("(the server closed the session with code 1011: internal error)")
