"""Sends what one event produces in one piece: a system call for each chunk of a stream costs more than all the rest."""

# mitmproxy's connection tables are only partly typed.
# pyright: reportUnknownMemberType=false

import asyncio
from typing import Any

from mitmproxy.addons import proxyserver
from mitmproxy.connection import Client, Connection
from mitmproxy.proxy import server_hooks

from ..layers.at_once import is_whole
from ..layers.resets import reset, was_reset

_LONG = 1 << 16
"""A piece of this many bytes is not copied to be joined with others."""
_TO_REPORT = 1.0
"""Seconds that the task that reads a broken connection has to report it."""


class JoinedWrites:
    """A stream writer that collects what is written until the caller waits, closes, or returns to the event loop.

    What is noted as whole is sent at once, with what was written before it.

    The bytes and their order are the same, and none is held back for longer than the event that wrote it takes.
    """

    def __init__(self, writer: asyncio.StreamWriter, connection: Connection | None = None) -> None:
        self._writer = writer
        self._connection = connection
        self._waiting: list[bytes] = []
        self._broke_at: float | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)

    def write(self, data: bytes) -> None:
        if len(data) >= _LONG:
            self.flush()
            self._writer.write(data)
            return
        self._waiting.append(data)
        if self._connection is not None and is_whole(self._connection):
            self.flush()
        elif len(self._waiting) == 1:
            asyncio.get_running_loop().call_soon(self.flush)

    def flush(self) -> None:
        """Hand everything to the transport."""
        if self._waiting:
            data = self._waiting[0] if len(self._waiting) == 1 else b"".join(self._waiting)
            self._waiting.clear()
            if not self._writer.is_closing():
                self._writer.write(data)

    async def drain(self) -> None:
        """Raises OSError for a connection that broke a second ago or earlier.

        Until then the task that reads reports the end. mitmproxy cancels that task after an error here, also while it
        is about to report, and then the other side would wait forever.
        """
        self.flush()
        try:
            await self._writer.drain()
        except OSError:
            now = asyncio.get_running_loop().time()
            self._broke_at = now if self._broke_at is None else self._broke_at
            if now - self._broke_at >= _TO_REPORT:
                raise

    def write_eof(self) -> None:
        self.flush()
        self._writer.write_eof()

    def close(self) -> None:
        self.flush()
        if self._connection is not None and was_reset(self._connection):
            reset(self._writer)
        self._writer.close()


class JoinWrites:
    """The addon that does this for each connection."""

    def __init__(self, server: proxyserver.Proxyserver) -> None:
        self._server = server

    def client_connected(self, client: Client) -> None:
        self._join(client.id, client)

    def server_connected(self, data: server_hooks.ServerConnectionHookData) -> None:
        self._join(data.client.id, data.server)

    def _join(self, client_id: str, connection: Connection) -> None:
        handler = self._server.connections.get(client_id)
        if handler is None or (transport := handler.transports.get(connection)) is None:
            return
        if isinstance(transport.writer, asyncio.StreamWriter):
            transport.writer = JoinedWrites(transport.writer, connection)  # pyright: ignore[reportAttributeAccessIssue]
