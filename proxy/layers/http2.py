"""mitmproxy's HTTP/2 layers, with what they lack: resets keep their code, and a server that goes away may finish.

mitmproxy ends all streams when a GOAWAY comes, also those that the server still answers (RFC 9113, 6.8), gives most
resets another error code, answers a refused stream with an error page, and drops interim answers.
"""

# mitmproxy's layers are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportPrivateUsage=false

from typing import Any, override

import h2.config
import h2.errors
import h2.events
import h2.exceptions
from mitmproxy import http
from mitmproxy.connection import Connection, ConnectionState
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layer import CommandGenerator
from mitmproxy.proxy.layers.http import _http2 as base
from mitmproxy.proxy.layers.http._base import HttpEvent, ReceiveHttp
from mitmproxy.proxy.layers.http._events import (
    RequestHeaders,
    RequestProtocolError,
    ResponseData,
    ResponseHeaders,
    ResponseProtocolError,
)
from mitmproxy.proxy.layers.http._http_h2 import BufferedH2Connection

from .chunks import note_pieces
from .wire_events import Cause, InterimResponse, RawEnd, RawResponse, ResponsePieces, blame, cause_of

_NOT_HTTP2 = frozenset({b"transfer-encoding", b"content-length"})


class PatientConnection(BufferedH2Connection):
    """A connection that continues after a GOAWAY, for the streams that are still answered.

    It counts the frames of `connection`, so that a flood of them is read in small parts.
    """

    def __init__(self, config: h2.config.H2Configuration, connection: Connection) -> None:
        super().__init__(config)
        self._counted = connection

    @override
    def _receive_frame(self, frame: Any) -> Any:
        note_pieces(self._counted, 1)
        return super()._receive_frame(frame)

    @override
    def _receive_goaway_frame(self, frame: Any) -> Any:
        before = self.state_machine.state
        answer = super()._receive_goaway_frame(frame)
        self.state_machine.state = before
        return answer


def _name(code: int | None) -> str:
    try:
        return h2.errors.ErrorCodes(code).name
    except ValueError:
        return str(code)


class _Streams(base.Http2Connection):
    """What both sides have in common."""

    _goes_away: str | None = None
    """What the other side said when it announced the end of the connection."""

    peer: str
    """How the other side is called in messages."""

    @override
    def handle_h2_event(self, event: h2.events.Event) -> CommandGenerator[bool]:
        if isinstance(event, h2.events.DataReceived):
            return super().handle_h2_event(event)
        return self._other_h2_event(event)

    def _other_h2_event(self, event: h2.events.Event) -> CommandGenerator[bool]:
        if isinstance(event, h2.events.ConnectionTerminated) and self.streams:
            return (yield from self._going_away(event))
        cause = None
        if isinstance(event, h2.events.StreamReset):
            text = f"the {self.peer} reset the stream ({_name(event.error_code)})"
            cause = Cause(reset=event.error_code, text=text)
        elif isinstance(event, h2.exceptions.ProtocolError):
            cause = Cause(broke=True, reset=h2.errors.ErrorCodes.PROTOCOL_ERROR)
        handling = super().handle_h2_event(event)
        is_over = yield from handling if cause is None else _blamed(handling, cause)
        if not is_over and self._goes_away is not None and not self.streams:
            yield from self.close_connection(self._goes_away)
            return True
        return is_over

    def _going_away(self, event: h2.events.ConnectionTerminated) -> CommandGenerator[bool]:
        """No new streams here; those that the other side still answers go on."""
        self._goes_away = f"the {self.peer} ended the HTTP/2 connection ({_name(event.error_code)})"
        self.conn.state &= ~ConnectionState.CAN_WRITE  # so that mitmproxy opens another one for the next request
        last = event.last_stream_id
        if self.h2_conf.client_side and last is not None:
            for number in [number for number in self.streams if number > last]:
                yield self._refused(number)
                self.streams.pop(number)
        if not self.streams:
            yield from self.close_connection(self._goes_away)
            return True
        return False

    def _refused(self, number: int) -> ReceiveHttp:
        """A stream was not begun by the other side: the request can be sent again."""
        error = self.ReceiveProtocolError(number, self._goes_away or "", self.ReceiveProtocolError.code)
        blame(error, Cause(reset=h2.errors.ErrorCodes.REFUSED_STREAM, text=self._goes_away))
        return ReceiveHttp(error)

    @override
    def close_connection(self, msg: str) -> CommandGenerator[None]:
        yield from _blamed(super().close_connection(msg), Cause(text=self._goes_away))

    def _reset(self, event: HttpEvent) -> CommandGenerator[bool]:
        """Send a reset with the code that came from the other side of the proxy. False when there is none."""
        if not isinstance(event, RequestProtocolError | ResponseProtocolError):
            return False
        code = cause_of(event).reset
        if code is None:
            return False
        if not self.is_closed(event.stream_id):
            self.h2_conn.reset_stream(event.stream_id, code)
            yield commands.SendData(self.conn, self.h2_conn.data_to_send())
        return True


def _blamed[T](sending: CommandGenerator[T], cause: Cause) -> CommandGenerator[T]:
    """The same commands, their errors with this cause, unless they have one."""
    result: Any = None
    while True:
        try:
            command = sending.send(result)
        except StopIteration as exc:
            return exc.value
        if isinstance(command, ReceiveHttp):
            said = command.event
            if isinstance(said, RequestProtocolError | ResponseProtocolError) and cause_of(said) == Cause():
                blame(said, cause)
        result = yield command


class ClientSide(_Streams, base.Http2Server):
    """The layer that talks to a client."""

    peer = "client"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.h2_conn = PatientConnection(self.h2_conf, self.conn)

    @override
    def _handle_event(self, event: events.Event) -> CommandGenerator[None]:
        if isinstance(event, ResponseData | events.DataReceived):
            return super()._handle_event(event)
        if isinstance(event, ResponsePieces):
            return super()._handle_event(ResponseData(event.stream_id, b"".join(event.pieces)))
        return self._other_event(event)

    def _other_event(self, event: events.Event) -> CommandGenerator[None]:
        if isinstance(event, InterimResponse):
            if self.is_open_for_us(event.stream_id):
                heads = yield from base.format_h2_response_headers(
                    self.context, ResponseHeaders(event.stream_id, event.response)
                )
                self.h2_conn.send_headers(event.stream_id, heads)
                yield commands.SendData(self.conn, self.h2_conn.data_to_send())
        elif isinstance(event, RawResponse):
            if not self.is_closed(event.stream_id):
                self.h2_conn.reset_stream(event.stream_id, h2.errors.ErrorCodes.PROTOCOL_ERROR)
                yield commands.SendData(self.conn, self.h2_conn.data_to_send())
        elif isinstance(event, RawEnd) or isinstance(event, HttpEvent) and (yield from self._reset(event)):
            pass
        else:
            if isinstance(event, ResponseHeaders):
                event = _without_lengths(event)
            yield from super()._handle_event(event)


def _without_lengths(event: ResponseHeaders) -> ResponseHeaders:
    """An answer of an HTTP/1 upstream that names both a transfer coding and a length, without the length."""
    response = event.response
    if response.is_http2 or "transfer-encoding" not in response.headers or "content-length" not in response.headers:
        return event
    response = response.copy()
    response.headers = http.Headers([field for field in response.headers.fields if field[0].lower() not in _NOT_HTTP2])
    return ResponseHeaders(event.stream_id, response, event.end_stream)


class UpstreamSide(_Streams, base.Http2Client):
    """The layer that talks to an upstream."""

    peer = "server"
    # Odd header fields are the client's to judge, as without the proxy.
    h2_conf = h2.config.H2Configuration(**base.Http2Connection.h2_conf_defaults, client_side=True)

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.h2_conf.validate_inbound_headers = False
        self.h2_conn = PatientConnection(self.h2_conf, self.conn)
        self.h2_conn.local_settings.enable_push = 0
        self.h2_conn.local_settings.acknowledge()

    @override
    def _handle_event(self, event: events.Event) -> CommandGenerator[None]:
        yield from super()._handle_event(event)
        if self._goes_away is not None and self.stream_queue:
            waiting = list(self.stream_queue)
            self.stream_queue.clear()
            for number in waiting:
                yield self._refused(number)

    @override
    def _handle_event2(self, event: events.Event) -> CommandGenerator[None]:
        if isinstance(event, RequestHeaders) and self._goes_away is not None:
            yield self._refused(event.stream_id)
        elif isinstance(event, HttpEvent) and (yield from self._reset(event)):
            pass
        else:
            yield from super()._handle_event2(event)

    @override
    def handle_h2_event(self, event: h2.events.Event) -> CommandGenerator[bool]:
        if isinstance(event, h2.events.InformationalResponseReceived):
            return self._interim(event)
        return super().handle_h2_event(event)

    def _interim(self, event: h2.events.InformationalResponseReceived) -> CommandGenerator[bool]:
        if event.stream_id in self.streams:
            status, headers = base.parse_h2_response_headers(event.headers)
            response = http.Response(b"HTTP/2.0", status, b"", headers, None, None, 0, None)
            yield ReceiveHttp(InterimResponse(event.stream_id, response))
        return False
