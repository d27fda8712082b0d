"""Reads all that a client has sent so far at once.

asyncio receives up to 256 KB in one turn of its loop. mitmproxy takes it in pieces of 64 KB, all in the same turn, and
each piece costs as much as a small request.
"""

# mitmproxy's connection tables are only partly typed.
# pyright: reportUnknownMemberType=false

import asyncio

from mitmproxy.addons import proxyserver
from mitmproxy.connection import Client

from .fair_reads import FairReader

MOST = 1 << 19
"""More than is ever there at once."""


class LongReads:
    """The addon that does this for each client."""

    def __init__(self, server: proxyserver.Proxyserver) -> None:
        self._server = server

    def client_connected(self, client: Client) -> None:
        handler = self._server.connections.get(client.id)
        if handler is None or (connection := handler.transports.get(client)) is None:
            return
        if isinstance(connection.reader, asyncio.StreamReader):
            connection.reader = FairReader(connection.reader, client, MOST)  # pyright: ignore[reportAttributeAccessIssue]
