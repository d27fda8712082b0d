"""mitmproxy's HTTP/2 layers, with what they lack: resets keep their code, and a server that goes away may finish.

mitmproxy ends all streams when a GOAWAY comes, also those that the server still answers (RFC 9113, 6.8), gives most
resets another error code, answers a refused stream with an error page, and drops interim answers.
"""

# mitmproxy's layers are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportPrivateUsage=false

from time import monotonic
from typing import Any, cast, override

import h2.config
import h2.errors
import h2.events
import h2.exceptions
from mitmproxy import http
from mitmproxy.connection import ConnectionState
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layer import CommandGenerator
from mitmproxy.proxy.layers.http import _http2 as base
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

from .ahead import RestLater
from .http2_connection import PatientConnection
from .http2_heads import odd_answer, odd_request, without_lengths
from .pauses import MOST_HELD, held
from .wire_events import (
    Cause,
    InterimResponse,
    LastResponseData,
    Pause,
    RawEnd,
    RawResponse,
    RequestGoesOn,
    ResponsePieces,
    blame,
    blamed,
    cause_of,
)

_MOST_RESETS, _RESETS_A_SECOND = 1000, 33
"""How many requests a client may take back at once, and how many more each second: each is a request to the API and a
round trip on the tape. As nghttp2, and so many servers, by default
(https://nghttp2.org/documentation/nghttp2_option_set_stream_reset_rate_limit.html, read 2026-11-23)."""
_MOST_STREAMS = 1000
"""Requests of a client that run at once on one connection. APIs allow 100 and more: those beyond its own number wait
for it here, so that no client has to wait where it would not without the proxy."""
_TOO_MANY_RESETS = (
    "the client reset too many streams at once; its connection was ended, and nothing more of it was sent on"
)


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
    takes_answer: bool
    """True for the side that answers are sent to."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)  # pyright: ignore[reportCallIssue]
        self._held: dict[int, int] = {}
        """How many bytes of these streams are held at most, since the other side has no window for them."""
        self._ended: set[int] = set()
        """Streams that were ended with the last data, before the event that says so."""
        self._stalled: set[int] = set()
        """Streams of which so much is held that the other side of the proxy waits."""

    @property
    def _windows(self) -> PatientConnection:
        return cast(PatientConnection, self.h2_conn)

    def _send_last(self, event: RequestData | ResponseData) -> CommandGenerator[None]:
        """Send the last data of a stream, and its end in the same frame."""
        if self.is_open_for_us(event.stream_id):
            self._ended.add(event.stream_id)
            self.h2_conn.send_data(event.stream_id, event.data, end_stream=True)
            if data := self.h2_conn.data_to_send():
                yield commands.SendData(self.conn, data)

    def _has_ended(self, event: HttpEvent) -> bool:
        """True for the end of a stream that was sent before."""
        if isinstance(event, RequestEndOfMessage | ResponseEndOfMessage) and event.stream_id in self._ended:
            self._ended.remove(event.stream_id)
            return True
        return False

    def _sent(self, stream_id: int, size: int) -> CommandGenerator[None]:
        """So many bytes were sent, or are held."""
        pieces = self.h2_conn.stream_buffers.get(stream_id)
        if not pieces or stream_id in self._stalled:
            self._held.pop(stream_id, None)
            return
        now = self._held.get(stream_id, 0) + size
        if now > MOST_HELD and (now := held(pieces)) > MOST_HELD:
            self._stalled.add(stream_id)
            yield ReceiveHttp(Pause(stream_id, True, self.takes_answer))
        self._held[stream_id] = now

    def _taken(self) -> CommandGenerator[None]:
        """The other side may have taken what was held."""
        for stream_id in list(self._stalled):
            if held(self.h2_conn.stream_buffers.get(stream_id, ())) <= MOST_HELD // 2:
                self._stalled.remove(stream_id)
                yield ReceiveHttp(Pause(stream_id, False, self.takes_answer))

    def _pause_or_resume(self, event: Pause) -> CommandGenerator[None]:
        """The other side of the proxy cannot take more of a stream, or can again."""
        if event.paused:
            self._windows.pause(event.stream_id)
        else:
            self._windows.resume(event.stream_id)
            if data := self.h2_conn.data_to_send():
                yield commands.SendData(self.conn, data)

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
        is_over = yield from handling if cause is None else blamed(handling, cause)
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
        yield from blamed(super().close_connection(msg), Cause(text=self._goes_away))

    def _reset(self, event: HttpEvent) -> CommandGenerator[bool]:
        """Send a reset with the code that came from the other side of the proxy. False when there is none."""
        if not isinstance(event, RequestProtocolError | ResponseProtocolError):
            return False
        self._windows.resume(event.stream_id)
        code = cause_of(event).reset
        if code is None:
            return False
        if not self.is_closed(event.stream_id):
            self.h2_conn.reset_stream(event.stream_id, code)
            yield commands.SendData(self.conn, self.h2_conn.data_to_send())
        return True


class ClientSide(_Streams, base.Http2Server):
    """The layer that talks to a client."""

    peer = "client"
    takes_answer = True
    _resets, _last_reset = 0.0, 0.0
    """Streams that the client has reset, without those that it may by now, and when it reset the last one."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.h2_conn = PatientConnection(self.h2_conf, self.conn)
        self.h2_conn.local_settings.max_concurrent_streams = _MOST_STREAMS
        self.h2_conn.local_settings.acknowledge()
        self._begun: set[int] = set()
        """Streams whose request has not ended, without those of which that was said."""
        self._waits_for_rest = False

    @override
    def _handle_event(self, event: events.Event) -> CommandGenerator[None]:
        if isinstance(event, ResponsePieces):
            event = ResponseData(event.stream_id, b"".join(event.pieces))
        if isinstance(event, ResponseData):
            return self._answer(event)
        if isinstance(event, events.DataReceived):
            return self._received(event)
        if isinstance(event, events.Wakeup) and isinstance(event.command, RestLater):
            return self._look_for_rest(event.command)
        return self._other_event(event)

    @override
    def handle_h2_event(self, event: h2.events.Event) -> CommandGenerator[bool]:
        if isinstance(event, h2.events.StreamReset):
            # mitmproxy forgets a stream whose end comes in one read with its reset; the layer above knows better.
            self.streams.setdefault(event.stream_id, base.StreamState.HEADERS_RECEIVED)
            if self._reset_too_often():
                return self._ended_for(_TOO_MANY_RESETS, h2.errors.ErrorCodes.ENHANCE_YOUR_CALM)
        if isinstance(event, h2.events.RequestReceived) and (odd := odd_request(event.headers)):
            return self._ended_for(f"Invalid HTTP/2 request headers: {odd}", h2.errors.ErrorCodes.PROTOCOL_ERROR)
        if isinstance(event, h2.events.RequestReceived):
            self._begun.add(event.stream_id)
        elif isinstance(event, h2.events.StreamEnded | h2.events.StreamReset):
            self._begun.discard(event.stream_id)
        return super().handle_h2_event(event)

    def _reset_too_often(self) -> bool:
        now = monotonic()
        self._resets = max(self._resets - (now - self._last_reset) * _RESETS_A_SECOND, 0) + 1
        self._last_reset = now
        return self._resets > _MOST_RESETS

    def _ended_for(self, what: str, code: int) -> CommandGenerator[bool]:
        """End the connection of a client that breaks the rules. Nothing more of it is sent on."""
        yield from blamed(self.protocol_error(what, code), Cause(broke=True, text=what))
        return True

    def _answer(self, event: ResponseData) -> CommandGenerator[None]:
        yield from self._send_last(event) if isinstance(event, LastResponseData) else super()._handle_event(event)
        if self.h2_conn.stream_buffers:
            yield from self._sent(event.stream_id, len(event.data))

    def _wait_for_rest(self) -> CommandGenerator[None]:
        if self._begun and not self._waits_for_rest:
            self._waits_for_rest = True
            yield RestLater(frozenset(self._begun))

    def _look_for_rest(self, asked: RestLater) -> CommandGenerator[None]:
        self._waits_for_rest = False
        late = self._begun & asked.streams
        self._begun -= late
        for number in late:
            yield ReceiveHttp(RequestGoesOn(number))
        yield from self._wait_for_rest()

    def _received(self, event: events.DataReceived) -> CommandGenerator[None]:
        yield from super()._handle_event(event)
        yield from self._wait_for_rest()
        if self._stalled:
            yield from self._taken()

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
        elif isinstance(event, Pause):
            yield from self._pause_or_resume(event)
        elif (
            isinstance(event, RawEnd)
            or isinstance(event, HttpEvent)
            and (self._has_ended(event) or (yield from self._reset(event)))
        ):
            pass
        else:
            if isinstance(event, ResponseHeaders):
                event = without_lengths(event)
            yield from super()._handle_event(event)


def _is_all_there(request: http.Request) -> bool:
    return bool(request.raw_content) and not request.stream and request.trailers is None


class UpstreamSide(_Streams, base.Http2Client):
    """The layer that talks to an upstream."""

    peer = "server"
    takes_answer = False
    # Odd header fields are the client's to judge, as without the proxy.
    h2_conf = h2.config.H2Configuration(**base.Http2Connection.h2_conf_defaults, client_side=True)

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.h2_conf.validate_inbound_headers = False
        self.h2_conn = PatientConnection(self.h2_conf, self.conn)
        self._whole: set[int] = set()
        """Streams whose request has its body in one piece, and no trailers."""
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
        elif isinstance(event, Pause):
            yield from self._pause_or_resume(event)
        elif isinstance(event, HttpEvent) and (self._has_ended(event) or (yield from self._reset(event))):
            pass
        else:
            if isinstance(event, RequestHeaders) and not event.end_stream and _is_all_there(event.request):
                self._whole.add(event.stream_id)
            if isinstance(event, RequestData) and event.stream_id in self._whole:
                self._whole.remove(event.stream_id)
                yield from self._send_last(event)
            else:
                yield from super()._handle_event2(event)
            if isinstance(event, RequestData) and self.h2_conn.stream_buffers:
                yield from self._sent(event.stream_id, len(event.data))
            elif self._stalled and isinstance(event, events.DataReceived):
                yield from self._taken()

    @override
    def handle_h2_event(self, event: h2.events.Event) -> CommandGenerator[bool]:
        if isinstance(event, h2.events.ResponseReceived | h2.events.InformationalResponseReceived):
            if odd := odd_answer(event.headers):
                return self._malformed(event.stream_id, f"the server's answer is not HTTP: {odd}")
            if isinstance(event, h2.events.InformationalResponseReceived):
                return self._interim(event)
        if isinstance(event, h2.events.DataReceived) and event.stream_ended and event.data:
            return self._last(super().handle_h2_event(event))
        return super().handle_h2_event(event)

    def _last(self, handling: CommandGenerator[bool]) -> CommandGenerator[bool]:
        """The commands for data that its server has sent with the end of the stream."""
        result: Any = None
        while True:
            try:
                command = handling.send(result)
            except StopIteration as exc:
                return exc.value
            if isinstance(command, ReceiveHttp) and isinstance(command.event, ResponseData):
                command = ReceiveHttp(LastResponseData(command.event.stream_id, command.event.data))
            result = yield command

    def _malformed(self, stream_id: int, why: str) -> CommandGenerator[bool]:
        """End a stream whose answer cannot be read, and no other one (RFC 9113, 8.1.1)."""
        if self.streams.pop(stream_id, None) is None:
            return False
        code = h2.errors.ErrorCodes.PROTOCOL_ERROR
        if not self.is_closed(stream_id):
            self.h2_conn.reset_stream(stream_id, code)
            yield commands.SendData(self.conn, self.h2_conn.data_to_send())
        error = ResponseProtocolError(stream_id, why, code=ResponseProtocolError.code)
        blame(error, Cause(broke=True, reset=code, text=why))
        yield ReceiveHttp(error)
        if self._goes_away is not None and not self.streams:
            yield from self.close_connection(self._goes_away)
            return True
        return False

    @override
    def protocol_error(
        self, message: str, error_code: int = h2.errors.ErrorCodes.PROTOCOL_ERROR
    ) -> CommandGenerator[None]:
        cause = Cause(broke=True, reset=h2.errors.ErrorCodes.PROTOCOL_ERROR, text=message)
        yield from blamed(super().protocol_error(message, error_code), cause)

    def _interim(self, event: h2.events.InformationalResponseReceived) -> CommandGenerator[bool]:
        if event.stream_id in self.streams:
            status, headers = base.parse_h2_response_headers(event.headers)
            response = http.Response(b"HTTP/2.0", status, b"", headers, None, None, 0, None)
            yield ReceiveHttp(InterimResponse(event.stream_id, response))
        return False
