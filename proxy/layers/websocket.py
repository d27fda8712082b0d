"""mitmproxy's WebSocket layer, which here keeps how a session is closed.

mitmproxy answers the first close frame itself and turns a connection that breaks into a close with code 1000. Here each
close frame is passed on, the session ends when both have come, and a connection that breaks off without one breaks off
on the other side too. A side that closes one direction of its connection still gets what is coming. A message is held
until it is whole, or until a frame comes that must not overtake it.
"""

# mitmproxy's layers are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportPrivateUsage=false

import time
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, override

import wsproto.events
from mitmproxy import http, websocket
from mitmproxy.connection import Connection
from mitmproxy.connection import ConnectionState as Directions
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
from ..capture.pending import HOLD, NEEDS_WHOLE
from ..capture.pieces import note_pieces
from .ahead import LaterTurn
from .deflate import Deflate, agreed_on
from .half_closed import LATER, SOON, client_still_reads, passes_half_close
from .pauses import pause, resume

# Codes that wsproto does not know were given a meaning since, as 1014 (bad gateway): they are passed on.
frame_protocol.MAX_PROTOCOL_CLOSE_REASON = frame_protocol.MIN_PROTOCOL_CLOSE_REASON - 1

_MOST_FRAMES = 1000
"""A message is sent on in the frames that it came in. Of one in more frames, the others are sent as one."""
_BIT, _MOST_BIT = 256, 4096
"""How many bytes of a connection with compression are read at once: at first, and while little comes out of them."""
_LITTLE = 16
"""So many times as much is little."""
_TURN = 1 << 18
"""About how many bytes of inflated messages are relayed in one turn of the loop."""
_LONG = 1 << 20
"""A message of more bytes is passed on as it comes."""
_READS = (ConnectionState.OPEN, ConnectionState.LOCAL_CLOSING)
_BOTH_CLOSED = (ConnectionState.CLOSED, ConnectionState.CLOSED)

type _Piece = wsproto.events.TextMessage | wsproto.events.BytesMessage


@dataclass(slots=True)
class _Begun:
    """A message that has not ended."""

    is_text: bool
    frames: list[bytearray] = field(default_factory=lambda: [bytearray()])
    """What is kept of it. A bytearray grows in place: a long frame comes in many pieces."""
    size: int = 0
    passes: bool = False
    """True when its beginning has been passed on, and what comes is passed on at once."""
    is_reported: bool = False
    """True for one that is too long to be kept: it was reported by its beginning."""
    held: int = 0
    """How many of its bytes count in the memory that all sessions share."""

    def keep(self, data: bytes | bytearray) -> None:
        self.frames[-1] += data
        self.size += len(data)

    def end_frame(self) -> None:
        if not self.passes and len(self.frames) < _MOST_FRAMES:
            self.frames.append(bytearray())

    def parts(self) -> Iterator[wsproto.events.Message[Any]]:
        """The beginning in the frames that it came in, long ones in parts: a frame is copied when it is made."""
        frames = self.frames if self.frames[-1] else self.frames[:-1]  # the last one has only begun
        for frame in frames:
            yield from _in_parts(bytes(frame), self.is_text)


class Session(WebsocketLayer):
    """Relays the messages of a session, and its end as it came."""

    def __init__(self, context: Context, flow: http.HTTPFlow) -> None:
        super().__init__(context, flow)
        self._begun: dict[bool, _Begun] = {}
        """The messages that have not ended, by whether the client sends it."""
        self._injected: list[websocket.WebSocketMessage] = []
        """Messages of turntape that wait for the end of one of the side in whose name it speaks."""
        self._rest: dict[bool, bytes] = {}
        """What is read when others have had their turn, by whether the client has sent it."""
        self._turns: dict[commands.RequestWakeup, bool] = {}
        """The next turns, and whether what the client has sent is read then."""
        self._part = {True: 0, False: 0}
        """How many turns what a side has sent has taken, by whether it is the client."""

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
            self._injected.append(event.message)
            yield from self._inject()
        elif isinstance(event, events.Wakeup) and event.command not in self._turns:
            yield from self._look_again()
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
                yield from self._pass_beginning(from_client)
                self._closed(from_client, CloseReason.ABNORMAL_CLOSURE, "")
                yield from self._connection_closed(from_client)
                return
            assert isinstance(event, events.DataReceived)
            if from_client in self._rest:  # read before the pause, and handled after what came before it
                self._rest[from_client] += event.data
            elif source._proto.extensions:
                yield from self._inflate(from_client, event.data)
            elif source.state in _READS:  # otherwise these are bytes after a close frame
                source.receive_data(event.data)
                yield from self._relay(from_client)

    def _connection_closed(self, from_client: bool) -> CommandGenerator[None]:
        """One side sends nothing more: the session ends, unless it still reads what the other one sends."""
        source, target = (side.conn for side in self._sides(from_client))
        if not passes_half_close(source, self.context.client, target):
            yield from self._end()
            return
        self._begun.pop(from_client, None)
        if not target.tls:
            yield commands.CloseTcpConnection(target, half_close=True)
        if from_client:
            yield commands.RequestWakeup(SOON)

    def _look_again(self) -> CommandGenerator[None]:
        """A client that sends nothing more may close the rest of its connection too."""
        if client_still_reads(self.context.client):
            yield commands.RequestWakeup(LATER)
        elif self._handle_event != self.done:
            yield from self._end()

    def _inflate(self, from_client: bool, data: bytes, *, in_turns: bool = True) -> CommandGenerator[None]:
        """Read frames that may be compressed bit by bit: a thousand times as much may come out of them.

        When much has come out, others have their turn, and no more is read from this side until then.
        """
        source = self.client_ws if from_client else self.server_ws
        size, at, bit = 0, 0, _BIT
        while at < len(data):
            if source.state not in _READS or self._handle_event == self.done:
                return
            if size > _TURN and in_turns:
                pause(source.conn)
                self._part[from_client] += 1
                wakeup = LaterTurn(self._part[from_client])
                self._turns[wakeup] = from_client
                self._rest[from_client] = data[at:]
                yield wakeup
                return
            source.receive_data(data[at : at + bit])
            at += bit
            more = yield from self._relay(from_client)
            size += more
            bit = min(2 * bit, _MOST_BIT) if more <= _LITTLE * bit else _BIT
        self._part[from_client] = 0
        resume(source.conn)

    def _relay(self, from_client: bool) -> CommandGenerator[int]:
        """Relay what was read of one side; returns how many bytes of messages that was."""
        source, target = self._sides(from_client)
        size = 0
        for said in source.events():
            note_pieces(source.conn, 1)
            if isinstance(said, wsproto.events.TextMessage | wsproto.events.BytesMessage):
                size += len(said.data)
                yield from self._message(said, target, from_client)
            elif isinstance(said, wsproto.events.Ping | wsproto.events.Pong):
                yield from self._pass_beginning(from_client)
                yield from _passed(said, target)
            elif isinstance(said, wsproto.events.CloseConnection):
                yield from self._pass_beginning(from_client)
                yield from self._close(said, source, target, from_client)
                break
        return size

    def _sides(self, from_client: bool) -> tuple[WebsocketConnection, WebsocketConnection]:
        """The side that sends, and the one that it sends to."""
        return (self.client_ws, self.server_ws) if from_client else (self.server_ws, self.client_ws)

    @override
    def done(self, _: events.Event) -> CommandGenerator[None]:
        """The session is over, and what comes now means nothing."""
        yield from ()

    def _message(self, said: _Piece, target: WebsocketConnection, from_client: bool) -> CommandGenerator[None]:
        if (message := self._begun.get(from_client)) is None:
            message = self._begun[from_client] = _Begun(isinstance(said.data, str))
        if message.passes:
            yield from _passed(said, target)
        if not message.is_reported:
            message.keep(said.data.encode() if isinstance(said.data, str) else said.data)
        if said.message_finished:
            self._begun.pop(from_client)
            self._let_go(message)
            if not message.is_reported:
                yield from self._whole(message, target, from_client)
            yield from self._inject()
        elif not message.is_reported and not self._may_hold(message):
            self._let_go(message)
            message.is_reported = True
            yield from self._report(b"".join(message.frames), message.is_text, from_client)
            self._forget()
            yield from self._pass_now(message, target)
            message.frames = [bytearray()]
        elif said.frame_finished:
            message.end_frame()
        if message.size > _LONG and not message.passes:
            yield from self._pass_beginning(from_client)

    def _may_hold(self, message: _Begun) -> bool:
        """Whether what has come of a message may wait for the rest of it."""
        if message.size > MOST_OF_A_BODY:
            return False
        hold: Callable[[int], bool] | None = self.flow.metadata.get(HOLD)
        if hold is None:  # it is not recorded
            return message.size <= _LONG
        if not hold(message.size - message.held):
            return False
        message.held = message.size
        return True

    def _let_go(self, message: _Begun) -> None:
        if message.held and (hold := self.flow.metadata.get(HOLD)):
            hold(-message.held)
        message.held = 0

    def _whole(self, message: _Begun, target: WebsocketConnection, from_client: bool) -> CommandGenerator[None]:
        said = yield from self._report(b"".join(message.frames), message.is_text, from_client)
        if not message.passes and not said.dropped:
            frames: list[Any] = message.frames
            for part in Fragmentizer(frames, message.is_text)(said.content):
                yield from _passed(part, target)
        self._forget()

    def _report(
        self, content: bytes, is_text: bool, from_client: bool, *, injected: bool = False
    ) -> CommandGenerator[websocket.WebSocketMessage]:
        """Report a message, before it is passed on whole. Of one that is too long to be held, this is the beginning.

        Then it is longer than what a session may hold, or there is no memory for it: it is not kept, which the record
        says.
        """
        assert self.flow.websocket
        opcode = Opcode.TEXT if is_text else Opcode.BINARY
        message = websocket.WebSocketMessage(opcode, from_client, content, injected=injected)
        # The hook looks at the last one.
        self.flow.websocket.messages[:] = [message]
        yield WebsocketMessageHook(self.flow)
        return message

    def _forget(self) -> None:
        """A message that has been reported may be long, and its session open for hours."""
        assert self.flow.websocket
        self.flow.websocket.messages.clear()

    def _pass_beginning(self, from_client: bool) -> CommandGenerator[None]:
        """Pass on what is held of a message: the frame that comes now must not overtake it.

        A message of a client that another addon must have whole is held all the same.
        """
        message = self._begun.get(from_client)
        if message is not None and not (from_client and self.flow.metadata.get(NEEDS_WHOLE)):
            yield from self._pass_now(message, self._sides(from_client)[1])

    def _pass_now(self, message: _Begun, target: WebsocketConnection) -> CommandGenerator[None]:
        if not message.passes:
            message.passes = True
            for part in message.parts():
                yield from _passed(part, target)

    def _inject(self) -> CommandGenerator[None]:
        """Send the messages of turntape itself, each between two of the side in whose name it speaks."""
        waiting, self._injected = self._injected, []
        for message in waiting:
            if message.from_client in self._begun:
                self._injected.append(message)
                continue
            is_text = message.type == Opcode.TEXT
            said = yield from self._report(message.content, is_text, message.from_client, injected=True)
            if not said.dropped:
                for part in Fragmentizer([], is_text)(said.content):
                    yield from _passed(part, self._sides(message.from_client)[1])
            self._forget()

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
            if side.state in (ConnectionState.OPEN, ConnectionState.REMOTE_CLOSING) and _takes(side.conn):
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
    letters = getincrementaldecoder("utf-8")()
    for at in range(0, len(beginning) or 1, _TURN):
        part = beginning[at : at + _TURN]
        if is_text:
            yield wsproto.events.TextMessage(letters.decode(part), message_finished=False)
        else:
            yield wsproto.events.BytesMessage(bytearray(part), message_finished=False)


def _passed(said: wsproto.events.Event, target: WebsocketConnection) -> CommandGenerator[None]:
    """Send on, also to a side that has sent its close frame and still reads."""
    if not _takes(target.conn):
        return
    if target.state is ConnectionState.OPEN:
        yield target.send2(said)
    elif target.state is ConnectionState.REMOTE_CLOSING:
        if isinstance(said, wsproto.events.TextMessage | wsproto.events.BytesMessage):
            yield commands.SendData(target.conn, bytes(target._proto.send_data(said.data, said.message_finished)))
        elif isinstance(said, wsproto.events.Ping):
            yield commands.SendData(target.conn, bytes(target._proto.ping(said.payload)))


def _takes(connection: Connection) -> bool:
    """True for a side to which the connection was not closed."""
    return bool(connection.state & Directions.CAN_WRITE)
