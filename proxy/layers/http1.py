"""mitmproxy's HTTP/1 layers, with what they lack: trailers, interim answers, and answers that are odd but readable.

mitmproxy ends an exchange at the first answer that has a status from 100 to 199, and replaces an answer that it finds
unsafe by an error page. Here interim answers are passed on, framing is read as clients read it, and an answer that is
not HTTP at all reaches the client byte for byte.
"""

# mitmproxy's layers are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportPrivateUsage=false

import re
from typing import Any, override

from h11._readers import ContentLengthReader
from h11._receivebuffer import ReceiveBuffer
from mitmproxy import http
from mitmproxy.net.http import http1
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.layer import CommandGenerator
from mitmproxy.proxy.layers.http import _http1 as base
from mitmproxy.proxy.layers.http._base import HttpEvent, ReceiveHttp
from mitmproxy.proxy.layers.http._events import (
    ErrorCode,
    RequestData,
    RequestEndOfMessage,
    RequestHeaders,
    RequestProtocolError,
    RequestTrailers,
    ResponseData,
    ResponseEndOfMessage,
    ResponseHeaders,
    ResponseProtocolError,
    ResponseTrailers,
)

from ..capture.pieces import note_pieces
from .ahead import LaterTurn, RestLater
from .at_once import note_whole
from .chunks import chunked, has_bare_line, whole_chunks
from .error_answer import error_response
from .framing import TrailerReader, body_size, has_chunks, is_chunked, odd_value, with_an_end
from .half_closed import LATER, SOON, client_still_reads
from .pauses import pause, resume
from .resets import reset_words
from .wire_events import (
    Cause,
    InterimResponse,
    Pause,
    RawEnd,
    RawResponse,
    RequestGoesOn,
    ResponsePieces,
    blame,
)

_INTERIM = re.compile(rb"HTTP/1\.\d 1(?!01)\d\d[ \r\n]")
"""The beginning of an interim answer; 101 is a final one."""
_BLANK_LINE = re.compile(rb"\n\r?\n")
_LONGEST_HEAD = 8 << 20
"""A head that is longer is not held. Servers allow 8 to 64 KB."""
_MOST_LINES = 10_000
"""A head with more lines is not read: each field costs as much as a kilobyte."""
_MOST_OF_CLIENT = 1000
"""The same for a client, of which there may be many. Servers allow 100 to 1,000."""
_TOO_LONG = "the head of the request is longer than 8 MB"
_TOO_MANY = "the head of the request has more than 1,000 fields"
_LONG_LINE = "the size of a chunk, or the trailers, are longer than 8 MB"
_BARE_LINE = "the line with the size of a chunk ends with LF, not with CRLF (RFC 9112, 7.1)"
_MOST_AHEAD = 64 << 20
"""Bytes that a client may send before it has the answer to its last request."""
_TOO_MUCH = "the client sent more than 64 MB of further requests before it had the answer"
_END = b"0\r\n\r\n"
_MOST_DIGITS = 19
"""Digits of a length that is a length."""
_HEAD = "turntape_head"
"""The attribute of a response that has its head as it came, with the fields that were read from it."""


def _has_many_lines(buffer: ReceiveBuffer, most: int) -> bool:
    """True for a head at the front of a buffer that has too many lines."""
    data = buffer._data
    end = data.find(b"\r\n\r\n")  # behind it is the body, which may be long
    if data.count(b"\n", 0, end if end >= 0 else len(data)) <= most:
        return False
    blank = _BLANK_LINE.search(data)
    return blank is None or data.count(b"\n", 0, blank.start()) > most


def _unchanged_head(response: http.Response) -> bytes | None:
    """The bytes of a head as they came, when nothing in it was changed since."""
    head, fields = getattr(response, _HEAD, (b"", None))
    is_same = response.headers.fields is fields and str(response.status_code).encode() in head[:14]
    return head if is_same else None


class _Messages(base.Http1Connection):
    """What both sides have in common: bodies with trailers, and who is to blame for one that breaks off."""

    _owed_trailers: http.Headers | None = None
    """Trailers to send when the body ends."""
    _unsent = 0
    """How much of a body of known size is still to be sent."""

    @override
    def _handle_event(self, event: events.Event) -> CommandGenerator[None]:
        if isinstance(event, events.DataReceived) and self.state == self.read_body and not self.buf:
            reader: Any = self.body_reader
            reader = reader.inner if isinstance(reader, TrailerReader) else reader
            if type(reader) is ContentLengthReader and len(event.data) <= reader._remaining:
                return self._within_body(event, reader)
        return super()._handle_event(event)

    def _within_body(self, event: events.DataReceived, reader: ContentLengthReader) -> CommandGenerator[None]:
        """Pass on what is all of a body of known size; the reader would copy it four times."""
        assert self.stream_id is not None
        reader._remaining -= len(event.data)
        yield ReceiveHttp(self.ReceiveData(self.stream_id, event.data))
        if not reader._remaining:
            yield from self.read_body(event)  # the buffer is empty: only the end is read

    @override
    def read_body(self, event: events.Event) -> CommandGenerator[None]:
        reader: Any = self.body_reader
        if not isinstance(reader, TrailerReader):
            reader = self.body_reader = TrailerReader(reader)  # pyright: ignore[reportAttributeAccessIssue]
        has_failed = False
        for command in super().read_body(event):
            if isinstance(command, ReceiveHttp):
                said = command.event
                note_pieces(self.conn, 1)
                if isinstance(said, self.ReceiveEndOfMessage):
                    if fields := reader.take():
                        kind = RequestTrailers if isinstance(said, RequestEndOfMessage) else ResponseTrailers
                        yield ReceiveHttp(kind(said.stream_id, http.Headers(fields)))
                elif isinstance(said, RequestProtocolError | ResponseProtocolError):
                    has_failed = True
                    blame(said, Cause(broke=isinstance(event, events.DataReceived)))
            yield command
        # Of a body nothing is left in the buffer but a line that has no end yet.
        if has_failed or self.state != self.read_body or not self.buf:
            return
        if len(self.buf) > _LONGEST_HEAD:
            yield from self._broken(_LONG_LINE)
        elif has_bare_line(reader.inner, self.buf):
            yield from self._broken(_BARE_LINE)

    def _pause_or_resume(self, event: Pause) -> CommandGenerator[None]:
        """The other side cannot take more, or can again."""
        if event.paused:
            pause(self.conn)
        else:
            resume(self.conn)
        yield from ()

    def _broken(self, text: str) -> CommandGenerator[None]:
        """End an exchange whose other side breaks the rules."""
        assert self.stream_id is not None
        self.state = self.done
        self.buf = ReceiveBuffer()
        yield commands.CloseConnection(self.conn)
        error = self.ReceiveProtocolError(self.stream_id, text, code=self.ReceiveProtocolError.code)
        blame(error, Cause(broke=True, text=text))
        yield ReceiveHttp(error)

    def _sending(self, event: HttpEvent, sending: CommandGenerator[None]) -> CommandGenerator[None]:
        """The commands of `sending`, with the trailers that are owed in the end of the body."""
        if isinstance(event, RequestTrailers | ResponseTrailers):
            self._owed_trailers = event.trailers
            return
        for command in sending:
            if isinstance(command, commands.SendData) and command.data == _END:
                if isinstance(event, ResponseEndOfMessage) and self.response and not has_chunks(self.response):
                    continue  # mitmproxy takes each coding with these letters for it, of each answer
                if self._owed_trailers is not None:
                    lines = b"".join(b"%s: %s\r\n" % (name, value) for name, value in self._owed_trailers.fields)
                    command.data = b"0\r\n" + lines + b"\r\n"
                    self._owed_trailers = None
                note_whole(self.conn)
            yield command

    def _sends_head(self, head: http.Message) -> None:
        """Called before a head is sent."""
        length = head.headers.get("content-length", "")
        self._unsent = int(length) if length.isascii() and length.isdigit() and len(length) < _MOST_DIGITS else 0

    def _sends_body(self, data: bytes) -> None:
        """Called before a piece of a body is sent. The last one goes out at once, what remains to be done can wait."""
        if self._unsent > 0:
            self._unsent -= len(data)
            if self._unsent <= 0:
                note_whole(self.conn)

    @override
    def mark_done(self, *, request: bool = False, response: bool = False) -> CommandGenerator[None]:
        asked, answer = self.request, self.response
        if response:
            resume(self.conn)  # nothing is left that the other side must take
        yield from super().mark_done(request=request, response=response)
        if asked is None or answer is None or self.request is not None:
            return
        if "transfer-encoding" in answer.headers and body_size(asked, answer) == -1:
            # mitmproxy does not know the coding, and so not that only the end of the connection ends the body.
            yield commands.CloseConnection(self.conn)
            self.state = self.done


class ClientSide(_Messages, base.Http1Server):
    """The layer that talks to a client."""

    _reads_on = False
    """True for a client that sends nothing more and still reads."""
    _waits_for_rest = False
    _ahead = 0
    """How many requests in a row it sent before it had the answer to the one before."""

    @override
    def _handle_event(self, event: events.Event) -> CommandGenerator[None]:
        if isinstance(event, events.Wakeup):
            if isinstance(event.command, RestLater):
                return self._look_for_rest(event.command)
            return self._next_of_many() if isinstance(event.command, LaterTurn) else self._look_again()
        return super()._handle_event(event)

    def wait_for_turn(self, event: events.Event) -> CommandGenerator[None]:
        """The next request is there, or its beginning. It is read in a later turn of the loop."""
        if isinstance(event, events.ConnectionClosed) and client_still_reads(self.conn):
            self._reads_on = True
        elif isinstance(event, events.ConnectionClosed):
            self.state = self.done
            yield commands.CloseConnection(self.conn)
        elif len(self.buf) > _MOST_AHEAD:
            self.state = self.done
            yield commands.SendData(self.conn, error_response(400, _TOO_MUCH))
            yield commands.CloseConnection(self.conn)

    def _next_of_many(self) -> CommandGenerator[None]:
        if self.state != self.wait_for_turn:
            return
        self.state = self.read_headers
        yield from self.state(events.DataReceived(self.conn, bytes(self.buf._data[:1])))
        if self._reads_on and self.state == self.read_headers:  # no more than the beginning of a request
            self.state = self.done
            yield commands.CloseConnection(self.conn)

    @override
    def wait(self, event: events.Event) -> CommandGenerator[None]:
        if isinstance(event, events.ConnectionClosed) and client_still_reads(self.conn):
            self._reads_on = True
            yield commands.RequestWakeup(SOON)
        elif len(self.buf) > _MOST_AHEAD:
            yield from self._broken(_TOO_MUCH)
        else:
            yield from super().wait(event)

    @override
    def read_headers(self, event: events.ConnectionEvent) -> CommandGenerator[None]:
        if isinstance(event, events.DataReceived) and self.buf and not event.data:  # what is there from before
            self.state = self.wait_for_turn
            self._ahead += 1
            yield LaterTurn(self._ahead)
            return
        while (blank := self.buf._data[:2]) and b"\r\n".startswith(blank):
            if len(blank) == 1:
                return
            self.buf.maybe_extract_at_most(2)  # a blank line before a request means nothing (RFC 9112, 2.2)
        if _has_many_lines(self.buf, _MOST_OF_CLIENT):
            yield from self._refuse(_TOO_MANY)
            return
        broke = is_refused = False
        for command in super().read_headers(event):
            said = command.event if isinstance(command, ReceiveHttp) else None
            if isinstance(said, RequestProtocolError):
                blame(said, Cause(broke=True))
                broke = True
            elif isinstance(said, RequestHeaders) and not is_refused and (odd := odd_value(said.request)):
                yield from self._refuse_whole(said, odd)
                return
            is_refused = is_refused or isinstance(command, commands.CloseConnection)
            yield command
        if self.state == self.read_body and not broke:
            yield from self._wait_for_rest()
        elif len(self.buf) > _LONGEST_HEAD and self.state == self.read_headers:
            yield from self._refuse(_TOO_LONG)

    @override
    def read_body(self, event: events.Event) -> CommandGenerator[None]:
        """As for both sides; a client that has no answer yet gets one that says what is wrong with its request."""
        closing: commands.CloseConnection | None = None
        for command in super().read_body(event):
            broke = isinstance(event, events.DataReceived)
            if broke and isinstance(command, commands.CloseConnection) and self.response is None:
                closing = command
                continue
            if closing is not None:
                if isinstance(command, ReceiveHttp) and isinstance(command.event, RequestProtocolError):
                    yield commands.SendData(self.conn, error_response(400, command.event.message))
                yield closing
                closing = None
            yield command

    def _refuse(self, message: str) -> CommandGenerator[None]:
        yield commands.SendData(self.conn, error_response(431, message))
        yield commands.CloseConnection(self.conn)
        self.state = self.done

    def _refuse_whole(self, asked: RequestHeaders, message: str) -> CommandGenerator[None]:
        """Refuse a request that has a head, so that it has a record."""
        yield commands.SendData(self.conn, error_response(400, message))
        yield commands.CloseConnection(self.conn)
        self.state = self.done
        error = RequestProtocolError(self.stream_id, message, ErrorCode.GENERIC_CLIENT_ERROR)
        blame(error, Cause(broke=True))
        asked.end_stream = False
        yield ReceiveHttp(asked)
        yield ReceiveHttp(error)

    def _wait_for_rest(self) -> CommandGenerator[None]:
        """Look for the rest of a request later, at one request of the connection at a time."""
        if not self._waits_for_rest:
            self._waits_for_rest = True
            yield RestLater(frozenset({self.stream_id}))

    def _look_for_rest(self, asked: RestLater) -> CommandGenerator[None]:
        self._waits_for_rest = False
        if self.state == self.read_body and self.stream_id in asked.streams:
            yield ReceiveHttp(RequestGoesOn(self.stream_id))
        elif self.state == self.read_body:
            yield from self._wait_for_rest()

    def _look_again(self) -> CommandGenerator[None]:
        """A client that waits for its answer may close the rest of its connection too."""
        if self.state == self.wait:
            if client_still_reads(self.conn):
                yield commands.RequestWakeup(LATER)
            else:
                yield from super().wait(events.ConnectionClosed(self.conn))

    @override
    def mark_done(self, *, request: bool = False, response: bool = False) -> CommandGenerator[None]:
        yield from super().mark_done(request=request, response=response)
        if self.state == self.read_headers:
            self._ahead = 0
        if self._reads_on and self.request is None and self.state != self.wait_for_turn:
            yield commands.CloseConnection(self.conn)
            self.state = self.done

    @override
    def send(self, event: HttpEvent) -> CommandGenerator[None]:
        if isinstance(event, ResponseData):
            self._sends_body(event.data)
            return self._send_pieces([event.data])
        if isinstance(event, ResponsePieces):
            note_whole(self.conn)
            return self._send_pieces(event.pieces)
        if isinstance(event, ResponseHeaders):
            self._sends_head(event.response)
        return self._send_other(event)

    def _send_pieces(self, pieces: list[bytes]) -> CommandGenerator[None]:
        assert self.response is not None
        if data := chunked(pieces) if is_chunked(self.response) else b"".join(pieces):
            yield commands.SendData(self.conn, data)

    def _send_other(self, event: HttpEvent) -> CommandGenerator[None]:
        if isinstance(event, InterimResponse):
            if self.request is not None and self.request.http_version != "HTTP/1.0":
                response = event.response
                if response.is_http2:
                    response = response.copy()
                    response.http_version = "HTTP/1.1"
                yield commands.SendData(self.conn, http1.assemble_response_head(response))
        elif isinstance(event, ResponseHeaders) and (head := _unchanged_head(event.response)):
            self.response = event.response
            yield commands.SendData(self.conn, head)
        elif isinstance(event, RawResponse):
            yield commands.SendData(self.conn, event.data)
        elif isinstance(event, RawEnd):
            yield commands.CloseConnection(self.conn)
        elif isinstance(event, Pause):
            yield from self._pause_or_resume(event)
        else:
            if isinstance(event, ResponseProtocolError):
                resume(self.conn)
            yield from self._sending(event, super().send(event))


class UpstreamSide(_Messages, base.Http1Client):
    """The layer that talks to an upstream."""

    _searched = 0
    """How much of the buffer is known to have no end of a head."""

    @override
    def send(self, event: HttpEvent) -> CommandGenerator[None]:
        if isinstance(event, Pause):
            return self._pause_or_resume(event)
        if isinstance(event, RequestData):
            self._sends_body(event.data)
        elif isinstance(event, RequestHeaders) and not event.end_stream:
            event = with_an_end(event)
            self._sends_head(event.request)
        return self._sending(event, super().send(event))

    @override
    def read_body(self, event: events.Event) -> CommandGenerator[None]:
        if isinstance(event, events.DataReceived):
            reader: Any = self.body_reader
            inner = reader.inner if isinstance(reader, TrailerReader) else reader
            if pieces := whole_chunks(inner, self.buf):
                assert self.stream_id is not None
                note_pieces(self.conn, len(pieces))
                yield ReceiveHttp(ResponsePieces(self.stream_id, pieces))
                if not self.buf:
                    return
        elif why := reset_words(self.conn):  # not the end of an answer that lasts until the connection is closed
            yield from self._reset(why)
            return
        yield from super().read_body(event)

    def _reset(self, why: str) -> CommandGenerator[None]:
        assert self.stream_id is not None
        self.state = self.done
        yield commands.CloseConnection(self.conn)
        error = ResponseProtocolError(self.stream_id, why, code=ResponseProtocolError.code)
        blame(error, Cause(text=why))
        yield ReceiveHttp(error)

    @override
    def read_headers(self, event: events.ConnectionEvent) -> CommandGenerator[None]:
        request, stream = self.request, self.stream_id
        why = reset_words(self.conn)
        if stream is not None and why and isinstance(event, events.ConnectionClosed) and not self.buf:
            yield from self._reset(why)
            return
        if request is None or stream is None or (isinstance(event, events.ConnectionClosed) and not self.buf):
            yield from super().read_headers(event)
            return
        if not isinstance(event, events.DataReceived):
            yield ReceiveHttp(RawResponse(stream, bytes(self.buf), cut=True))
            yield from self.relay(event)
            return
        while True:
            if not b"HTTP/".startswith(self.buf._data[:5]):  # nothing that a client would wait for
                yield from self._relay_raw(stream)
                return
            if _has_many_lines(self.buf, _MOST_LINES):
                yield from self._relay_raw(stream, long=True)
                return
            end = _BLANK_LINE.search(self.buf._data, max(self._searched - 3, 0))
            self._searched = 0 if end else len(self.buf)
            if end is None:
                if self._searched > _LONGEST_HEAD:
                    yield from self._relay_raw(stream, long=True)
                return
            received = bytes(self.buf._data[: end.end()])
            head = self.buf.maybe_extract_lines() or []
            try:
                response = http1.read_response_head([bytes(line) for line in head])
                is_interim = bool(_INTERIM.match(received))
                size = 0 if is_interim else body_size(request, response)
            except ValueError:
                yield from self._relay_raw(stream, received)
                return
            if not is_interim:
                break
            note_pieces(self.conn, 1)
            yield ReceiveHttp(InterimResponse(stream, response))
        self.response = response
        setattr(response, _HEAD, (received, response.headers.fields))
        yield ReceiveHttp(ResponseHeaders(stream, response, size == 0))
        self.body_reader = base.make_body_reader(size)
        self.state = self.read_body
        yield from self.state(event)

    def _relay_raw(self, stream: int, before: bytes = b"", *, long: bool = False) -> CommandGenerator[None]:
        """Pass on what was received, after these bytes of it, and what follows."""
        received = before + bytes(self.buf)
        self.buf = ReceiveBuffer()
        self.state = self.relay
        yield ReceiveHttp(RawResponse(stream, received, long=long))

    def relay(self, event: events.Event) -> CommandGenerator[None]:
        """Pass on what is not HTTP, until the upstream closes."""
        assert self.stream_id is not None
        if isinstance(event, events.DataReceived):
            self.buf = ReceiveBuffer()
            yield ReceiveHttp(RawResponse(self.stream_id, event.data))
        elif isinstance(event, events.ConnectionClosed):
            yield commands.CloseConnection(self.conn)
            yield ReceiveHttp(RawEnd(self.stream_id))
