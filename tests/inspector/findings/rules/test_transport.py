"""How the answer travelled."""

from dataclasses import replace
from typing import Any

import pytest
from conversations import CALL, HELLO, chat, result, said, user
from judged import (
    CONVERSE,
    anthropic,
    asked,
    ids,
    item_call,
    item_output,
    judged,
    lines,
    only,
    responses,
    trip,
    use,
)
from round_trips import CHAT, sse

from turntape.cassettes.tape.model import Chunk, Failure, RoundTrip

BASE = {"id": "c", "object": "chat.completion.chunk", "model": "gpt-5"}


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {**BASE, "choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}], **more}


WORDS = [chunk({"role": "assistant", "content": "It holds"}), chunk({"content": " a recording."})]
END = chunk(finish="stop", usage={"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14})
ASKED = {"model": "gpt-5", "messages": [HELLO], "stream": True, "stream_options": {"include_usage": True}}


def stream(body: bytes, **more: Any) -> RoundTrip:
    return trip(CHAT, ASKED, body, **more)


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


def call(index: Any, call_id: str | None, name: str | None, arguments: str) -> dict[str, Any]:
    item: dict[str, Any] = {"function": {"arguments": arguments}}
    if name:
        item["function"]["name"] = name
    if index is not None:
        item["index"] = index
    return chunk({"tool_calls": [item | ({"id": call_id, "type": "function"} if call_id else {})]})


CALLED = chunk(finish="tool_calls", usage={"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14})


@pytest.mark.parametrize(
    ("second", "collides"),
    [(0, True), (None, True), (1, False), ([], False)],
    ids=["one index", "no index", "two indexes", "a list as index"],
)
def test_calls_that_a_client_would_join_are_reported(second: int | None, collides: bool) -> None:
    first = None if second is None else 0
    events = [
        call(first, "c1", "look_up", '{"word":"a"}'), call(second, "c2", "look_up", '{"word":"b"}'), CALLED,
    ]  # fmt: skip

    assert ("api-tool-call-index-collision" in ids(stream(sse(*events, done=True)))) is collides


@pytest.mark.parametrize(("second", "doubled"), [("c1", True), ("c2", False)])
def test_one_id_for_two_calls_is_the_apis(second: str, doubled: bool) -> None:
    events = [
        call(0, "c1", "look_up", ""), call(0, None, None, '{"word":"a"}'),
        call(1, second, "look_up", ""), call(1, None, None, '{"word":"b"}'), CALLED,
    ]  # fmt: skip
    tool: dict[str, Any] = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}
    one = trip(CHAT, {**ASKED, "tools": [tool]}, sse(*events, done=True))

    assert ids(one) == ({"api-duplicate-tool-call-id"} if doubled else set())


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
    assert lines(stream(sse(*WORDS), status=399), only="api-stream-cut") != []
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


def test_calls_that_share_an_index_are_named() -> None:
    def two(first: int | None, second: int | None, last: str | None = "c2") -> list[str]:
        events = [
            call(first, "c1", "look_up", '{"word":"a"}'),
            call(second, last, "find", '{"word":"b"}' if last == "c2" else ""),
            CALLED,
        ]
        return lines(stream(sse(*events, done=True)), only="api-tool-call-index")

    assert two(0, 0) == [
        (
            "#0 api-tool-call-index-collision (api, error, P): the calls c1 and c2 (find) share index 0: "
            "clients will join their arguments | #0 call c1, #0 call c2"
        ),
    ]
    assert two(None, None) == [
        (
            "#0 api-tool-call-index-collision (api, error, P): the calls c1 and c2 (find) have no index: "
            "clients will join their arguments | #0 call c1, #0 call c2"
        ),
    ]
    assert two(0, 1) == []
    assert two(0, 0, "c1") == []
    assert two(0, 0, "null") == []
    other = call(0, "c2", "find", "{}")
    other["choices"][0]["index"] = 1
    apart = [call(0, "c1", "look_up", "{}"), other, CALLED]
    assert lines(stream(sse(*apart, done=True)), only="api-tool-call-index") == [], "calls of two choices"


def test_arguments_that_are_several_documents_in_a_row_are_named() -> None:
    def joined(arguments: str, **fields: Any) -> list[str]:
        return lines(chat([HELLO], said(None, ("c1", "look_up", arguments)), **fields), only="api-tool-call-index")

    assert joined('{"word":"a"} {"word":"b"}{"word":"c"}') == [
        (
            "#0 api-tool-call-index-collision (api, error, P): the arguments of 'look_up' are 3 JSON documents "
            "in a row: clients will join their arguments | #0 call c1"
        ),
    ]
    assert joined('{"word":"a"}') == []
    assert joined('{"word":"a"}{"word":') == []
    assert joined('{"word":"}  {"}') == []


def test_an_id_that_was_given_twice_is_named_with_both_places() -> None:
    same = said(None, CALL, CALL)
    history = [HELLO, said(None, CALL), result("call_1", "x")]
    again = chat(history, said(None, ("call_1", "find", "{}")), index=1)
    fresh = chat([HELLO, said("I looked."), user("and?")], said(None, CALL), index=1)

    assert lines(chat([HELLO], same), only="api-duplicate") == [
        ("#0 api-duplicate-tool-call-id (api, error, P): two calls of one answer have the id call_1 | #0 call call_1"),
    ]
    assert lines(chat([HELLO], said(None, CALL)), again, only="api-duplicate") == [
        (
            "#1 api-duplicate-tool-call-id (api, info, P): the id call_1 already belongs to a call of 'look_up' "
            "in #0 | #0 call call_1, #1 call call_1"
        ),
    ]
    assert lines(chat([HELLO], said("I looked.", CALL)), fresh, only="api-duplicate") == [], "nothing holds the first"
    nameless = said(None, ("", "look_up", "{}"), ("", "look_up", "{}"))
    assert lines(chat([HELLO], nameless), only="api-duplicate") == []


def test_an_id_that_was_given_twice_where_the_api_holds_the_history_is_reported() -> None:
    first = responses([{"role": "user", "content": "hi"}], [item_call()])
    second = responses([item_output()], [item_call()], 1, previous_response_id="resp_0")

    assert "api-duplicate-tool-call-id" in ids(first, second)


def test_another_attempt_may_give_the_same_id_again() -> None:
    half = replace(stream(sse(call(0, "c1", "look_up", '{"word":"a"}'))), index=0)
    again = stream(sse(call(0, "c1", "look_up", '{"word":"a"}'), CALLED, done=True), index=1)

    assert "api-stream-cut" in ids(half, again)
    assert "api-duplicate-tool-call-id" not in ids(half, again)


def test_a_tool_of_the_api_may_not_share_the_id_of_a_call() -> None:
    server = {"type": "server_tool_use", "id": "toolu_1", "name": "web_search", "input": {"query": "x"}}

    assert "api-duplicate-tool-call-id" in ids(anthropic([asked("hi")], [use(), server]))


def test_an_answer_that_the_client_cancelled_was_interrupted() -> None:
    answer = {"id": "r", "object": "response", "status": "cancelled", "output": []}
    asked_for = {"model": "gpt-5.1", "input": "hi"}
    cancelled = trip("https://api.openai.com/v1/responses", asked_for, answer)

    assert lines(replace(cancelled, closed_first="client"), only="client-inter") != []


def test_a_stall_needs_no_time_of_the_request() -> None:
    bare = replace(timed(75), first_byte_at=None, request_at=None)

    assert lines(bare, only="api-stream-stalled") == lines(timed(75), only="api-stream-stalled")


def test_a_page_that_is_not_text_is_quoted_as_far_as_it_can_be_read() -> None:
    plain = {"model": "gpt-5", "messages": [HELLO]}
    [line] = lines(trip(CHAT, plain, b"<html>\xff\xfe", content_type="text/html"), only="api-malformed")

    assert "it begins with '<html>\ufffd\ufffd'" in line
    text = {"choices": [{"message": {"role": "assistant", "content": "Hello."}}]}
    assert lines(trip(CHAT, plain, text), only="api-malformed") == [], "an answer without any count is an answer"


def test_calls_without_ids_are_shown_by_their_names() -> None:
    joined = said(None, ("", "look_up", '{"word":"a"}{"word":"b"}'))
    mixed = said(None, ("", "look_up", "{}"), CALL, CALL)

    assert lines(chat([HELLO], joined), only="api-tool-call-index")[0].endswith("| #0 call look_up")
    assert lines(chat([HELLO], mixed), only="api-duplicate") != []
