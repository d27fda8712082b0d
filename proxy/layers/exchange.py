"""mitmproxy's layer for one exchange, which here says who ended it and never answers in the place of an upstream.

mitmproxy gives a client an error page when an upstream breaks off before its answer. Without the proxy the client
would see a closed connection or a reset stream, so that is what it gets.
"""

# mitmproxy's layers are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from collections.abc import Iterator
from typing import Any, override

from mitmproxy import flow
from mitmproxy.connection import Connection, ConnectionState, Server
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.layer import CommandGenerator, NextLayerHook
from mitmproxy.proxy.layers.http import DropStream, HttpLayer, HttpStream, SendHttp
from mitmproxy.proxy.layers.http._events import (
    ErrorCode,
    RequestData,
    RequestEndOfMessage,
    RequestHeaders,
    RequestProtocolError,
    ResponseData,
    ResponseEndOfMessage,
    ResponseHeaders,
    ResponseProtocolError,
)
from mitmproxy.proxy.layers.http._hooks import HttpErrorHook

from turntape.cassettes.tape.bounds import MOST_OF_A_BODY
from turntape.cassettes.tape.model import FailureKind

from ..capture.ending import ConnectError, Ending, note, note_interim
from ..capture.pending import BEGINNING, NEEDS_WHOLE, ROOM, HasRoom
from .error_answer import no_tunnel
from .half_closed import passes_half_close
from .resets import note_reset, was_reset
from .tunnel import TunnelStart
from .wire_events import (
    InterimResponse,
    LastResponseData,
    Pause,
    ProtocolError,
    RawEnd,
    RawResponse,
    RequestGoesOn,
    ResponsePieces,
    cause_of,
    without_advice,
)

_PIECE = 1 << 16
_CONTINUE, _SWITCHING = 100, 101
_NO_HTTP = "the server's answer is not HTTP"
_LONG_HEAD = "the head of the server's answer is longer than 8 MB, or has more than 10,000 fields"
_CUT_HEAD = "the server closed the connection within the head of its answer"
_RESET_HEAD = "the server reset the connection within the head of its answer"


class Exchange(HttpStream):
    """One request and its answer."""

    @override
    def _handle_event(self, event: events.Event) -> CommandGenerator[None]:
        # Not a generator itself: each chunk of a stream comes through here.
        if isinstance(event, ResponsePieces):
            return self._pieces(event.pieces)
        if isinstance(event, LastResponseData) and self.server_state == self.state_stream_response_body:
            return self._last(event)
        if isinstance(event, InterimResponse):
            return self._interim(event)
        if isinstance(event, RawResponse | RawEnd):
            return self._raw(event)
        if isinstance(event, Pause):
            return self._pause(event)
        if isinstance(event, RequestGoesOn):
            return self._pass_on_by_now()
        return super()._handle_event(event)

    def _pieces(self, pieces: list[bytes]) -> CommandGenerator[None]:
        response = self.flow.response
        if self.server_state != self.state_stream_response_body or response is None:
            for piece in pieces:
                yield from super()._handle_event(ResponseData(self.stream_id, piece))
            return
        if callable(response.stream):
            changed: list[bytes] = []
            for piece in pieces:
                data = response.stream(piece)
                changed += [data] if isinstance(data, bytes) else data
            pieces = changed
        yield SendHttp(ResponsePieces(self.stream_id, pieces), self.context.client)

    def _last(self, event: LastResponseData) -> CommandGenerator[None]:
        """Pass on that it is the last; what turntape puts into `stream` returns the data that it gets."""
        response = self.flow.response
        if response is not None and callable(response.stream):
            response.stream(event.data)
        yield SendHttp(event, self.context.client)

    @override
    def state_wait_for_request_headers(self, event: RequestHeaders) -> CommandGenerator[None]:
        """As mitmproxy's. A client that waits for `100 Continue` waits for the server's, which may refuse instead."""
        asked: tuple[tuple[bytes, bytes], ...] | None = None
        reading = super().state_wait_for_request_headers(event)
        result: Any = None
        while True:
            try:
                command = reading.send(result)
            except StopIteration:
                break
            if _is_continue(command) and self._need_not_be_whole():
                asked, result = self.flow.request.headers.fields, None  # mitmproxy now takes `Expect` out
            else:
                result = yield command
        if asked is not None:
            self.flow.request.headers.fields = asked
            yield from self._pass_on_by_now()

    def _may_pass_on(self) -> bool:
        """True for a request that is held, although nobody needs to have it whole."""
        return self.client_state == self.state_consume_request_body and self._need_not_be_whole()

    def _need_not_be_whole(self) -> bool:
        return self.flow.response is None and not self.flow.metadata.get(NEEDS_WHOLE, False)

    def _pass_on_by_now(self) -> CommandGenerator[None]:
        """Send what there is of a request, and then the rest as it comes. All of it is kept."""
        if not self._may_pass_on():
            return
        beginning = bytearray(bytes(self.request_body_buf))
        self.request_body_buf.clear()
        self.flow.request.stream = self._kept
        if ROOM in self.flow.metadata:
            self.flow.metadata[BEGINNING] = beginning
        sent = bytes(beginning)
        yield from self.start_request_stream()
        if sent and self.client_state == self.state_stream_request_body:
            yield SendHttp(RequestData(self.stream_id, sent), self.context.server)

    def _kept(self, data: bytes) -> bytes:
        """Keep a piece of a request that is passed on as it comes; an empty one is the end."""
        has_room: HasRoom | None = self.flow.metadata.get(ROOM)
        if has_room is not None:
            beginning: bytearray = self.flow.metadata[BEGINNING]
            if not data:
                self.flow.request.data.content = bytes(beginning)
            elif has_room(len(data), len(beginning)):
                beginning += data
            else:
                self.flow.metadata.pop(ROOM)
        return data

    @override
    def state_consume_request_body(self, event: events.Event) -> CommandGenerator[None]:
        if not isinstance(event, RequestData):
            return super().state_consume_request_body(event)
        if self.flow.response is not None:
            return self._answered(event)
        if len(event.data) > _PIECE and len(self.request_body_buf) + len(event.data) > MOST_OF_A_BODY:
            return self._in_pieces(event)
        has_room: HasRoom = self.flow.metadata.get(ROOM, self._has_room)
        if has_room(len(event.data), len(self.request_body_buf)):
            return super().state_consume_request_body(event)
        return self._pass_on(event)

    def _answered(self, event: RequestData) -> CommandGenerator[None]:
        """We answer: of the request, nobody needs what is not recorded."""
        has_room: HasRoom | None = self.flow.metadata.get(ROOM)
        if has_room is not None and has_room(len(event.data), len(self.request_body_buf)):
            self.request_body_buf += event.data
        else:
            self.flow.metadata.pop(ROOM, None)
        yield from ()

    def _in_pieces(self, event: RequestData) -> CommandGenerator[None]:
        """Take what was read at once bit by bit, so that of a request that is too long as much is held as may be."""
        for at in range(0, len(event.data), _PIECE):
            yield from self._handle_event(RequestData(self.stream_id, event.data[at : at + _PIECE]))

    @override
    def check_body_size(self, request: bool) -> CommandGenerator[bool]:
        """Nothing is refused for its size, and `has_room` decides what is passed on as it comes."""
        yield from ()
        return False

    def _has_room(self, more: int, so_far: int) -> bool:
        return so_far + more <= MOST_OF_A_BODY

    def _pass_on(self, event: RequestData) -> CommandGenerator[None]:
        """Send a request that is too long to be held, from its beginning on, as it comes."""
        self.flow.request.stream = True
        beginning = bytes(self.request_body_buf)
        self.request_body_buf.clear()
        if ROOM in self.flow.metadata:
            self.flow.metadata[BEGINNING] = beginning
        yield from self.start_request_stream()
        if self.client_state == self.state_stream_request_body:
            yield from self.state_stream_request_body(RequestData(self.stream_id, beginning + event.data))

    def _pause(self, event: Pause) -> CommandGenerator[None]:
        """Pass it to the other side; an answer of ours has none."""
        other = self.context.server if event.answer else self.context.client
        if (layer := self._http_layer()) is not None and other in layer.connections:
            yield SendHttp(Pause(self.stream_id, event.paused, event.answer), other)

    def _http_layer(self) -> HttpLayer | None:
        return next((one for one in reversed(self.context.layers) if isinstance(one, HttpLayer)), None)

    def _interim(self, event: InterimResponse) -> CommandGenerator[None]:
        if self.server_state == self.state_wait_for_response_headers and self.client_state != self.state_errored:
            note_interim(self.flow, event.response.status_code)
            yield SendHttp(event, self.context.client)

    def _raw(self, event: RawResponse | RawEnd) -> CommandGenerator[None]:
        if self.client_state == self.state_errored:
            return
        if isinstance(event, RawResponse) and self.server_state != self.state_raw:
            self.server_state = self.state_raw
            note(self.flow, Ending("server", "cut" if event.cut else "protocol"))
            closed = _RESET_HEAD if was_reset(self.context.server) else _CUT_HEAD
            what = closed if event.cut else _LONG_HEAD if event.long else f"{_NO_HTTP}: {event.data[:100]!r}"
            self.flow.error = flow.Error(what)
            yield HttpErrorHook(self.flow)
        if isinstance(event, RawEnd):
            self._pass_reset()
        yield SendHttp(event, self.context.client)
        if isinstance(event, RawEnd):
            self.flow.live = False
            yield DropStream(self.stream_id)

    def state_raw(self, event: events.Event) -> CommandGenerator[None]:
        """The upstream does not speak HTTP: its bytes come as `RawResponse`."""
        yield from ()

    @override
    def handle_connect_regular(self) -> CommandGenerator[None]:
        """As mitmproxy's. Where a tunnel is certainly not decrypted, its server is called before the answer."""
        self.child_layer = start = TunnelStart(self.context)
        if not self.flow.response:
            yield NextLayerHook(start)
            server = self.context.server
            if start.layer is not None and server.via is None and (error := (yield commands.OpenConnection(server))):
                self.flow.response = no_tunnel(self.flow.request.host, self.flow.request.port, error)
        yield from self.handle_connect_finish()

    @override
    def passthrough(self, event: events.Event) -> CommandGenerator[None]:
        """As mitmproxy's, which closes both directions of a connection where one is meant."""
        assert self.child_layer is not None and self.flow.response is not None
        client, server = self.context.client, self.context.server
        has_switched = self.flow.response.status_code == _SWITCHING  # a tunnel has no HTTP connection to its server
        for command in self.child_layer.handle_event(_of_connection(event, client, server)):
            if not isinstance(command, commands.SendData | commands.CloseConnection):
                yield command
                continue
            other = command.connection
            if isinstance(command, commands.SendData):
                if other is client:
                    yield SendHttp(ResponseData(self.stream_id, command.data), client)
                elif has_switched:
                    yield SendHttp(RequestData(self.stream_id, command.data), server)
                else:
                    yield command
            elif _is_half(command) and self._passes_half_close(server if other is client else client, other):
                yield command
            elif other is client and client.state & ConnectionState.CAN_WRITE:
                yield SendHttp(ResponseProtocolError(self.stream_id, "EOF", ErrorCode.PASSTHROUGH_CLOSE), client)
            elif other is server and has_switched:
                yield SendHttp(RequestProtocolError(self.stream_id, "EOF", ErrorCode.PASSTHROUGH_CLOSE), server)
            else:
                yield commands.CloseConnection(other)

    def _passes_half_close(self, closed: Connection, other: Connection) -> bool:
        client = self.context.client
        return client.alpn != b"h2" and not other.tls and passes_half_close(closed, client, other)

    @override
    def check_invalid(self, request: bool) -> CommandGenerator[bool]:
        if not request:
            return False  # the client decides what it accepts
        checking = super().check_invalid(request)
        while True:
            try:
                command = next(checking)
            except StopIteration as result:
                return result.value
            # Before the hooks. Only for what is invalid there is a command at all.
            note(self.flow, Ending("client", "protocol", self.flow.error and without_advice(self.flow.error.msg)))
            yield command

    @override
    def check_killed(self, emit_error_hook: bool) -> CommandGenerator[bool]:
        if (left := self._client_left()) is not None:
            note(self.flow, self._ending(left))
        return (yield from super().check_killed(emit_error_hook))

    @override
    def handle_protocol_error(self, event: ProtocolError) -> CommandGenerator[None]:
        note(self.flow, self._ending(event))
        if isinstance(event, ResponseProtocolError) and event.code is not ErrorCode.CONNECT_FAILED:
            event.code = ErrorCode.KILL  # which has no page
            self._pass_reset()
        yield from super().handle_protocol_error(event)

    def _pass_reset(self) -> None:
        """A server that reset its connection resets that of the client, which over HTTP/2 has other streams."""
        if was_reset(self.context.server) and self.context.client.alpn != b"h2":
            note_reset(self.context.client)

    def _client_left(self) -> RequestProtocolError | None:
        """How the client has left while this exchange waits, for a hook or for a connection."""
        return next((event for event in self._paused_event_queue if isinstance(event, RequestProtocolError)), None)

    def _ending(self, event: ProtocolError) -> Ending:
        cause = cause_of(event)
        if isinstance(event, RequestProtocolError):
            return Ending("client", "protocol", cause.text) if cause.broke else self._client_gone()
        if (left := self._client_left()) is not None:
            return self._ending(left)
        if event.code is ErrorCode.CONNECT_FAILED:
            return Ending(None, self._connect_failure())
        return Ending("server", "protocol" if cause.broke else "cut", cause.text)

    def _client_gone(self) -> Ending:
        """The client left; where the server was not reached yet, it says what the client was waiting for."""
        server = next(self._tried(), None)
        if server is None or not _is_being_made(server):
            return Ending("client", "client_gone")
        place = f"the server {self.flow.request.host}:{self.flow.request.port}"
        shaking = f"the TLS handshake with {place} was not finished"
        what = shaking if _is_in_handshake(server) else f"the connection to {place} was not made"
        return Ending("client", "client_gone", f"the client closed while {what}")

    def _connect_failure(self) -> FailureKind | None:
        """Why there is no connection, as its object says; None when only the text can say it."""
        for server in self._tried():
            if server.error:
                if isinstance(server.error, ConnectError):
                    return server.error.kind
                return "tls" if _is_in_handshake(server) else None
        return None

    def _tried(self) -> Iterator[Server]:
        """The connections to the place of the request, the last one first."""
        layer = self._http_layer()
        tried: list[Connection] = list(layer.connections) if layer is not None else []
        place = (self.flow.request.host, self.flow.request.port)
        return (one for one in reversed(tried) if isinstance(one, Server) and one.address == place)


def _is_in_handshake(server: Server) -> bool:
    """True when the server was reached, and its TLS is not there."""
    return server.tls and server.timestamp_tcp_setup is not None and server.timestamp_tls_setup is None


def _is_being_made(server: Server) -> bool:
    return server.timestamp_tcp_setup is None or _is_in_handshake(server)


def _of_connection(event: events.Event, client: Connection, server: Connection) -> events.Event:
    """What an event of HTTP means once the connection has another protocol."""
    match event:
        case RequestData():
            return events.DataReceived(client, event.data)
        case ResponseData():
            return events.DataReceived(server, event.data)
        case RequestEndOfMessage():
            return events.ConnectionClosed(client)
        case ResponseEndOfMessage():
            return events.ConnectionClosed(server)
        case _:
            return event


def _is_half(command: commands.CloseConnection) -> bool:
    return isinstance(command, commands.CloseTcpConnection) and command.half_close


def _is_continue(command: commands.Command) -> bool:
    """True for the `100 Continue` that mitmproxy makes."""
    said = command.event if isinstance(command, SendHttp) else None
    return isinstance(said, ResponseHeaders) and said.response.status_code == _CONTINUE
