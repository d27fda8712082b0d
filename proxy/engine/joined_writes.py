"""Sends what one event produces in one piece: a system call for each chunk of a stream costs more than all the rest."""

# mitmproxy's connection tables are only partly typed.
# pyright: reportUnknownMemberType=false

import asyncio
from typing import Any

from mitmproxy.addons import proxyserver
from mitmproxy.connection import Client


class JoinedWrites:
    """A stream writer that collects what is written until the caller waits, closes, or returns to the event loop.

    The bytes and their order are the same, and none is held back for longer than the event that wrote it takes.
    """

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._waiting: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)

    def write(self, data: bytes) -> None:
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self.flush)
        self._waiting.append(data)

    def flush(self) -> None:
        """Hand everything to the transport."""
        if self._waiting:
            data = self._waiting[0] if len(self._waiting) == 1 else b"".join(self._waiting)
            self._waiting.clear()
            if not self._writer.is_closing():
                self._writer.write(data)

    async def drain(self) -> None:
        self.flush()
        await self._writer.drain()

    def write_eof(self) -> None:
        self.flush()
        self._writer.write_eof()

    def close(self) -> None:
        self.flush()
        self._writer.close()


class JoinWrites:
    """The addon that does this for each client."""

    def __init__(self, server: proxyserver.Proxyserver) -> None:
        self._server = server

    def client_connected(self, client: Client) -> None:
        handler = self._server.connections.get(client.id)
        if handler is None or (connection := handler.transports.get(client)) is None:
            return
        if isinstance(connection.writer, asyncio.StreamWriter):
            connection.writer = JoinedWrites(connection.writer)  # pyright: ignore[reportAttributeAccessIssue]
