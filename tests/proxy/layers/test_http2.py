"""Frames are counted, so that a flood of them is read in small parts; the last data ends its stream."""

# mitmproxy's layers are only partly typed.
# pyright: reportUnknownMemberType=false

from typing import Any

import h2.config
import h2.connection
import h2.events
import h2.exceptions
import pytest
from h2.settings import SettingCodes
from mitmproxy import http
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers.http._base import ReceiveHttp
from mitmproxy.proxy.layers.http._events import (
    RequestData,
    RequestEndOfMessage,
    RequestHeaders,
    RequestProtocolError,
    RequestTrailers,
    ResponseData,
    ResponseEndOfMessage,
    ResponseHeaders,
)
from mitmproxy.test import taddons, tflow

from turntape.proxy.capture.pieces import pieces_of
from turntape.proxy.engine.fair_reads import MOST_PIECES
from turntape.proxy.layers import http2
from turntape.proxy.layers.ahead import RestLater
from turntape.proxy.layers.wire_events import LastResponseData, RequestGoesOn, cause_of

FIELDS = [(":method", "GET"), (":scheme", "https"), (":path", "/"), (":authority", "a.example")]


def side_of_client() -> tuple[http2.ClientSide, h2.connection.H2Connection]:
    with taddons.context(Proxyserver()) as context:
        side = http2.ClientSide(Context(tflow.tclient_conn(), context.options))
    list(side.handle_event(events.Start()))
    client = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
    client.initiate_connection()
    return side, client


def reset_streams(side: http2.ClientSide, client: h2.connection.H2Connection, count: int) -> list[list[object]]:
    """What was said of each stream that was opened and reset at once, until the connection was ended."""
    said: list[list[object]] = []
    for number in range(1, 2 * count, 2):
        client.send_headers(number, FIELDS, end_stream=True)
        client.reset_stream(number, 8)
        done = list(side.handle_event(events.DataReceived(side.conn, client.data_to_send())))
        said.append([command.event for command in done if isinstance(command, ReceiveHttp)])
        if any(isinstance(command, commands.CloseConnection) for command in done):
            break
    return said


def test_a_reset_that_comes_with_the_end_of_the_request_is_not_lost() -> None:
    [[begun, ended, gone]] = reset_streams(*side_of_client(), 1)

    assert isinstance(begun, RequestHeaders) and isinstance(ended, RequestEndOfMessage)
    assert isinstance(gone, RequestProtocolError) and cause_of(gone).reset == 8


def test_a_client_may_send_more_requests_at_once_than_an_api_takes() -> None:
    side, client = side_of_client()
    for number in range(1, 1000, 2):
        client.send_headers(number, FIELDS, end_stream=True)

    done = list(side.handle_event(events.DataReceived(side.conn, client.data_to_send())))

    begun = [one.event for one in done if isinstance(one, ReceiveHttp) and isinstance(one.event, RequestHeaders)]
    assert len(begun) == 500 and not any(isinstance(command, commands.CloseConnection) for command in done)


@pytest.mark.parametrize("ends", [True, False])
def test_it_is_said_of_a_request_that_its_rest_does_not_come(ends: bool) -> None:
    side, client = side_of_client()
    client.send_headers(1, FIELDS)
    done = list(side.handle_event(events.DataReceived(side.conn, client.data_to_send())))
    (asked,) = [command for command in done if isinstance(command, RestLater)]
    client.send_data(1, b"{}", end_stream=ends)
    client.send_headers(3, FIELDS)
    list(side.handle_event(events.DataReceived(side.conn, client.data_to_send())))

    done = list(side.handle_event(events.Wakeup(asked)))

    said = [command.event for command in done if isinstance(command, ReceiveHttp)]
    assert said == ([] if ends else [RequestGoesOn(1)])
    assert [command.streams for command in done if isinstance(command, RestLater)] == [{3}]


def test_a_request_that_is_whole_has_no_timer() -> None:
    side, client = side_of_client()
    client.send_headers(1, FIELDS)
    client.send_data(1, b"{}", end_stream=True)

    done = side.handle_event(events.DataReceived(side.conn, client.data_to_send()))

    assert not any(isinstance(command, RestLater) for command in done)


@pytest.mark.parametrize(("seconds", "count"), [(0.0, 11), (0.04, 30), (0.02, 28)])
def test_a_client_that_resets_its_streams_too_often_is_ended(
    seconds: float, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """33 a second are allowed, and so many more at once."""
    monkeypatch.setattr(http2, "_MOST_RESETS", 10)
    monkeypatch.setattr(http2, "monotonic", iter(seconds * number for number in range(1000)).__next__)

    said = reset_streams(*side_of_client(), 30)

    last = [one for one in said[-1] if isinstance(one, RequestProtocolError)]
    assert len(said) == count
    assert [cause_of(one).broke for one in last] == [count < 30]


@pytest.mark.parametrize(
    "flood", [b"\0\0\x08\x06\0\0\0\0\0" + b"x" * 8, b"\0\0\0\x04\0\0\0\0\0"], ids=["ping", "settings"]
)
def test_each_frame_of_a_client_counts(flood: bytes) -> None:
    side, other = side_of_client()
    list(side.handle_event(events.DataReceived(side.conn, other.data_to_send())))
    before = pieces_of(side.conn)

    list(side.handle_event(events.DataReceived(side.conn, flood * 600)))

    assert (before, pieces_of(side.conn), pieces_of(side.conn)) == (1, 600, 0)


def test_a_frame_that_begins_a_request_counts_as_many_others() -> None:
    """So that a flood of requests is read in parts as small as a flood of frames that cost less."""
    side, client = side_of_client()
    list(side.handle_event(events.DataReceived(side.conn, client.data_to_send())))
    pieces_of(side.conn)
    for number in range(1, 61, 2):
        client.send_headers(number, FIELDS, end_stream=True)
        client.reset_stream(number, 8)

    list(side.handle_event(events.DataReceived(side.conn, client.data_to_send())))

    assert pieces_of(side.conn) > MOST_PIECES


@pytest.mark.parametrize(("asked", "used"), [(2**31 - 1, 4096), (65536, 4096), (4096, 4096), (100, 100), (0, 0)])
def test_the_table_of_header_fields_is_never_longer_than_it_has_to_be(asked: int, used: int) -> None:
    side, client = side_of_client()
    client.update_settings({SettingCodes.HEADER_TABLE_SIZE: asked})
    list(side.handle_event(events.DataReceived(side.conn, client.data_to_send())))

    assert side.h2_conn.encoder.header_table_size == used


@pytest.mark.parametrize(
    ("name", "value", "is_sent_on"),
    [
        (":method", "POST /hidden", False),
        (":method", "", False),
        (":path", "/a b", False),
        (":path", "http://b.example/", False),
        (":method", "M-SEARCH", True),
        (":path", "/a?b=c#d", True),
        (":path", "*", True),
    ],
)
def test_a_method_and_a_path_that_make_another_line_over_http1_are_not_sent_on(
    name: str, value: str, is_sent_on: bool
) -> None:
    side, client = side_of_client()
    fields = [(field, value if field == name else known) for field, known in FIELDS]
    client.config.validate_outbound_headers = False
    client.send_headers(1, fields, end_stream=True)
    done = list(side.handle_event(events.DataReceived(side.conn, client.data_to_send())))

    said = [command.event for command in done if isinstance(command, ReceiveHttp)]
    assert any(isinstance(event, RequestHeaders) for event in said) == is_sent_on
    assert any(isinstance(command, commands.CloseConnection) for command in done) != is_sent_on


# The end of a stream

SIZES = [1, 1 << 14, 60_000, 100_000]
"""The peers' window is 65,535 bytes, and their frames have up to 16,384."""


def handled(side: http2.ClientSide | http2.UpstreamSide, peer: h2.connection.H2Connection, event: Any) -> list[Any]:
    """Give an event to a layer, and what it sends to its peer; what the layer says to those above."""
    said: list[Any] = []
    for command in side.handle_event(event):
        if isinstance(command, commands.SendData):
            arrived.extend(peer.receive_data(command.data))
        elif isinstance(command, ReceiveHttp):
            said.append(command.event)
    return said


arrived: list[Any] = []
"""What the peer saw."""


@pytest.fixture(autouse=True)
def _clear() -> None:
    arrived.clear()


def read_all(side: http2.ClientSide | http2.UpstreamSide, peer: h2.connection.H2Connection) -> bytes:
    """The data that the peer gets when it opens its window for all of it."""
    plain, at = b"", 0
    while at < len(arrived):
        event = arrived[at]
        at += 1
        if isinstance(event, h2.events.DataReceived):
            plain += event.data
            if not event.stream_ended:
                peer.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            handled(side, peer, events.DataReceived(side.conn, peer.data_to_send()))
    return plain


def ends() -> list[str]:
    """The events that ended a stream, and any error."""
    return [
        type(event).__name__
        for event in arrived
        if getattr(event, "stream_ended", None) or isinstance(event, h2.events.StreamReset | h2.events.TrailersReceived)
    ]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("data", [LastResponseData, ResponseData])
def test_the_last_data_of_an_answer_ends_its_stream(size: int, data: type[ResponseData]) -> None:
    side, client = side_of_client()
    client.send_headers(1, FIELDS, end_stream=True)
    handled(side, client, events.DataReceived(side.conn, client.data_to_send()))
    response = http.Response.make(200)
    response.headers.clear()
    plain = bytes(number % 251 for number in range(size))

    for event in (ResponseHeaders(1, response), data(1, plain), ResponseEndOfMessage(1)):
        handled(side, client, event)

    assert read_all(side, client) == plain
    assert ends() == ["DataReceived"]
    [last] = [event for event in arrived if isinstance(event, h2.events.DataReceived) and event.stream_ended]
    assert bool(last.data) == (data is LastResponseData)


def side_of_server() -> tuple[http2.UpstreamSide, h2.connection.H2Connection]:
    server = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
    server.initiate_connection()
    with taddons.context(Proxyserver()) as context:
        side = http2.UpstreamSide(Context(tflow.tclient_conn(), context.options))
    side.conn.alpn = b"h2"
    handled(side, server, events.Start())
    handled(side, server, events.DataReceived(side.conn, server.data_to_send()))
    arrived.clear()
    return side, server


def asked(content: bytes | None) -> http.Request:
    request = http.Request.make("POST", "https://a.example/", b"", {})
    request.headers.clear()
    request.http_version, request.authority, request.raw_content = "HTTP/2.0", "a.example", content
    return request


@pytest.mark.parametrize("size", SIZES)
def test_a_request_that_is_whole_ends_with_its_data(size: int) -> None:
    side, server = side_of_server()
    request = asked(b"x" * size)

    for event in (RequestHeaders(1, request, False), RequestData(1, b"x" * size), RequestEndOfMessage(1)):
        handled(side, server, event)

    assert read_all(side, server) == b"x" * size
    assert ends() == ["DataReceived"]
    assert [event.data for event in arrived if isinstance(event, h2.events.DataReceived)][-1]


def test_a_request_that_is_passed_on_as_it_comes_ends_when_its_client_says_so() -> None:
    side, server = side_of_server()
    request = asked(None)
    request.stream = True

    for event in (RequestHeaders(1, request, False), RequestData(1, b"a"), RequestData(1, b"b")):
        handled(side, server, event)
    assert ends() == []
    handled(side, server, RequestEndOfMessage(1))

    assert (read_all(side, server), ends()) == (b"ab", ["DataReceived"])


def test_trailers_of_a_request_follow_its_data() -> None:
    side, server = side_of_server()
    request = asked(b"a")
    request.trailers = http.Headers(x="1")

    for event in (
        RequestHeaders(1, request, False),
        RequestData(1, b"a"),
        RequestTrailers(1, request.trailers),
        RequestEndOfMessage(1),
    ):
        handled(side, server, event)

    assert (read_all(side, server), ends()) == (b"a", ["TrailersReceived"])


@pytest.mark.parametrize(
    ("ending", "kinds"),
    [
        ("data", [ResponseHeaders, ResponseData, LastResponseData, ResponseEndOfMessage]),
        ("empty", [ResponseHeaders, ResponseData, ResponseData, ResponseEndOfMessage]),
        ("trailers", None),
    ],
)
def test_only_data_that_comes_with_the_end_is_the_last(ending: str, kinds: list[type] | None) -> None:
    side, server = side_of_server()
    for event in (RequestHeaders(1, asked(b"a"), False), RequestData(1, b"a"), RequestEndOfMessage(1)):
        handled(side, server, event)
    server.send_headers(1, [(":status", "200")])
    server.send_data(1, b"a")
    server.send_data(1, b"b", end_stream=ending == "data")
    if ending == "empty":
        server.end_stream(1)
    if ending == "trailers":
        server.send_headers(1, [("x", "1")], end_stream=True)

    said = handled(side, server, events.DataReceived(side.conn, server.data_to_send()))

    if kinds is None:
        assert LastResponseData not in [type(event) for event in said]
    else:
        assert [type(event) for event in said] == kinds
