"""What of a client's requests is looked at later: what it has sent ahead, and what it has not sent yet."""

from mitmproxy.proxy import commands


class LaterTurn(commands.RequestWakeup):
    """Ask for a `Wakeup` in a later turn, when it is this connection's.

    `part`: which part of what was sent ahead is next, from 1. A connection that is at an earlier one is served first.
    """

    def __init__(self, part: int) -> None:
        super().__init__(0)
        self.part = part


PATIENCE = 0.2
"""Seconds until a request that has not ended is passed on as it comes. The server may have to answer the beginning
before the client sends the rest."""


class RestLater(commands.RequestWakeup):
    """Ask for a `Wakeup` to look whether these requests have ended by then. It holds nothing of them."""

    def __init__(self, streams: frozenset[int]) -> None:
        super().__init__(PATIENCE)
        self.streams = streams
