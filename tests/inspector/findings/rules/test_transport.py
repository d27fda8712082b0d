"""How the answer travelled."""

from dataclasses import replace
from typing import Any

import pytest
from conversations import HELLO
from judged import CONVERSE, ids, judged, only, trip
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
        (WHOLE + b"data: [DONE]\n\n", "text/event-stream", "[DONE] came 2 times"),
        (WHOLE.replace(b"a recording", b"a r\xc3cording"), "text/event-stream", "not UTF-8"),
        (WHOLE, "application/json", "the content type is application/json"),
        (WHOLE.replace(b'"finish_reason": null', b'"finish_reason": ""', 1), "text/event-stream", "is empty"),
    ],
)
def test_a_stream_that_breaks_its_framing_is_reported(body: bytes, kind: str, said_of_it: str) -> None:
    assert said_of_it in only("api-malformed-stream", stream(body, content_type=kind)).message


def test_a_byte_that_is_not_utf8_does_not_lose_the_event() -> None:
    assert "api-stream-cut" not in ids(stream(WHOLE.replace(b"a recording", b"a r\xc3cording")))


def call(index: int | None, call_id: str | None, name: str | None, arguments: str) -> dict[str, Any]:
    item: dict[str, Any] = {"function": {"arguments": arguments}}
    if name:
        item["function"]["name"] = name
    if index is not None:
        item["index"] = index
    return chunk({"tool_calls": [item | ({"id": call_id, "type": "function"} if call_id else {})]})


CALLED = chunk(finish="tool_calls", usage={"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14})


@pytest.mark.parametrize(
    ("second", "collides"), [(0, True), (None, True), (1, False)], ids=["one index", "no index", "two indexes"]
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
