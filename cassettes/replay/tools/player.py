"""Plays recorded tool servers. No I/O.

`calls` chooses the recorded call that answers a call, and `other_requests` what answers the rest; `connection` is what
one process of a server says, and when.
"""

from .calls import ToolCalls
from .connection import ToolConnection


class ToolPlayer(ToolCalls):
    """The tool servers of a cassette. `connect(name)` is one process of a server. Any thread may use it."""

    def connect(self, server: str, folder: str | None = None, *, answers_apart: bool = False) -> ToolConnection:
        """A new process of a server. `folder` is its working directory in this run; with `answers_apart`, each answer
        has a separate connection."""
        with self.lock:
            number = self.connections[server]
            self.connections[server] += 1
            if folder:
                self.runs_in(server, folder)
        return ToolConnection(self, server, number, answers_apart)

    def lines(self) -> list[str]:
        """One line for each difference from the recording."""
        return [
            *(f"changed: {miss}" for miss in self.misses),
            *(f"tolerated: {call}" for call in self.played if call.differences),
            *(f"extra: {sentence}" for sentence in dict.fromkeys(self.unknown)),
            *(f"not called: {one.session.server} {one.name} (#{one.index})" for one in self.unplayed),
        ]
