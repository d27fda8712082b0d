"""mitmproxy's layer for one exchange, which here says who ended it and never answers in the place of an upstream.

mitmproxy gives a client an error page when an upstream breaks off before its answer. Without the proxy the client
would see a closed connection or a reset stream, so that is what it gets.
"""

# mitmproxy's layers are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from typing import override

from mitmproxy import flow
from mitmproxy.connection import Connection, Server
from mitmproxy.proxy import events
from mitmproxy.proxy.layer import CommandGenerator
from mitmproxy.proxy.layers.http import DropStream, HttpLayer, HttpStream, SendHttp
from mitmproxy.proxy.layers.http._events import ErrorCode, RequestProtocolError, ResponseProtocolError
from mitmproxy.proxy.layers.http._hooks import HttpErrorHook

from turntape.cassettes.tape.model import FailureKind

from ..capture.ending import ConnectError, Ending, note, note_interim
from .wire_events import InterimResponse, ProtocolError, RawEnd, RawResponse, cause_of

_NO_HTTP = "the server's answer is not HTTP"
_CUT_HEAD = "the server closed the connection within the head of its answer"


class Exchange(HttpStream):
    """One request and its answer."""

    @override
    def _handle_event(self, event: events.Event) -> CommandGenerator[None]:
        # Not a generator itself: each chunk of a stream comes through here.
        if isinstance(event, InterimResponse):
            return self._interim(event)
        if isinstance(event, RawResponse | RawEnd):
            return self._raw(event)
        return super()._handle_event(event)

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
            self.flow.error = flow.Error(_CUT_HEAD if event.cut else f"{_NO_HTTP}: {event.data[:100]!r}")
            yield HttpErrorHook(self.flow)
        yield SendHttp(event, self.context.client)
        if isinstance(event, RawEnd):
            self.flow.live = False
            yield DropStream(self.stream_id)

    def state_raw(self, event: events.Event) -> CommandGenerator[None]:
        """The upstream does not speak HTTP: its bytes come as `RawResponse`."""
        yield from ()

    @override
    def check_invalid(self, request: bool) -> CommandGenerator[bool]:
        if not request:
            return False  # the client decides what it accepts
        is_invalid = yield from super().check_invalid(request)
        if is_invalid:
            note(self.flow, Ending("client", "protocol"))
        return is_invalid

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
        yield from super().handle_protocol_error(event)

    def _client_left(self) -> RequestProtocolError | None:
        """How the client has left while this exchange waits, for a hook or for a connection."""
        return next((event for event in self._paused_event_queue if isinstance(event, RequestProtocolError)), None)

    def _ending(self, event: ProtocolError) -> Ending:
        cause = cause_of(event)
        if isinstance(event, RequestProtocolError):
            return Ending("client", "protocol" if cause.broke else "client_gone", cause.text)
        if (left := self._client_left()) is not None:
            return self._ending(left)
        if event.code is ErrorCode.CONNECT_FAILED:
            return Ending(None, self._connect_failure())
        return Ending("server", "protocol" if cause.broke else "cut", cause.text)

    def _connect_failure(self) -> FailureKind | None:
        """Why there is no connection, as its object says; None when only the text can say it."""
        layer = next((one for one in reversed(self.context.layers) if isinstance(one, HttpLayer)), None)
        tried: list[Connection] = list(layer.connections) if layer is not None else []
        place = (self.flow.request.host, self.flow.request.port)
        for server in reversed(tried):
            if isinstance(server, Server) and server.address == place and server.error:
                if isinstance(server.error, ConnectError):
                    return server.error.kind
                return "tls" if server.tls and server.timestamp_tcp_setup and not server.timestamp_tls_setup else None
        return None
