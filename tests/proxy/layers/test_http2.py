"""Frames are counted, so that a flood of them is read in small parts."""

# mitmproxy's layers are only partly typed.
# pyright: reportUnknownMemberType=false

import h2.config
import h2.connection
import pytest
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers.http._base import ReceiveHttp
from mitmproxy.proxy.layers.http._events import RequestEndOfMessage, RequestHeaders, RequestProtocolError
from mitmproxy.test import taddons, tflow

from turntape.proxy.layers import http2
from turntape.proxy.layers.chunks import pieces_of
from turntape.proxy.layers.wire_events import cause_of

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
