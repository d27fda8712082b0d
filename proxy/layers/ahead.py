"""What a peer has sent ahead is not handled in one go: each part of it waits for a turn of the event loop."""

from mitmproxy.proxy import commands


class LaterTurn(commands.RequestWakeup):
    """Ask for a `Wakeup` in a later turn, when it is this connection's.

    `part`: which part of what was sent ahead is next, from 1. A connection that is at an earlier one is served first.
    """

    def __init__(self, part: int) -> None:
        super().__init__(0)
        self.part = part
