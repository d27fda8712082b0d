"""A server and the recorder of its traffic, as the command line names them."""

from collections.abc import Sequence
from time import time

from .address import Address
from .frames import END, START
from .identity import end_fields, start_fields
from .link import Link, to_stderr
from .server_name import server_name


class Wrapped:
    """A server and where its traffic is recorded, from the command line."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        name: str | None = None,
        link: str | None = None,
        run: str | None = None,
        output: str | None = None,
        play: str | None = None,
        replay: str | None = None,
        live: str = "",
    ) -> None:
        self.command = command
        self.name = name
        """The server's name on the tape; None takes it from the command."""
        self.link = link
        """The address of a recorder; None without one."""
        self.run = run
        self.output = output
        """Without a link: the cassette, or a folder for a new one; None is the working directory."""

        self.play = play
        """The socket of the player of a recording, which answers in place of the server; None for the server itself."""
        self.replay = replay
        """A recording whose player is to be started, without a run; nothing is recorded then without `output`."""
        self.live = live
        """Names of servers that are not played, with commas between them."""

    @property
    def words(self) -> Sequence[str]:
        """What is started: the server, or the way to its player."""
        if self.play is None:
            return self.command
        import os
        import sys

        name = self.name or server_name(self.command)
        if name in self.live.split(","):
            return self.command
        pipe = os.path.join(os.path.dirname(__file__), "player_pipe.py")  # noqa: PTH118, PTH120 - pathlib is slow
        return (sys.executable, "-I", "-S", pipe, self.play, name)

    def connect(self, pid: int | None) -> Link:
        """The link to the recorder, after the `START` frame. What goes wrong is one line on stderr."""
        token = ""
        socket = None
        try:
            if self.link:
                address = Address.parse(self.link)
                token = address.token
                socket = address.connect()
            elif self.replay is None or self.output is not None:
                from .own_recorder import start_recorder

                socket = start_recorder(self.output)
        except (OSError, ValueError) as exc:
            why = f"no recorder at {self.link}: {exc}" if isinstance(exc, OSError) and self.link else str(exc)
            to_stderr(f"{why}; the tool calls of this server are not recorded")
        link = Link(socket, own=not self.link)
        link.put(START, time(), start_fields(self.command, self.name, self.run, pid, token))
        return link


def finish(link: Link, exit_code: int | None, signal: str | None, closed_first: str | None) -> None:
    """Send the last frame, and say how much the recorder has missed."""
    link.put(END, time(), end_fields(exit_code, signal, closed_first))
    if link.lost:
        to_stderr(f"{link.lost:,} bytes of this server were not recorded: the recorder was too slow")
