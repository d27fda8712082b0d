"""Sends what one event produces in one piece: a system call for each chunk of a stream costs more than all the rest."""

import asyncio
from collections.abc import Callable
from typing import Any

from mitmproxy.connection import Connection
from OpenSSL import SSL

from ..layers.at_once import is_whole
from ..layers.resets import reset, was_reset
from .late_encryption import encrypted

_LONG = 1 << 16
"""A piece of this many bytes is not copied to be joined with others."""
_TO_REPORT = 1.0
"""Seconds that the task that reads a broken connection has to report it."""


class JoinedWrites:
    """A stream writer that collects what is written until it is flushed, or until the caller waits or closes.

    With the first piece after a flush it calls `when_written`, so that somebody flushes it when the event is over.

    What is noted as whole is sent at once, with what was written before it.

    The bytes and their order are the same, and none is held back for longer than the event that wrote it takes.
    """

    def __init__(
        self,
        writer: asyncio.StreamWriter,
        connection: Connection,
        when_written: Callable[["JoinedWrites"], object],
    ) -> None:
        self._writer = writer
        self._connection = connection
        self._when_written = when_written
        self._waiting: list[bytes] = []
        self._plain: list[bytes] = []
        self._tls: SSL.Connection | None = None
        self._broke_at: float | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)

    def write(self, data: bytes) -> None:
        whole = is_whole(self._connection)
        if len(data) >= _LONG:
            self.flush()
            self._writer.write(data)
            return
        self._waiting.append(data)
        if whole:
            self.flush()
        elif len(self._waiting) == 1:
            self._when_written(self)

    def encrypt(self, tls: SSL.Connection, plain: bytes) -> None:
        """Write what will be encrypted when it is flushed, after all that is written before that.

        What the TLS connection itself sends in between was encrypted earlier, so it has to go out earlier.
        """
        whole = is_whole(self._connection)
        if tls is not self._tls:
            self._seal()
            self._tls = tls
        if len(plain) >= _LONG:
            self._seal()
            self.write(encrypted(tls, plain))
            if whole:
                self.flush()
            return
        self._plain.append(plain)
        if whole:
            self.flush()
        elif not self._waiting and len(self._plain) == 1:
            self._when_written(self)

    def _seal(self) -> None:
        """Encrypt what waits for it."""
        if self._plain and self._tls is not None:
            plain = self._plain[0] if len(self._plain) == 1 else b"".join(self._plain)
            self._plain.clear()
            self._waiting.append(encrypted(self._tls, plain))

    @property
    def is_free(self) -> bool:
        """False when `drain` would wait: the peer does not take what it is sent, or the connection is closing."""
        transport = self._writer.transport
        if transport.is_closing():
            return False
        size = transport.get_write_buffer_size()
        return not size or size <= transport.get_write_buffer_limits()[1]

    def flush(self) -> None:
        """Hand everything to the transport."""
        self._seal()
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
        if was_reset(self._connection):
            reset(self._writer)
        self._writer.close()
