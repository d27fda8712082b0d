"""What a server sent before it broke the protocol counts; what is not HTTP/2 is known by its first bytes."""

# mitmproxy's layers are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from typing import Any

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import pytest
from h2.settings import SettingCodes, Settings
from mitmproxy.proxy.layers.http._http_h2 import BufferedH2Connection
from mitmproxy.test import tflow

from turntape.proxy.layers.http2_connection import PatientConnection

FIELDS = [(":method", "POST"), (":scheme", "https"), (":path", "/"), (":authority", "a.example")]
ANSWER = [(":status", "200")]
SIZES = [1, 1 << 14, 60_000, 100_000]


def begun(kind: type[BufferedH2Connection], *args: Any, window: int, frame: int) -> BufferedH2Connection:
    """A connection of a client with an open request, to a server with these limits."""
    connection = kind(h2.config.H2Configuration(client_side=True), *args)
    server = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
    server.local_settings = Settings(
        False, {SettingCodes.INITIAL_WINDOW_SIZE: window, SettingCodes.MAX_FRAME_SIZE: frame}
    )
    connection.initiate_connection()
    server.initiate_connection()
    server.increment_flow_control_window(1 << 20)
    connection.receive_data(server.data_to_send())
    connection.send_headers(1, FIELDS)
    connection.data_to_send()
    return connection


@pytest.mark.parametrize("window", [1, 20_000, 1 << 20])
@pytest.mark.parametrize("frame", [1 << 14, 1 << 17])
@pytest.mark.parametrize("end", [False, True])
@pytest.mark.parametrize("size", [*SIZES, 1 << 15, 1 << 17, 300_000])
def test_full_frames_are_those_of_h2(window: int, frame: int, end: bool, size: int) -> None:
    ours = begun(PatientConnection, tflow.tserver_conn(), window=window, frame=frame)
    theirs = begun(BufferedH2Connection, window=window, frame=frame)
    body = bytes(number % 251 for number in range(size))
    step = theirs.max_outbound_frame_size
    assert (step, theirs.local_flow_control_window(1)) == (frame, window)

    for data in (body, body[:9]):
        ours.send_data(1, data)
        for start in range(0, len(data), step):
            theirs.send_data(1, data[start : start + step])
    ours.send_data(1, body, end_stream=end)
    for start in range(0, size, step):
        theirs.send_data(1, body[start : start + step], end_stream=end and start + step >= size)

    assert ours.data_to_send() == theirs.data_to_send()
    assert ours.local_flow_control_window(1) == theirs.local_flow_control_window(1)
    assert ours.outbound_flow_control_window == theirs.outbound_flow_control_window
    assert ours.streams[1].open == theirs.streams[1].open
    assert b"".join(data for data, _ in ours.stream_buffers[1]) == b"".join(
        data for data, _ in theirs.stream_buffers[1]
    )


@pytest.mark.parametrize("size", [1, 100_000])
def test_nothing_is_sent_on_a_stream_that_is_closed(size: int) -> None:
    connection = begun(PatientConnection, tflow.tserver_conn(), window=1 << 20, frame=1 << 14)
    connection.end_stream(1)
    connection.data_to_send()

    with pytest.raises(h2.exceptions.ProtocolError):
        connection.send_data(1, b"x" * size)

    assert connection.data_to_send() == b""


def asking(*, client: bool = True) -> PatientConnection:
    """Our side of a connection; as a client with a request that waits for its answer."""
    made = PatientConnection(h2.config.H2Configuration(client_side=client), tflow.tserver_conn())
    made.initiate_connection()
    if client:
        made.send_headers(1, FIELDS, end_stream=True)
    made.data_to_send()
    return made


def answering() -> tuple[PatientConnection, h2.connection.H2Connection]:
    """Our side, with a request that waits for its answer, and its server."""
    ours = PatientConnection(h2.config.H2Configuration(client_side=True), tflow.tserver_conn())
    server = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
    ours.initiate_connection()
    server.initiate_connection()
    ours.send_headers(1, FIELDS, end_stream=True)
    server.receive_data(ours.data_to_send())
    return ours, server


def frame(kind: int, flags: int, stream: int, data: bytes = b"", *, size: int | None = None) -> bytes:
    """A frame of HTTP/2 (RFC 9113, 4.1), perhaps with another length than it has."""
    return (len(data) if size is None else size).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4) + data


BROKEN = {
    "a header block after the end": frame(1, 5, 1, b"\x88"),
    "a setting that is not one": frame(4, 0, 0, b"\0\4\xff\xff\xff\xff"),
    "a ping of seven bytes": frame(6, 0, 0, b"1234567"),
    "a frame that is too long": frame(0, 0, 1, b"x", size=1 << 20),
    "padding that is too long": frame(0, 9, 1, b"\xffx"),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("apart", [False, True])
def test_an_answer_that_came_before_the_protocol_is_broken_is_not_lost(broken: bytes, apart: bool) -> None:
    """However the bytes are split over reads."""
    ours, server = answering()
    server.send_headers(1, ANSWER)
    server.send_data(1, b"hello", end_stream=True)
    data = server.data_to_send()

    came: list[Any] = []
    for part in (data, broken) if apart else (data + broken,):
        came += ours.receive_data(part)

    assert [event.data for event in came if isinstance(event, h2.events.DataReceived)] == [b"hello"]
    assert [type(event) for event in came][-2:-1] == [h2.events.StreamEnded]
    assert isinstance(came[-1], h2.exceptions.ProtocolError)
    ours.acknowledge_received_data(5, 1)  # as mitmproxy does for each piece, although nothing can be sent


TEXT = b"HTTP/1.1 400 Bad Request\r\nConnection: keep-alive\r\n\r\n"


@pytest.mark.parametrize(
    ("said", "quoted"),
    [
        (TEXT, "HTTP/1.1 400 Bad Request"),
        (TEXT[:9], "HTTP/1.1 "),
        (frame(6, 0, 0, b"12345678"), "PingFrame"),
        (frame(1, 4, 1, b"\x88"), "HeadersFrame"),
        (b"\xff" * 100, "SETTINGS"),
    ],
)
def test_a_server_that_does_not_begin_with_settings_does_not_speak_http2(said: bytes, quoted: str) -> None:
    """Nobody waits for the millions of bytes that its first letters announce."""
    [error] = asking().receive_data(said)

    assert isinstance(error, h2.exceptions.ProtocolError)
    assert quoted in str(error)


def test_fewer_bytes_than_the_head_of_a_frame_are_waited_for() -> None:
    ours = asking()
    settings = frame(4, 0, 0)

    came = [ours.receive_data(settings[at : at + 1]) for at in range(len(settings))]

    assert [[type(event) for event in events] for events in came] == [[]] * 8 + [[h2.events.RemoteSettingsChanged]]


@pytest.mark.parametrize("client", [True, False])
@pytest.mark.parametrize(("size", "is_long"), [(1 << 17, False), ((1 << 17) + 1, True), ((1 << 24) - 1, True)])
def test_a_frame_that_is_too_long_is_not_waited_for(size: int, is_long: bool, client: bool) -> None:
    ours = asking(client=client)
    begin = b"" if client else b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    ours.receive_data(begin + frame(4, 0, 0))
    ours.data_to_send()
    head = frame(0, 0, 1, size=size)

    if is_long and not client:
        with pytest.raises(h2.exceptions.FrameTooLargeError):
            ours.receive_data(head)
    else:
        assert [type(event) for event in ours.receive_data(head)] == [h2.exceptions.FrameTooLargeError] * is_long
    ended = frame(7, 0, 0, b"\0\0\0\0" + int(h2.errors.ErrorCodes.FRAME_SIZE_ERROR).to_bytes(4))
    assert ours.data_to_send() == ended * is_long


def test_the_error_for_a_stream_that_is_not_open_is_a_sentence() -> None:
    ours = asking()

    *_, error = ours.receive_data(frame(4, 0, 0) + frame(8, 0, 77, b"\0\0\0\1"))

    assert str(error) == "the server sent a frame for stream 77, which is not open"
