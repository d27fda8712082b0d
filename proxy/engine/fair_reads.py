"""Reads less at once from a peer that sends tiny pieces, so that the other flows have their turns between.

mitmproxy handles all of one read before anything else: 64 KB may be ten thousand chunks, or seven thousand frames of
HTTP/2.
"""

# mitmproxy's connection tables are only partly typed.
# pyright: reportUnknownMemberType=false

import asyncio
from typing import Any

from mitmproxy.addons import proxyserver
from mitmproxy.connection import Connection
from mitmproxy.proxy import server_hooks

from ..layers.chunks import pieces_of
from ..layers.pauses import room_for
from ..layers.resets import note_reset

MOST_PIECES = 500
"""About how many chunks or frames are handled in one turn of the loop."""
_LEAST = 1024
"""How many bytes are read at least."""


class FairReader:
    """A stream reader that reads as much as asked, or less after a read with many pieces.

    With `whole`, it reads so many bytes at once, whatever size is asked.
    """

    def __init__(self, reader: asyncio.StreamReader, connection: Connection, whole: int | None = None) -> None:
        self._reader = reader
        self._connection = connection
        self._whole = whole
        self._most: int | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    async def read(self, n: int = -1) -> bytes:
        await room_for(self._connection)
        n = self._whole or n
        pieces = pieces_of(self._connection)
        if pieces > MOST_PIECES:
            self._most = max(_LEAST, (self._most or n) * MOST_PIECES // pieces)
        elif self._most is not None:
            self._most = self._most * 2 if pieces * 2 < MOST_PIECES else self._most
        if self._most is None or self._most >= n:
            self._most = None
        else:
            n = self._most
            await asyncio.sleep(0)
        try:
            return await self._reader.read(n)
        except ConnectionResetError:
            note_reset(self._connection)
            raise


class FairReads:
    """The addon that does this for each connection to a server."""

    def __init__(self, server: proxyserver.Proxyserver) -> None:
        self._server = server

    def server_connected(self, data: server_hooks.ServerConnectionHookData) -> None:
        handler = self._server.connections.get(data.client.id)
        if handler is None or (connection := handler.transports.get(data.server)) is None:
            return
        if isinstance(connection.reader, asyncio.StreamReader):
            connection.reader = FairReader(connection.reader, data.server)  # pyright: ignore[reportAttributeAccessIssue]
