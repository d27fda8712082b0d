"""The messages in one round trip, over each transport."""

import json
from dataclasses import replace

import pytest
from tool_wire import STREAM, URL, answers, asks, encoded, events, fails, http, in_run, notifies, stdio

from turntape.cassettes.errors import CassetteError
from turntape.cassettes.tape.model import Chunk, RoundTrip
from turntape.inspector.wire.protocols.mcp.messages import address_of, messages_in, session_of

CALL = asks(1, "tools/call", name="t")
DONE = answers(1, content=[])
MORE = notifies("notifications/progress", progressToken=1, progress=1)


def said(trip: RoundTrip) -> list[tuple[str, int, object]]:
    return [(one.sender, one.at, one.data) for one in messages_in(trip)]


def test_a_json_answer_is_one_message_at_its_last_byte() -> None:
    trip = http(CALL, DONE, chunks=(Chunk(5, 30), Chunk(5, 44)))
    assert said(trip) == [("client", 10, CALL), ("server", 44, DONE)]
    assert [one.raw for one in messages_in(trip)] == [encoded(CALL), encoded(DONE)]
    assert [one.answer for one in messages_in(trip)] == [False, True]


def test_without_chunks_the_end_is_the_time_of_an_answer() -> None:
    assert [one.at for one in messages_in(http(CALL, DONE))] == [10, 20]
    assert [one.at for one in messages_in(http(CALL, DONE, ended_at=None))] == [10, 15]


def test_a_stream_without_the_times_of_its_pieces_comes_after_its_request() -> None:
    assert said(http(CALL, events(MORE, DONE), kind=STREAM)) == [
        ("client", 10, CALL),
        ("server", 20, MORE),
        ("server", 20, DONE),
    ]


def test_each_event_has_its_own_time() -> None:
    first, second = events(MORE), events(DONE)
    trip = http(CALL, first + second, kind=STREAM, chunks=(Chunk(len(first), 30), Chunk(len(second), 99)))
    assert said(trip) == [("client", 10, CALL), ("server", 30, MORE), ("server", 99, DONE)]


def test_ids_retries_comments_and_empty_events_are_not_messages() -> None:
    stream = (
        b": ping\n\nid: 1\nretry: 3000\ndata:\n\nid: 2\ndata: "
        + encoded(DONE)
        + b"\n\n"
        + events(b"/x", name="endpoint")
    )
    assert said(http(CALL, stream, kind=STREAM))[1:] == [("server", 20, DONE)]


def test_an_event_over_several_lines_is_one_message() -> None:
    lines = json.dumps(DONE, indent=1).replace("\n", "\ndata: ")
    assert said(http(CALL, f"data: {lines}\n\n".encode(), kind=STREAM))[1:] == [("server", 20, DONE)]


def test_an_event_that_was_cut_is_not_a_message() -> None:
    whole = events(MORE) + events(DONE)
    assert [data for _, _, data in said(http(CALL, whole[:-4], kind=STREAM))] == [CALL, MORE]
    assert [data for _, _, data in said(http(CALL, whole[:-30], kind=STREAM))] == [CALL, MORE]


def test_a_stream_is_known_by_its_bytes_too() -> None:
    assert said(http(CALL, events(DONE), kind="application/json"))[1] == ("server", 20, DONE)
    assert said(http(CALL, DONE, kind=STREAM))[1] == ("server", 20, DONE)


def test_a_batch_is_several_messages_with_their_own_bytes() -> None:
    batch = b"[ %s , %s,7]" % (encoded(CALL), encoded(MORE))
    found = messages_in(http(batch, [DONE, fails(2)]))
    assert [one.data for one in found] == [CALL, MORE, DONE, fails(2)]
    assert [one.raw for one in found][:2] == [encoded(CALL), encoded(MORE)]


@pytest.mark.parametrize("body", [b"Session not found", b'{"error": "no"}', b"", b"[1, 2]", b"null", b'"jsonrpc"'])
def test_over_http_only_json_rpc_counts(body: bytes) -> None:
    assert said(http(CALL, body)) == [("client", 10, CALL)]


def test_over_stdio_every_line_counts() -> None:
    assert said(stdio(b"Listening on stdio", sender="server")) == [("server", 0, {})]
    assert said(stdio({"not": "rpc"})) == [("client", 0, {"not": "rpc"})]
    assert said(stdio([CALL, MORE])) == [("client", 0, CALL), ("client", 0, MORE)]
    assert said(stdio(b"[1] starting")) == [("client", 0, {})]
    assert said(stdio(b"")) == [("client", 0, {})]


def test_over_stdio_the_other_side_answers() -> None:
    assert said(stdio(CALL, DONE)) == [("client", 0, CALL), ("server", 20, DONE)]
    assert said(stdio(asks(0, "roots/list"), answers(0), sender="server"))[1] == ("client", 20, answers(0))


def test_a_body_that_cannot_be_given_costs_only_its_round_trip() -> None:
    def lost() -> bytes:
        raise CassetteError("gone")

    trip = http(CALL, DONE)
    assert messages_in(replace(trip, request=replace(trip.request, content=lost))) == []


def test_a_session_has_its_id_from_either_side() -> None:
    assert session_of(http(CALL)) == "s-1"
    assert session_of(http(CALL, headers=(), answer_headers=(("mcp-session-id", "s-2"),))) == "s-2"
    assert session_of(stdio(CALL, session="p")) == "p"


def test_without_an_id_the_run_and_the_address_are_the_session() -> None:
    trip = http(CALL, headers=(), url=f"{URL}?token=x&a=1#f")
    assert session_of(trip) == f"{URL}?a=1"
    assert session_of(in_run(trip, "r")) == f"r:{URL}?a=1"


@pytest.mark.parametrize(
    "named", [b"/messages?sessionId=7", b"messages?sessionId=7", b"http://h/messages?sessionId=7&token=x"]
)
def test_an_old_stream_has_the_address_that_it_names(named: bytes) -> None:
    stream = http(None, events(named, name="endpoint"), method="GET", kind=STREAM, headers=(), url="http://h/sse")
    assert address_of(stream) == "http://h/messages?sessionId=7"
    assert session_of(stream) == session_of(http(CALL, headers=(), url="http://h/messages?sessionId=7"))


@pytest.mark.parametrize("named", [b"http://[", b"\xff\xfe", b""])
def test_an_invalid_address_is_not_a_problem(named: bytes) -> None:
    stream = http(None, events(named, name="endpoint"), method="GET", kind=STREAM, headers=(), url="http://h/sse")
    assert address_of(stream).startswith("http://h")
