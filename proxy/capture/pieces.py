"""Counts the pieces that a connection brings: thousands of tiny ones come in one read, and cost as much as requests."""

from mitmproxy.connection import Connection

_PIECES = "turntape_pieces"
_INFLATED = 4096
"""So many bytes that come out of a compressed piece cost about as much as a tiny piece."""


def note_pieces(connection: Connection, count: int) -> None:
    """So many more chunks or frames came since the last read."""
    setattr(connection, _PIECES, getattr(connection, _PIECES, 0) + count)


def note_inflated(connection: Connection, size: int) -> None:
    """What this connection has sent has become `size` bytes: a thousand times as much may come out of it."""
    note_pieces(connection, size // _INFLATED)


def pieces_of(connection: Connection) -> int:
    """How many chunks or frames came since the last read; they are counted once."""
    count: int = getattr(connection, _PIECES, 0)
    if count:
        setattr(connection, _PIECES, 0)
    return count
