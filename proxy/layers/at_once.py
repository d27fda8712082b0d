"""Marks what a connection sends next as all that an event sends: nothing is gained by joining it with what follows."""

from mitmproxy.connection import Connection

_AT_ONCE = "turntape_at_once"


def note_whole(connection: Connection) -> None:
    """What is sent next goes out at once."""
    setattr(connection, _AT_ONCE, True)


def is_whole(connection: Connection) -> bool:
    """True when `note_whole` was called since the last time."""
    if not getattr(connection, _AT_ONCE, False):
        return False
    setattr(connection, _AT_ONCE, False)
    return True
