"""What a peer of HTTP/2 has no window for is held up to a bound; then the other side is read no further."""

# mitmproxy's layers are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import asyncio
from collections.abc import Iterable
from typing import cast

import h2.config
import h2.connection
import h2.events
import pytest
from mitmproxy import http
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers.http._base import ReceiveHttp
from mitmproxy.proxy.layers.http._events import (
    ErrorCode,
    RequestData,
    RequestEndOfMessage,
    RequestHeaders,
    RequestProtocolError,
    ResponseData,
    ResponseHeaders,
)
from mitmproxy.test import taddons, tflow

from turntape.proxy.engine.fair_reads import FairReader
from turntape.proxy.engine.turns import Turns
from turntape.proxy.layers import http2
from turntape.proxy.layers.http2_connection import PatientConnection
from turntape.proxy.layers.pauses import MOST_HELD, WINDOW, pause, resume
from turntape.proxy.layers.wire_events import Pause

FIELDS = [(":method", "POST"), (":scheme", "https"), (":path", "/"), (":authority", "a.example")]


def context() -> Context:
    with taddons.context(Proxyserver()) as made:
        made.options.update(http2_ping_keepalive=0)
        found = Context(tflow.tclient_conn(), made.options)
    found.server = tflow.tserver_conn()
    return found


def pauses(done: Iterable[commands.Command]) -> list[tuple[int, bool, bool]]:
    said = [command.event for command in done if isinstance(command, ReceiveHttp)]
    return [(event.stream_id, event.paused, event.answer) for event in said if isinstance(event, Pause)]


def bytes_of(done: Iterable[commands.Command]) -> bytes:
    return b"".join(command.data for command in done if isinstance(command, commands.SendData))


def peer(*, client: bool) -> h2.connection.H2Connection:
    made = h2.connection.H2Connection(h2.config.H2Configuration(client_side=client))
    made.initiate_connection()
    return made


def asked_by(client: h2.connection.H2Connection) -> http2.ClientSide:
    """Our side of a client that has sent one request."""
    side = http2.ClientSide(context())
    client.receive_data(bytes_of(side.handle_event(events.Start())))
    client.send_headers(1, FIELDS, end_stream=False)
    list(side.handle_event(events.DataReceived(side.conn, client.data_to_send())))
    return side


def asking(server: h2.connection.H2Connection) -> http2.UpstreamSide:
    """Our side of a server that has got the head of one request."""
    side = http2.UpstreamSide(context())
    server.receive_data(bytes_of(side.handle_event(events.Start())))
    list(side.handle_event(events.DataReceived(side.conn, server.data_to_send())))
    request = http.Request.make("POST", "https://a.example/")
    request.http_version = "HTTP/2.0"
    request.headers.clear()
    request.authority = "a.example"
    server.receive_data(bytes_of(side.handle_event(RequestHeaders(1, request, False))))
    return side


def test_an_answer_that_a_client_does_not_take_pauses_its_upstream_until_it_is_taken() -> None:
    client = peer(client=True)
    side = asked_by(client)
    response = http.Response.make(200)
    response.http_version = "HTTP/2.0"
    response.headers.clear()
    sent = bytes_of(side.handle_event(ResponseHeaders(1, response, False)))
    said: list[tuple[int, bool, bool]] = []
    for _ in range(1 + MOST_HELD // (1 << 18)):
        assert not said
        done = list(side.handle_event(ResponseData(1, bytes(1 << 18))))
        said += pauses(done)
        sent += bytes_of(done)
    assert said == [(1, True, True)]

    got = 0
    while sent:
        for event in client.receive_data(sent):
            if isinstance(event, h2.events.DataReceived):
                got += len(event.data)
                client.acknowledge_received_data(event.flow_controlled_length, 1)
        done = list(side.handle_event(events.DataReceived(side.conn, client.data_to_send())))
        said += pauses(done)
        sent = bytes_of(done)

    assert said == [(1, True, True), (1, False, True)]
    assert got == MOST_HELD + (1 << 18)


def test_a_request_that_an_upstream_does_not_take_pauses_its_client_and_a_reset_ends_that() -> None:
    server = peer(client=False)
    side = asking(server)
    said = [one for _ in range(10) for one in pauses(side.handle_event(RequestData(1, bytes(MOST_HELD // 8))))]
    assert said == [(1, True, False)]

    server.reset_stream(1, 8)
    assert pauses(side.handle_event(events.DataReceived(side.conn, server.data_to_send()))) == [(1, False, False)]


@pytest.mark.parametrize("ending", ["resumed", "reset"])
def test_a_paused_stream_gets_no_further_window_until_it_continues(ending: str) -> None:
    server = peer(client=False)
    side = asking(server)
    server.receive_data(bytes_of(side.handle_event(RequestEndOfMessage(1))))
    server.send_headers(1, [(":status", "200")])
    list(side.handle_event(events.DataReceived(side.conn, server.data_to_send())))
    list(side.handle_event(Pause(1, True, True)))

    room = server.local_flow_control_window(1)
    assert room == WINDOW
    answered = b""
    for _ in range(room // 16384):
        server.send_data(1, bytes(16384))
        answered += bytes_of(side.handle_event(events.DataReceived(side.conn, server.data_to_send())))
    assert answered == b"" and server.local_flow_control_window(1) == 0

    assert cast(PatientConnection, side.h2_conn).unread == {1: WINDOW}
    last = (
        Pause(1, False, True) if ending == "resumed" else RequestProtocolError(1, "gone", ErrorCode.CLIENT_DISCONNECTED)
    )
    server.receive_data(bytes_of(side.handle_event(last)))
    assert cast(PatientConnection, side.h2_conn).unread == {}
    assert ending == "reset" or server.local_flow_control_window(1) == WINDOW


def test_a_connection_that_is_paused_is_not_read() -> None:
    async def reading() -> list[bytes]:
        reader = asyncio.StreamReader()
        reader.feed_data(b"more")
        connection = tflow.tserver_conn()
        pause(connection)
        pause(connection)

        async def never() -> None:
            raise AssertionError("nothing is sent")

        fair = FairReader(reader, cast(asyncio.ReadTransport, None), connection, 10, lambda data: True, never, Turns())
        task = asyncio.create_task(fair.read(10))
        for _ in range(10):
            await asyncio.sleep(0)
        waited = not task.done()
        resume(connection)
        resume(connection)
        return [await task, b"waited" if waited else b""]

    assert asyncio.run(reading()) == [b"more", b"waited"]
