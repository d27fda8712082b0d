"""Plays recorded tool servers. No I/O.

`calls` chooses the recorded call that answers a call, and `other_requests` what answers the rest; `connection` is what
one process of a server says, and when.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from ...matching.grades import Matching
from ...redaction.redactor import Redactor
from ...tape.model import RoundTrip, ToolServer
from ..pace import Pace
from .calls import HasBindings, ToolCalls
from .connection import ToolConnection


class ToolPlayer(ToolCalls):
    """The tool servers of a cassette. `connect(name)` is one process of a server. Any thread may use it.

    The working directories of the recorded `servers` are mapped to those of this run.
    """

    def __init__(
        self,
        trips: Sequence[RoundTrip],
        *,
        matching: Matching | None = None,
        values: HasBindings | None = None,
        pace: Pace | None = None,
        servers: Iterable[ToolServer] = (),
        redactor: Redactor | None = None,
    ) -> None:
        processes = list(servers)
        super().__init__(trips, matching=matching, values=values, pace=pace, servers=processes, redactor=redactor)
        self._folders = {one.server: one.cwd for one in processes if one.cwd}
        self._connections: defaultdict[str, int] = defaultdict(int)

    def connect(self, server: str, folder: str | None = None, *, answers_apart: bool = False) -> ToolConnection:
        """A new process of a server. `folder` is its working directory in this run; with `answers_apart`, each answer
        has a separate connection."""
        with self.lock:
            number = self._connections[server]
            self._connections[server] += 1
            recorded = self._folders.get(server)
            if folder and recorded and self.matching.map_values:
                self.values.bindings.learn_folder(recorded, folder)
        return ToolConnection(self, server, number, answers_apart)

    def lines(self) -> list[str]:
        """One line for each difference from the recording."""
        return [
            *(f"changed: {miss}" for miss in self.misses),
            *(f"tolerated: {call}" for call in self.played if call.differences),
            *(f"extra: {sentence}" for sentence in dict.fromkeys(self.unknown)),
            *(f"not called: {one.session.server} {one.name} (#{one.index})" for one in self.unplayed),
        ]
