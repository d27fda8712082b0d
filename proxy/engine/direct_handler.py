"""Handles what a connection brings in the same turn of the event loop in which it comes.

mitmproxy makes a task for each hook, lets it wait for a lock, and wakes another task for each read. A request and its
answer take nine turns of the loop then, each with a system call. Here they take two, which is a third of the time.
"""

# mitmproxy's connection tables are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import asyncio
import logging
from collections import defaultdict, deque
from collections.abc import Coroutine
from typing import Any, cast, override

from mitmproxy import flow
from mitmproxy.connection import Connection, ConnectionState
from mitmproxy.http import HTTPFlow
from mitmproxy.proxy import commands, events, server_hooks
from mitmproxy.proxy.layer import CommandGenerator, Layer
from mitmproxy.proxy.layers.http._hooks import HttpRequestHeadersHook, HttpResponseHook
from mitmproxy.proxy.mode_servers import ProxyConnectionHandler
from mitmproxy.proxy.server import ConnectionIO
from mitmproxy.utils import asyncio_utils

from ..layers.ahead import LaterTurn
from ..layers.tunnel import FirstLook
from .cached_addons import CachedAddons
from .fair_reads import FairReader
from .joined_writes import JoinedWrites
from .late_encryption import EncryptedData
from .master import LeanMaster
from .shorter_stack import without_outer

_UPSTREAM_CONNECTIONS = 10_000
"""Connections to one upstream for one client. Upstream connections are opened for requests, so an HTTP/2 client in
front of an HTTP/1.1 upstream needs one for each request that is running. mitmproxy has a limit of five."""
_FROM_CLIENT = 1 << 19
"""More bytes than are ever there at once: asyncio takes up to 256 KB from a client in one turn of its loop. mitmproxy
takes them in pieces of 64 KB, each of which costs as much as a small request."""
_FROM_UPSTREAM = 65535
"""Bytes of an upstream that are handled at once: they may be a flood of tiny pieces."""


log = logging.getLogger(__name__)


class _Broken(Layer):
    """In the place of layers that have failed: nothing more is passed on."""

    @override
    def _handle_event(self, event: events.Event) -> CommandGenerator[None]:
        yield from ()


class DirectHandler(ProxyConnectionHandler):
    """mitmproxy's handler of a client's connection, without a task and a lock for each hook.

    Events are handled one after the other, in the order in which they came. One that comes while another is handled,
    such as the end of a hook, is handled after it.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        assert isinstance(self.master, LeanMaster)
        self._turns = self.master.turns
        self.max_conns = defaultdict(lambda: asyncio.Semaphore(_UPSTREAM_CONNECTIONS))
        self._events: deque[events.Event] = deque()
        self._is_handling = False
        self._is_inner = False
        """True when the layers around the one that gets the events are left out."""
        self._has_stopped = False
        self._has_request = False
        """True after a request: by now its layers are chosen."""
        self._late: list[HttpResponseHook] = []
        self._written: list[JoinedWrites] = []
        self._wrap(self.client, _FROM_CLIENT)

    @override
    async def handle_hook(self, hook: commands.StartHook) -> None:
        if isinstance(hook, server_hooks.ServerConnectedHook):
            self._wrap(hook.data.server, _FROM_UPSTREAM)
        await super().handle_hook(hook)

    def _wrap(self, connection: Connection, most: int) -> None:
        """Read and write a connection of ours in the place of asyncio's streams; UDP has none."""
        transport = self.transports[connection]
        reader, writer = transport.reader, transport.writer
        if not isinstance(reader, asyncio.StreamReader) or not isinstance(writer, asyncio.StreamWriter):
            return
        transport.reader = FairReader(  # pyright: ignore[reportAttributeAccessIssue]
            reader,
            cast("asyncio.Transport", writer.transport),
            connection,
            most,
            lambda data: self._received(connection, data),
            self.drain_writers,
            self._turns,
        )
        transport.writer = JoinedWrites(writer, connection, self._written.append)  # pyright: ignore[reportAttributeAccessIssue]

    @override
    async def server_event(self, event: events.Event) -> None:
        self.take(event)

    def take(self, event: events.Event) -> None:
        """Handle an event, or let it be handled after the one that is handled now."""
        if self._has_stopped and isinstance(event, events.DataReceived | events.Wakeup):
            return
        self._events.append(event)
        if self._is_handling:
            return
        self._is_handling = True
        begun = self._turns.clock()
        try:
            self.timeout_watchdog.register_activity()
            while self._events:
                self._handle(self._events.popleft())
        finally:
            self._is_handling = False
            self._flush()
            while self._late:
                self._call_late(self._late.pop(0))
            self._turns.used(self._turns.clock() - begun)

    def stop(self) -> None:
        """Close all connections, and pass nothing more on: what runs has been recorded as it is now."""
        self._has_stopped = True
        for transport in list(self.transports.values()):
            if transport.handler is not None:
                transport.handler.cancel("turntape stops")

    def _received(self, connection: Connection, data: bytes) -> bool:
        """Handle bytes of a connection; False when a peer does not take what it is sent."""
        self.take(events.DataReceived(connection, data))
        return all(one.writer.is_free for one in self.transports.values() if isinstance(one.writer, JoinedWrites))

    def _flush(self) -> None:
        for writer in self._written:
            writer.flush()
        self._written.clear()

    def _handle(self, event: events.Event) -> None:
        if self._is_inner and isinstance(event, events.Wakeup) and isinstance(event.command, FirstLook):
            return  # a layer around this one asked for it
        try:
            for command in self.layer.handle_event(event):
                self._obey(command)
            if self._has_request:
                self._has_request = False
                inner = without_outer(self.layer)
                self._is_inner, self.layer = self._is_inner or inner is not self.layer, inner
        except Exception as exc:  # a fault in one connection must not end the others
            log.exception("fault while passing on the traffic of a connection, which is closed")
            self._end_for(exc)

    def _end_for(self, fault: Exception) -> None:
        """Record what runs on the client's connection, and close it: its layers can pass nothing on any more."""
        self._events.clear()
        self.layer = _Broken(self.layer.context)
        assert isinstance(self.master, LeanMaster)
        self.master.on_fault(self.client, fault)
        for connection, transport in list(self.transports.items()):
            if transport.handler is not None:
                self.close_connection(connection)

    def _obey(self, command: commands.Command) -> None:
        """As in mitmproxy's `ConnectionHandler.server_event`, 12.2.3."""
        match command:
            case commands.SendData():
                transport = self.transports.get(command.connection)
                if transport is not None:
                    assert transport.writer is not None
                    if isinstance(transport.writer, JoinedWrites) and isinstance(command, EncryptedData):
                        transport.writer.encrypt(command.tls, command.plain)
                    elif not transport.writer.is_closing():
                        transport.writer.write(command.data)
                    elif command.connection.state is ConnectionState.CAN_WRITE:
                        self._is_gone(command.connection)
            case commands.StartHook():
                self._call(command)
            case commands.OpenConnection():
                assert command.connection not in self.transports
                name = f"server connection handler {command.connection.address}"
                task = self._task(self.open_connection(command), name)
                self.transports[command.connection] = ConnectionIO(handler=task)
            case LaterTurn():
                self.wakeup_timer.add(self._task(self._in_a_later_turn(command), "later turn"))
            case commands.RequestWakeup():
                self.wakeup_timer.add(self._task(self.wakeup(command), f"wakeup timer ({command.delay:.1f}s)"))
            case commands.CloseConnection():
                if command.connection in self.transports:
                    self.close_connection(
                        command.connection, isinstance(command, commands.CloseTcpConnection) and command.half_close
                    )
            case commands.Log():
                self.log(command.message, command.level)
            case commands.ConnectionCommand() if command.connection not in self.transports:
                pass
            case _:
                raise RuntimeError(f"Unexpected command: {command}")

    def _is_gone(self, connection: Connection) -> None:
        """A peer that sent nothing more, and of which more is not read, does not take anything more either."""
        self.close_connection(connection)
        self.take(events.ConnectionClosed(connection))

    async def _in_a_later_turn(self, command: LaterTurn) -> None:
        await self._turns.wait(command.part)
        self.wakeup_timer.discard(cast("asyncio.Task[None]", asyncio.current_task()))
        self.take(events.Wakeup(command))

    def _task(self, work: Coroutine[Any, Any, None], name: str, *, keep: bool = False) -> asyncio.Task[None]:
        return asyncio_utils.create_task(work, name=name, keep_ref=keep, client=self.client.peername)

    def _call(self, hook: commands.StartHook) -> None:
        """Call the addons. Only one that has to wait needs a task."""
        if isinstance(hook, HttpResponseHook) and _is_passed_on(hook.flow):
            self._late.append(hook)
            self.take(events.HookCompleted(hook))
            return
        self._has_request = self._has_request or isinstance(hook, HttpRequestHeadersHook)
        addons = self.master.addons
        assert isinstance(addons, CachedAddons)
        rest = addons.call(hook)
        (data,) = hook.args()
        if rest is not None or (isinstance(data, flow.Flow) and data.intercepted):
            self._task(self._wait(hook, rest, data), f"handle_hook({hook.name})", keep=True)
        elif hook.blocking:
            self.take(events.HookCompleted(hook))

    def _call_late(self, hook: HttpResponseHook) -> None:
        """Call the addons after the end of an answer was sent."""
        addons = self.master.addons
        assert isinstance(addons, CachedAddons)
        rest = addons.call(hook)
        if rest is not None:
            self._task(rest, f"handle_hook({hook.name})", keep=True)

    async def _wait(self, hook: commands.StartHook, rest: Coroutine[Any, Any, None] | None, data: object) -> None:
        with self.timeout_watchdog.disarm():
            if rest is not None:
                await rest
            if isinstance(data, flow.Flow):
                await data.wait_for_resume()
        if hook.blocking:
            self.take(events.HookCompleted(hook))


def _is_passed_on(flow: HTTPFlow) -> bool:
    """True for an answer that was sent on as it came: an addon can change nothing more."""
    return flow.response is not None and bool(flow.response.stream) and flow.websocket is None
