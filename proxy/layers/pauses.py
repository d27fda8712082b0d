"""Lets one side of an exchange wait for the other: what a peer does not take is not read from the other one.

Over HTTP/1.1 the sockets see to this. Over HTTP/2 each stream has its own window, and mitmproxy holds what a peer
has no window for, however much it is.
"""

import asyncio
from collections.abc import Iterable

from mitmproxy.connection import Connection
from mitmproxy.proxy.layers.http._http_h2 import SendH2Data

MOST_HELD = 2 << 20
"""About how many bytes of a stream are held for a peer that does not take them, before the other side must wait."""
WINDOW = 4 << 20
"""How many bytes a peer may send on a stream of HTTP/2 before it must wait for us."""
_PER_PIECE = 100
"""About how many bytes of memory a piece takes beside its content."""
_ROOM = "turntape_room"


def pause(connection: Connection) -> None:
    """Read nothing more of this connection until `resume`."""
    if getattr(connection, _ROOM, None) is None:
        setattr(connection, _ROOM, asyncio.Event())


def resume(connection: Connection) -> None:
    """Read again. Without a pause this has no effect."""
    room: asyncio.Event | None = getattr(connection, _ROOM, None)
    if room is not None:
        setattr(connection, _ROOM, None)
        room.set()


def is_paused(connection: Connection) -> bool:
    """True between `pause` and `resume`."""
    return getattr(connection, _ROOM, None) is not None


async def room_for(connection: Connection) -> None:
    """Wait until this connection may be read."""
    while (room := getattr(connection, _ROOM, None)) is not None:
        await room.wait()


def held(pieces: Iterable[SendH2Data]) -> int:
    """About how much memory these pieces take."""
    return sum(len(piece.data) + _PER_PIECE for piece in pieces)
