"""Heads without an end are not held, and bodies of known size are passed on as they come."""

# mitmproxy's layers are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import time

import pytest
from mitmproxy import http, options
from mitmproxy.connection import ConnectionState
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers.http._base import HttpEvent, ReceiveHttp
from mitmproxy.proxy.layers.http._events import (
    RequestData,
    RequestEndOfMessage,
    RequestHeaders,
    RequestProtocolError,
    ResponseData,
    ResponseEndOfMessage,
    ResponseHeaders,
    ResponseProtocolError,
)
from mitmproxy.test import tflow, tutils

from turntape.proxy.capture.pieces import pieces_of
from turntape.proxy.layers import half_closed, http1
from turntape.proxy.layers.ahead import LaterTurn, RestLater
from turntape.proxy.layers.at_once import is_whole
from turntape.proxy.layers.wire_events import InterimResponse, RawEnd, RawResponse, RequestGoesOn, cause_of

PIECE = b"a" * 65535


def upstream() -> http1.UpstreamSide:
    """The layer of an upstream that was asked, and has not answered."""
    side = http1.UpstreamSide(Context(tflow.tclient_conn(), options.Options()))
    list(side.handle_event(events.Start()))
    list(side.handle_event(RequestHeaders(1, tutils.treq(method=b"GET", content=b""), True)))
    list(side.handle_event(RequestEndOfMessage(1)))
    return side


def client() -> http1.ClientSide:
    side = http1.ClientSide(Context(tflow.tclient_conn(), options.Options()))
    list(side.handle_event(events.Start()))
    return side


def received(side: http1.UpstreamSide | http1.ClientSide, data: bytes) -> list[HttpEvent]:
    said = list(side.handle_event(events.DataReceived(side.conn, data)))
    return [command.event for command in said if isinstance(command, ReceiveHttp)]


def test_an_answer_with_an_endless_head_is_passed_on_and_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http1, "_LONGEST_HEAD", 10 * len(PIECE))
    side = upstream()
    assert received(side, b"HTTP/1.1 200 OK\r\nx-long: ") == []
    begun = time.process_time()
    said = [event for _ in range(2000) for event in received(side, PIECE)]

    assert time.process_time() - begun < 5  # when all of it was looked at again each time: 100 s
    assert all(isinstance(event, RawResponse) for event in said) and len(side.buf) == 0
    assert isinstance(said[0], RawResponse) and said[0].long
    assert sum(len(event.data) for event in said if isinstance(event, RawResponse)) == 25 + 2000 * len(PIECE)
    ended = list(side.handle_event(events.ConnectionClosed(side.conn)))
    assert any(isinstance(command, ReceiveHttp) and isinstance(command.event, RawEnd) for command in ended)


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_head_is_found_wherever_it_is_cut(size: int) -> None:
    side = upstream()
    wire = b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\nx:  y\r\n\r\nhello"
    said = [event for at in range(0, len(wire), size) for event in received(side, wire[at : at + size])]

    assert isinstance(said[0], InterimResponse) and isinstance(said[1], ResponseHeaders)
    assert http1._unchanged_head(said[1].response) == wire[wire.index(b"HTTP/1.1 200") : -5]
    assert b"".join(event.data for event in said if isinstance(event, ResponseData)) == b"hello"
    assert isinstance(said[-1], ResponseEndOfMessage)


def test_a_request_with_an_endless_head_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http1, "_LONGEST_HEAD", 10 * len(PIECE))
    side = client()
    list(side.handle_event(events.DataReceived(side.conn, b"POST / HTTP/1.1\r\nx-long: ")))
    for _ in range(9):
        assert list(side.handle_event(events.DataReceived(side.conn, PIECE))) == []
    refused = list(side.handle_event(events.DataReceived(side.conn, PIECE)))

    assert isinstance(refused[0], commands.SendData) and refused[0].data.startswith(b"HTTP/1.1 431 ")
    assert isinstance(refused[1], commands.CloseConnection)


def test_a_body_of_known_size_is_passed_on_as_it_comes_up_to_its_end() -> None:
    side = client()
    assert received(side, b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nab")[1:] == [RequestData(1, b"ab")]
    whole = b"cdef"
    (passed,) = received(side, whole)
    assert isinstance(passed, RequestData) and passed.data is whole

    last = received(side, b"ghijPOST /next")

    assert last == [RequestData(1, b"ghij"), RequestEndOfMessage(1)]
    assert bytes(side.buf) == b"POST /next"
    exact = client()
    received(exact, b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\n")
    assert received(exact, whole) == [RequestData(1, whole), RequestEndOfMessage(1)]


@pytest.mark.parametrize("length", ["6", "6, 6", "", "9" * 40])
def test_the_last_piece_of_a_body_goes_out_at_once(length: str) -> None:
    side = upstream_of(b"content-length", length.encode())
    at_once = [sent_at_once(side, RequestData(1, piece)) for piece in (b"ab", b"cd", b"ef", b"gh")]

    assert at_once == [False, False, length == "6", False]


def test_the_end_of_chunks_goes_out_at_once() -> None:
    side = upstream_of(b"transfer-encoding", b"chunked")

    assert not sent_at_once(side, RequestData(1, b"ab"))
    assert sent_at_once(side, RequestEndOfMessage(1))


def upstream_of(name: bytes, value: bytes) -> http1.UpstreamSide:
    """The layer of an upstream that gets a request with this field."""
    side = http1.UpstreamSide(Context(tflow.tclient_conn(), options.Options()))
    list(side.handle_event(events.Start()))
    list(side.handle_event(RequestHeaders(1, tutils.treq(headers=http.Headers([(name, value)])), False)))
    return side


def sent_at_once(side: http1.UpstreamSide, event: HttpEvent) -> bool:
    list(side.handle_event(event))
    return is_whole(side.conn)


@pytest.mark.parametrize("split", range(8))
def test_blank_lines_before_a_request_mean_nothing(split: int) -> None:
    side, asked = client(), b"\r\n\r\nGET http://a/ HTTP/1.1\r\nhost: a\r\n\r\n"

    said = received(side, asked[:split]) + received(side, asked[split:])

    assert [type(event) for event in said] == [RequestHeaders, RequestEndOfMessage]


def test_each_chunk_of_a_client_counts() -> None:
    side = client()
    received(side, b"POST /v1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")

    received(side, b"1\r\na\r\n" * 600)

    assert pieces_of(side.conn) >= 600


ENDLESS = {
    "a chunk extension": b"5;x=" + b"a" * 1000,
    "trailers": b"0\r\n" + b"x: y\r\n" * 200,
    "lines that end with LF alone": b"5\nhello\n0\n\n",
}


@pytest.mark.parametrize("rest", ENDLESS.values(), ids=ENDLESS)
def test_a_body_that_continues_without_an_end_of_its_line_is_an_error(
    rest: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http1, "_LONGEST_HEAD", 500)
    head = b"POST /v1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    asked, answered = client(), upstream()
    received(asked, head)
    received(answered, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")

    for side, error in ((asked, RequestProtocolError), (answered, ResponseProtocolError)):
        [said] = received(side, rest)

        assert isinstance(said, error) and cause_of(said).broke
        assert len(side.buf) == 0 and received(side, rest) == []


def test_a_client_may_send_so_much_before_it_has_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http1, "_MOST_AHEAD", 500)
    side, request = client(), b"GET /v1 HTTP/1.1\r\nHost: x\r\n\r\n"
    received(side, request)

    assert received(side, request * 10) == []
    [said] = received(side, request * 20)

    assert isinstance(said, RequestProtocolError) and cause_of(said).broke


@pytest.mark.parametrize(("state", "looks"), [(ConnectionState.CAN_WRITE, 1), (ConnectionState.CLOSED, 0)])
def test_nobody_looks_whether_a_client_reads_that_turntape_itself_has_closed(
    state: ConnectionState, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To look takes milliseconds for each client, and hundreds may be there when a recording is stopped."""
    looked: list[object] = []
    monkeypatch.setattr(half_closed, "still_reads", lambda *place: looked.append(place))
    side = client()
    received(side, b"GET / HTTP/1.1\r\n\r\n")
    side.conn.state = state
    list(side.handle_event(events.ConnectionClosed(side.conn)))

    assert len(looked) == looks


@pytest.mark.parametrize("whole", [True, False])
def test_a_head_of_too_many_fields_is_not_read(whole: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http1, "_MOST_LINES", 20)
    monkeypatch.setattr(http1, "_MOST_OF_CLIENT", 20)
    fields = b"a:b\r\n" * 21 + (b"\r\n" if whole else b"")
    asked, answered = client(), upstream()

    said = list(asked.handle_event(events.DataReceived(asked.conn, b"GET /v1 HTTP/1.1\r\n" + fields)))
    raw = received(answered, b"HTTP/1.1 200 OK\r\n" + fields)

    assert isinstance(said[0], commands.SendData) and said[0].data.startswith(b"HTTP/1.1 431 ")
    assert isinstance(said[1], commands.CloseConnection)
    assert isinstance(raw[0], RawResponse) and raw[0].long and raw[0].data.endswith(fields)


@pytest.mark.parametrize("line", [b"\r\n", b"\n"], ids=["CRLF", "LF"])
def test_the_lines_of_a_body_do_not_count_as_fields(line: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http1, "_MOST_OF_CLIENT", 20)
    body = b"\n" * 100

    said = received(
        client(), b"POST /v1 HTTP/1.1" + line + b"Host: x" + line + b"Content-Length: 100" + line * 2 + body
    )

    assert isinstance(said[0], RequestHeaders) and isinstance(said[1], RequestData)


ASKED = b"GET /v1 HTTP/1.1\r\nhost: a\r\n\r\n"


def answered(side: http1.ClientSide) -> list[commands.Command]:
    """Answer the request that runs. What the layer says then."""
    number = side.stream_id
    response = tutils.tresp(headers=http.Headers([(b"content-length", b"0")]), content=b"")
    said = list(side.handle_event(ResponseHeaders(number, response, True)))
    return said + list(side.handle_event(ResponseEndOfMessage(number)))


def later(said: list[commands.Command]) -> LaterTurn:
    (command,) = [command for command in said if isinstance(command, LaterTurn)]
    assert not any(isinstance(other, ReceiveHttp) for other in said)
    return command


def test_each_request_that_was_sent_ahead_waits_for_a_turn_of_its_own() -> None:
    side = client()
    assert len(received(side, ASKED * 3 + ASKED[:9])) == 2

    for part in (1, 2):
        turn = later(answered(side))
        assert turn.part == part
        assert received(side, b"") == []  # what comes meanwhile changes nothing
        said = list(side.handle_event(events.Wakeup(turn)))
        assert [type(one.event) for one in said if isinstance(one, ReceiveHttp)] == [
            RequestHeaders,
            RequestEndOfMessage,
        ]
        assert list(side.handle_event(events.Wakeup(turn))) == []
    assert list(side.handle_event(events.Wakeup(later(answered(side))))) == []
    assert [type(event) for event in received(side, ASKED[9:])] == [RequestHeaders, RequestEndOfMessage]

    assert not any(isinstance(command, LaterTurn) for command in answered(side))
    received(side, ASKED * 2)
    assert later(answered(side)).part == 1  # it had nothing left before


@pytest.mark.parametrize("reads", [True, False])
@pytest.mark.parametrize("ahead", [ASKED, ASKED[:9]], ids=["whole", "cut"])
def test_a_client_that_closes_while_its_next_request_waits(
    reads: bool, ahead: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that still reads gets its answers, and then the end of the connection."""
    monkeypatch.setattr(half_closed, "still_reads", lambda *place: reads)
    side = client()
    received(side, ASKED + ahead)
    turn = later(answered(side))

    said = list(side.handle_event(events.ConnectionClosed(side.conn)))
    if reads:
        assert said == []
        said = list(side.handle_event(events.Wakeup(turn)))
        if ahead is ASKED:
            said = answered(side)

    assert isinstance(said[-1], commands.CloseConnection)
    assert list(side.handle_event(events.Wakeup(turn))) == []


def test_requests_that_wait_for_their_turn_are_not_held_without_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    side = client()
    received(side, ASKED * 2)
    later(answered(side))
    monkeypatch.setattr(http1, "_MOST_AHEAD", 100)
    assert list(side.handle_event(events.DataReceived(side.conn, ASKED))) == []

    refused = list(side.handle_event(events.DataReceived(side.conn, ASKED * 2)))

    assert isinstance(refused[0], commands.SendData) and b"64 MB of further requests" in refused[0].data
    assert isinstance(refused[1], commands.CloseConnection)


def test_each_interim_answer_counts() -> None:
    side = upstream()

    assert len(received(side, b"HTTP/1.1 103 Early Hints\r\n\r\n" * 600)) == 600
    assert pieces_of(side.conn) == 600


CHUNKED = b"POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (b"zz\r\nhello\r\n0\r\n\r\n", b"illegal chunk header"),
        (b"-5\r\n", b"illegal chunk header"),
        (b"3\r\nhello\r\n", b"malformed chunk footer"),
        (b"2\r\nhi\r\n0\r\nbad trailer\r\n\r\n", b"illegal header line"),
        (b"1" * 100_000 + b"\r\n", b"illegal chunk header"),
    ],
)
def test_a_body_that_cannot_be_read_is_answered_with_the_reason(broken: bytes, said: bytes) -> None:
    side = client()
    done = list(side.handle_event(events.DataReceived(side.conn, CHUNKED + broken)))

    sent = [command for command in done if isinstance(command, commands.SendData)]
    assert sent[0].data.startswith(b"HTTP/1.1 400 ") and said in sent[0].data and len(sent[0].data) < 1000
    assert [type(one) for one in done[-3:]] == [commands.SendData, commands.CloseConnection, ReceiveHttp]
    [error] = [
        one.event for one in done if isinstance(one, ReceiveHttp) and isinstance(one.event, RequestProtocolError)
    ]
    assert cause_of(error).broke and len(error.message) < 600


def test_a_body_that_breaks_off_after_the_answer_has_begun_ends_the_connection_alone() -> None:
    side = client()
    list(side.handle_event(events.DataReceived(side.conn, CHUNKED)))
    answer = http.Response.make(200, b"", {"content-length": "5"})
    list(side.handle_event(ResponseHeaders(1, answer)))

    done = list(side.handle_event(events.DataReceived(side.conn, b"zz\r\n")))

    assert [type(one) for one in done] == [commands.CloseConnection, ReceiveHttp]


def test_a_client_that_goes_within_its_body_gets_no_answer() -> None:
    side = client()
    list(side.handle_event(events.DataReceived(side.conn, CHUNKED + b"5\r\nhel")))

    done = list(side.handle_event(events.ConnectionClosed(side.conn)))

    assert not any(isinstance(one, commands.SendData) for one in done)


def test_it_is_said_of_a_request_that_its_rest_does_not_come() -> None:
    side = client()
    head = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n"
    asked = [one for one in side.handle_event(events.DataReceived(side.conn, head)) if isinstance(one, RestLater)]

    assert len(asked) == 1 and asked[0].streams == {1}
    (said,) = side.handle_event(events.Wakeup(asked[0]))
    assert isinstance(said, ReceiveHttp) and said.event == RequestGoesOn(1)
    assert not any(isinstance(one, RequestGoesOn) for one in received(side, b"{}"))


def test_nothing_is_said_of_a_request_whose_rest_has_come_or_is_there() -> None:
    side = client()
    head = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n"
    (asked,) = [one for one in side.handle_event(events.DataReceived(side.conn, head)) if isinstance(one, RestLater)]
    received(side, b"{}")
    assert list(side.handle_event(events.Wakeup(asked))) == []

    whole = client()
    done = whole.handle_event(events.DataReceived(whole.conn, head + b"{}"))
    assert not any(isinstance(one, RestLater) for one in done)
