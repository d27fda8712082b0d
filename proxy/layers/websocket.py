"""mitmproxy's WebSocket layer, which here keeps how a session is closed.

mitmproxy answers the first close frame itself and turns a connection that breaks into a close with code 1000. Here each
close frame is passed on, the session ends when both have come, and a connection that breaks off without one breaks off
on the other side too.
"""

# mitmproxy's layers are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportPrivateUsage=false

import time
from codecs import getincrementaldecoder
from collections.abc import Iterator
from typing import Any, override

import wsproto.events
from mitmproxy import http, websocket
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layer import CommandGenerator
from mitmproxy.proxy.layers.websocket import (
    Fragmentizer,
    WebsocketConnection,
    WebsocketEndHook,
    WebsocketLayer,
    WebsocketMessageHook,
    WebSocketMessageInjected,
    WebsocketStartHook,
)
from wsproto import ConnectionType, frame_protocol
from wsproto.connection import ConnectionState
from wsproto.frame_protocol import CloseReason, Opcode

from turntape.cassettes.tape.bounds import MOST_OF_A_BODY

from ..capture.ending import Ending, note
from .chunks import note_pieces
from .deflate import Deflate, agreed_on
from .pauses import pause, resume

# Codes that wsproto does not know were given a meaning since, as 1014 (bad gateway): they are passed on.
frame_protocol.MAX_PROTOCOL_CLOSE_REASON = frame_protocol.MIN_PROTOCOL_CLOSE_REASON - 1

_MOST_FRAMES = 1000
"""A message is sent on in the frames that it came in. Of one in more frames, the others are sent as one."""
_BIT = 4096
"""How many bytes of a connection with compression are read at once."""
_TURN = 1 << 20
"""About how many bytes of inflated messages are relayed in one turn of the loop."""
_READS = (ConnectionState.OPEN, ConnectionState.LOCAL_CLOSING)
_BOTH_CLOSED = (ConnectionState.CLOSED, ConnectionState.CLOSED)


class Session(WebsocketLayer):
    """Relays the messages of a session, and its end as it came."""

    def __init__(self, context: Context, flow: http.HTTPFlow) -> None:
        super().__init__(context, flow)
        self._passing: set[bool] = set()
        """Whether the client, the server or both send a message now that is passed on as it comes."""
        self._sizes: dict[bool, int] = {}
        """How much of a message is held that has not ended, by whether the client sends it."""
        self._rest: dict[bool, bytes] = {}
        """What is read when others have had their turn, by whether the client has sent it."""
        self._turns: dict[commands.RequestWakeup, bool] = {}
        """The next turns, and whether what the client has sent is read then."""

    @override
    def start(self, _: events.Event) -> CommandGenerator[None]:
        assert self.flow.response
        agreed = agreed_on(self.flow.response.headers.get("sec-websocket-extensions", ""))
        self.client_ws, self.server_ws = (
            WebsocketConnection(kind, [Deflate(one) for one in agreed], conn=conn)
            for kind, conn in (
                (ConnectionType.SERVER, self.context.client),
                (ConnectionType.CLIENT, self.context.server),
            )
        )
        yield WebsocketStartHook(self.flow)
        self._handle_event = self.relay_messages

    _handle_event = start

    @override
    def relay_messages(self, event: events.Event) -> CommandGenerator[None]:
        if isinstance(event, WebSocketMessageInjected):
            from_client = event.message.from_client
            source = self.client_ws if from_client else self.server_ws
            source._events.extend(Fragmentizer([], event.message.type == Opcode.TEXT)(event.message.content))
            yield from self._relay(from_client, injected=True)
        elif isinstance(event, events.Wakeup):
            from_client = self._turns.pop(event.command)
            yield from self._inflate(from_client, self._rest.pop(from_client, b""))
        else:
            assert isinstance(event, events.ConnectionEvent)
            from_client = event.connection == self.context.client
            source = self.client_ws if from_client else self.server_ws
            if isinstance(event, events.ConnectionClosed):
                yield from self._inflate(from_client, self._rest.pop(from_client, b""), in_turns=False)
                if self._handle_event == self.done:
                    return
                self._closed(from_client, CloseReason.ABNORMAL_CLOSURE, "")
                yield from self._end()
                return
            assert isinstance(event, events.DataReceived)
            if from_client in self._rest:  # read before the pause, and handled after what came before it
                self._rest[from_client] += event.data
            elif source._proto.extensions:
                yield from self._inflate(from_client, event.data)
            elif source.state in _READS:  # otherwise these are bytes after a close frame
                source.receive_data(event.data)
                yield from self._relay(from_client)

    def _inflate(self, from_client: bool, data: bytes, *, in_turns: bool = True) -> CommandGenerator[None]:
        """Read frames that may be compressed bit by bit: a thousand times as much may come out of them.

        When much has come out, others have their turn, and no more is read from this side until then.
        """
        source = self.client_ws if from_client else self.server_ws
        size = 0
        for at in range(0, len(data), _BIT):
            if source.state not in _READS or self._handle_event == self.done:
                return
            if size > _TURN and in_turns:
                pause(source.conn)
                wakeup = commands.RequestWakeup(0)
                self._turns[wakeup] = from_client
                self._rest[from_client] = data[at:]
                yield wakeup
                return
            source.receive_data(data[at : at + _BIT])
            size += yield from self._relay(from_client)
        resume(source.conn)

    def _relay(self, from_client: bool, *, injected: bool = False) -> CommandGenerator[int]:
        """Relay what was read of one side; returns how many bytes of messages that was."""
        source, target = self.client_ws, self.server_ws
        if not from_client:
            source, target = target, source
        size = 0
        for said in source.events():
            note_pieces(source.conn, 1)
            if isinstance(said, wsproto.events.TextMessage | wsproto.events.BytesMessage):
                size += len(said.data)
                yield from self._message(said, source, target, from_client, injected)
            elif isinstance(said, wsproto.events.Ping | wsproto.events.Pong):
                yield from _passed(said, target)
            elif isinstance(said, wsproto.events.CloseConnection):
                yield from self._close(said, source, target, from_client)
                break
        return size

    @override
    def done(self, _: events.Event) -> CommandGenerator[None]:
        """The session is over, and what comes now means nothing."""
        yield from ()

    def _message(
        self,
        said: wsproto.events.TextMessage | wsproto.events.BytesMessage,
        source: WebsocketConnection,
        target: WebsocketConnection,
        from_client: bool,
        injected: bool,
    ) -> CommandGenerator[None]:
        assert self.flow.websocket
        is_text = isinstance(said.data, str)
        data = said.data.encode() if isinstance(said.data, str) else said.data
        if from_client in self._passing:
            yield from _passed(said, target)
            if said.message_finished:
                self._passing.remove(from_client)
            return
        # A bytearray grows in place: a long frame comes in many pieces.
        parts: list[Any] = source.frame_buf
        if not isinstance(parts[-1], bytearray):
            parts[-1] = bytearray(parts[-1])
        parts[-1] += data
        size = self._sizes[from_client] = self._sizes.get(from_client, 0) + len(data)
        if said.message_finished or size > MOST_OF_A_BODY:
            self._sizes.pop(from_client)
        if not said.message_finished and size > MOST_OF_A_BODY:
            beginning = b"".join(source.frame_buf)
            source.frame_buf = [b""]
            self._passing.add(from_client)
            yield from self._report_beginning(beginning, is_text, from_client)
            for part in _in_parts(beginning, is_text):
                yield from _passed(part, target)
        elif said.message_finished:
            content = b"".join(source.frame_buf)
            fragments = Fragmentizer(source.frame_buf, is_text)
            source.frame_buf = [b""]
            opcode = Opcode.TEXT if is_text else Opcode.BINARY
            message = websocket.WebSocketMessage(opcode, from_client, content, injected=injected)
            # The tape has the earlier ones; here only the last one is used.
            self.flow.websocket.messages[:] = [message]
            yield WebsocketMessageHook(self.flow)
            if not message.dropped:
                for part in fragments(message.content):
                    yield from _passed(part, target)
        elif said.frame_finished and len(source.frame_buf) < _MOST_FRAMES:
            source.frame_buf.append(b"")

    def _report_beginning(self, beginning: bytes, is_text: bool, from_client: bool) -> CommandGenerator[None]:
        """Report a message that is too long to be held when it is passed on: it may never end.

        What there is of it is longer than what a session may hold, so it is not kept, which the record then says.
        """
        assert self.flow.websocket
        opcode = Opcode.TEXT if is_text else Opcode.BINARY
        self.flow.websocket.messages[:] = [websocket.WebSocketMessage(opcode, from_client, beginning)]
        yield WebsocketMessageHook(self.flow)

    def _close(
        self,
        said: wsproto.events.CloseConnection,
        source: WebsocketConnection,
        target: WebsocketConnection,
        from_client: bool,
    ) -> CommandGenerator[None]:
        self._closed(from_client, said.code, said.reason)
        broke = source.state not in (ConnectionState.REMOTE_CLOSING, ConnectionState.CLOSED)
        if broke:  # the code and the reason are ours
            note(self.flow, Ending("client" if from_client else "server", "protocol", said.reason))
        for side in (target, source) if broke else (target,):
            if side.state in (ConnectionState.OPEN, ConnectionState.REMOTE_CLOSING):
                yield side.send2(said)
        if broke or (source.state, target.state) == _BOTH_CLOSED:
            yield from self._end()

    def _closed(self, by_client: bool, code: int, reason: str | None) -> None:
        """Keep the first close: the second one answers it."""
        kept = self.flow.websocket
        if kept is not None and kept.close_code is None:
            kept.timestamp_end = time.time()
            kept.closed_by_client, kept.close_code, kept.close_reason = by_client, int(code), reason or ""

    def _end(self) -> CommandGenerator[None]:
        for side in (self.server_ws, self.client_ws):
            yield commands.CloseConnection(side.conn)
        yield WebsocketEndHook(self.flow)
        self.flow.live = False
        self._handle_event = self.done  # pyright: ignore[reportAttributeAccessIssue]


def _in_parts(beginning: bytes, is_text: bool) -> Iterator[wsproto.events.Message[Any]]:
    """The beginning of a message in parts: a frame is copied several times when it is made."""
    letters = getincrementaldecoder("utf-8")()
    for at in range(0, len(beginning), _TURN):
        part = beginning[at : at + _TURN]
        if is_text:
            yield wsproto.events.TextMessage(letters.decode(part), message_finished=False)
        else:
            yield wsproto.events.BytesMessage(bytearray(part), message_finished=False)


def _passed(said: wsproto.events.Event, target: WebsocketConnection) -> CommandGenerator[None]:
    """Send on, also to a side that has sent its close frame and still reads."""
    if target.state is ConnectionState.OPEN:
        yield target.send2(said)
    elif target.state is ConnectionState.REMOTE_CLOSING:
        if isinstance(said, wsproto.events.TextMessage | wsproto.events.BytesMessage):
            yield commands.SendData(target.conn, bytes(target._proto.send_data(said.data, said.message_finished)))
        elif isinstance(said, wsproto.events.Ping):
            yield commands.SendData(target.conn, bytes(target._proto.ping(said.payload)))
