"""The player of recorded tool servers without a run, as a process: `player_process FILE SOCKET PID`.

It listens on the socket and closes its stdout; before that, it writes there why it cannot. It ends when the client, the
process PID, has ended and nobody is connected.
"""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from turntape.cassettes.errors import CassetteError, TurntapeError
from turntape.cassettes.json_levels import follow_all_levels
from turntape.cassettes.processes import is_running
from turntape.cassettes.replay.pace import Pace
from turntape.cassettes.replay.tools.connection import ToolConnection
from turntape.cassettes.replay.tools.player import ToolPlayer
from turntape.cassettes.server.tool_link import tool_link
from turntape.cassettes.tape.reader import Cassette

from .own_process import start_of

_LOOK = 0.5
"""Seconds between two looks at whether the client is still there."""
_AFTER = 5.0
"""Seconds for which it stays after the client, for servers that end later."""


class Servers(ToolPlayer):
    """The servers of a recording. When it has only one, that one answers under any name."""

    def connect(self, server: str, folder: str | None = None, *, answers_apart: bool = False) -> ToolConnection:
        if server not in self.sessions and len(self.sessions) == 1:
            server = next(iter(self.sessions))
        return super().connect(server, folder, answers_apart=answers_apart)


def servers_of(path: str) -> Servers:
    """The servers of a cassette. Raises TurntapeError when it has none over stdio or in process."""
    cassette = Cassette.load(path)
    trips = [trip for trip in cassette if trip.tool_wire is not None]
    if not trips:
        raise CassetteError(f"{path!r} has no tool server (MCP); record one with `turntape mcp` or `turntape run`")
    # The time that a server took to start matters only to a model that is played too.
    return Servers(trips, servers=cassette.tool_servers.values(), pace=Pace.of("instant"))


def main(arguments: Sequence[str]) -> int:
    recording, path, client = arguments
    follow_all_levels()
    try:
        player = servers_of(recording)
        with tool_link(player, path):
            _close_stdout()
            began = start_of(int(client))
            until = time.monotonic() + _AFTER
            while time.monotonic() < until:
                time.sleep(_LOOK)
                if is_running(int(client)) and start_of(int(client)) == began:
                    until = time.monotonic() + _AFTER
        Path(f"{path}.lock").unlink(missing_ok=True)
    except (TurntapeError, OSError) as exc:
        sys.stdout.write(f"{exc}\n")
        return 1
    return 0


def _close_stdout() -> None:
    """Say that it listens: the wrapper waits for the end of this stream."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
