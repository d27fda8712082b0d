"""Hands over what a peer sends as soon as it comes, and less at once from a peer that sends tiny pieces.

mitmproxy handles all of one read before anything else: 64 KB may be ten thousand chunks, or seven thousand frames of
HTTP/2. So after many pieces less is read at once, and the other flows have their turns
between.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from mitmproxy.connection import Connection, ConnectionState

from ..capture.pieces import pieces_of
from ..layers.pauses import is_paused, room_for
from ..layers.resets import note_reset
from .turns import Turns

MOST_PIECES = 500
"""About how many chunks or frames are handled in one turn of the loop."""
_MANY = MOST_PIECES // 5
"""The same while others wait."""
_LEAST = 1024
"""How many bytes are read at least."""
_FIRST = 16 << 10
"""Of much that comes at once, this many bytes are handed over first: they show whether it consists of many pieces."""


class FairReader:
    """A stream reader for mitmproxy's task that reads a connection.

    While that task waits, what comes is handed to `received` at once. The task gets it when the connection is paused,
    or has to wait for its turn after many pieces.

    - `most`: how many bytes are handed over at once, whatever size is requested.
    - `received`: handles the bytes; False when nothing more may come before `drain` is through, because a peer does not
      take what it is sent.
    - `turns`: whether others wait. Then only the beginning of what comes is handed over in the same turn.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        transport: asyncio.ReadTransport,
        connection: Connection,
        most: int,
        received: Callable[[bytes], bool],
        drain: Callable[[], Coroutine[Any, Any, None]],
        turns: Turns,
    ) -> None:
        self._reader = reader
        self._transport = transport
        self._connection = connection
        self._most = most
        self._fair: int | None = None
        self._received = received
        self._drain = drain
        self._turns = turns
        self._part = 0
        """How many parts were handed over in later turns since nothing was left."""
        self._draining: asyncio.Task[None] | None = None
        self._waits = False
        self._size: int | None = None
        """How many bytes the task got the last time."""
        self._rest = b""
        """What was read and is handled in the next turns."""
        self._feed = reader.feed_data
        reader.feed_data = self._fed  # pyright: ignore[reportAttributeAccessIssue]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    def _fed(self, data: bytes) -> None:
        """What the event loop calls with the bytes that have come."""
        if not self._may_hand_over(len(data)):
            self._waits = False
            self._feed(data)
            return
        first = _LEAST if self._turns.is_long else _FIRST
        continues = self._hand_over(bytes(data[:first]))
        if rest := bytes(data[first:]):
            if self._may_hand_over(len(rest)) and not self._turns.is_long:
                continues = self._hand_over(rest) and continues
            else:
                self._waits = False
                self._feed(rest)
        if not continues and self._draining is None:
            self._transport.pause_reading()
            self._draining = asyncio.create_task(self._wait_for_peers())

    def _hand_over(self, data: bytes) -> bool:
        continues = self._received(data)
        self._count(len(data))
        return continues

    def _may_hand_over(self, size: int) -> bool:
        return (
            self._waits
            and self._fair is None
            and size <= self._most
            and bool(self._connection.state & ConnectionState.CAN_READ)
            and not is_paused(self._connection)
        )

    async def _wait_for_peers(self) -> None:
        try:
            await self._drain()
        finally:
            self._draining = None
            if not self._transport.is_closing():
                self._transport.resume_reading()

    def _count(self, size: int | None = None) -> None:
        """Read less after many pieces, and more again after few. `size`: how many bytes were read, if it is known."""
        pieces = pieces_of(self._connection)
        most = _MANY if self._turns.is_long else MOST_PIECES
        if pieces > most:
            self._fair = max(_LEAST, (self._fair or size or self._most) * most // pieces)
        elif self._fair is not None:
            self._fair = self._fair * 2 if pieces * 2 < most else self._fair
            self._fair = self._fair if self._fair < self._most else None

    async def read(self, n: int = -1) -> bytes:
        """Bytes for the task; it waits here while they are handed over without it."""
        await room_for(self._connection)
        self._count(self._size)
        self._size = None
        if not self._rest:
            self._rest = await self._next()
        most = self._most
        if self._fair is not None or self._turns.is_long:
            await self._turns.wait(self._part + 1 if self._fair is not None else 0)
            most = min(self._fair or self._most, _LEAST << min(self._part + 2, 10))
            self._part += 1
        data, self._rest = self._rest[:most], self._rest[most:]
        self._size = len(data)
        return data

    async def _next(self) -> bytes:
        self._waits = True
        if not self._reader._buffer:  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
            self._part = 0
        try:
            # Meanwhile it may turn out that less is to be handled at once.
            return await self._reader.read(self._fair or self._most)
        except ConnectionResetError:
            note_reset(self._connection)
            raise
        finally:
            self._waits = False
