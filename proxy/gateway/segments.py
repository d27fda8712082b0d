"""The files of one recording, one after the other, used as one recorder.

A segment begins with the last round trip of each open thread, marked `carried` (`turntape.cassettes.tape.carried`), so
that its turns are labelled as if there were one file.
"""

import threading
from collections.abc import Callable, Iterable
from pathlib import Path

import orjson

from turntape.cassettes.recording.held_bytes import held_bytes
from turntape.cassettes.recording.recorder import Recorder
from turntape.cassettes.recording.running_session import Again
from turntape.cassettes.redaction.redactor import Redactor
from turntape.cassettes.tape.carried import Carried, carried
from turntape.cassettes.tape.command_end import CommandEnd
from turntape.cassettes.tape.format import read_round_trip
from turntape.cassettes.tape.json_fields import restored
from turntape.cassettes.tape.model import RoundTrip, ToolServer
from turntape.cassettes.tape.running_session import continues_line

HELD_BYTES = 64 << 20
"""The most that is held for the next segment, while it is found out what that carries."""


class Segments:
    """The sink of a recording. It writes to `current`; `switch` continues with another recorder."""

    def __init__(self, first: Recorder) -> None:
        self.current = first
        self.number = 1
        """Which file this is, from 1."""
        self.problems: list[str] = []
        """Problems of the closed files, one sentence each."""
        self.on_switch: Callable[[Path], object] = lambda path: None
        """Called with the path of the next file, before anything of this recording is written to it alone."""
        self._lock = threading.Lock()
        self._recorded = 0
        """Round trips in the closed files, without carried ones."""
        self._lost = 0
        self._servers: dict[str, ToolServer] = {}
        """The tool servers that are open."""
        self._sessions: dict[str, Again] = {}
        """The WebSocket sessions that are open."""
        self._held: dict[int, RoundTrip] | None = None
        """Round trips since a switch was announced."""
        self._size = 0
        self._say: Callable[[str], object] | None = None

    # What a recorder does

    def write(self, round_trip: RoundTrip, *, clean: bool = False, on_done: Callable[[], object] | None = None) -> int:
        """As `Recorder.write`."""
        with self._lock:
            number = self.current.write(round_trip, clean=clean, on_done=on_done)
            if self._held is not None and self._size <= HELD_BYTES:
                self._held[number] = round_trip
                self._size += held_bytes(round_trip)
        return number

    def line(self, make: Callable[[Redactor], bytes], size: int) -> None:
        """As `Recorder.line`."""
        with self._lock:
            self.current.line(make, size)

    def session(self, name: str, again: Again | None) -> None:
        """A WebSocket session runs: `again` gives its lines so far, for the next file. None when it has ended."""
        with self._lock:
            if again is None:
                self._sessions.pop(name, None)
            else:
                self._sessions[name] = again

    def tool_server(self, server: ToolServer) -> None:
        """As `Recorder.tool_server`."""
        with self._lock:
            self._servers[server.session] = server
            self.current.tool_server(server)

    def tool_server_stderr(self, session: str, at: int, data: bytes) -> None:
        """As `Recorder.tool_server_stderr`."""
        with self._lock:
            self.current.tool_server_stderr(session, at, data)

    def tool_server_end(self, server: ToolServer) -> None:
        """As `Recorder.tool_server_end`."""
        with self._lock:
            self._servers.pop(server.session, None)
            self.current.tool_server_end(server)

    def command_ended(self, end: CommandEnd) -> None:
        """As `Recorder.command_ended`."""
        with self._lock:
            self.current.command_ended(end)

    def on_problem(self, say: Callable[[str], object]) -> None:
        """As `Recorder.on_problem`, for all segments."""
        self._say = say
        self.current.on_problem(say)

    def say(self, sentence: str) -> None:
        """Say what happened to the recording."""
        if self._say:
            self._say(sentence)

    @property
    def count(self) -> int:
        """Round trips that were recorded, in all files."""
        return self._recorded + self.current.own

    @property
    def own(self) -> int:
        """Round trips of the current file, without carried ones."""
        return self.current.own

    @property
    def lost(self) -> int:
        """Round trips that are missing, from all files."""
        return self._lost + self.current.lost

    @property
    def waiting(self) -> int:
        """As `Recorder.waiting`."""
        return self.current.waiting

    def flush(self, waiting: Callable[[int], object] = lambda left: None) -> None:
        """As `Recorder.flush`."""
        self.current.flush(waiting)

    def give_up(self) -> None:
        """As `Recorder.give_up`."""
        self.current.give_up()

    # From one file to the next

    def announce(self) -> None:
        """From now on, what is written is held for the next segment too."""
        with self._lock:
            self._held, self._size = {}, 0

    def stay(self) -> None:
        """There is no next segment."""
        with self._lock:
            self._held = None

    def switch(self, new: Recorder, carries: Iterable[bytes], recording: str | None) -> tuple[Recorder, list[int]]:
        """Continue with `new`, which begins with these carried lines and with what was held since `announce`.

        Returns the old recorder, to which nothing more is written but labels, and the numbers of its round trips
        that are carried.
        """
        numbers: list[int] = []
        for line in carries:
            trip = read_round_trip(orjson.loads(line), restored)
            numbers.append(trip.index)
            new.write(trip)
        if self._say:
            new.on_problem(self._say)
        with self._lock:
            for number, trip in (self._held or {}).items():
                if number not in numbers and carried(trip) is None:
                    numbers.append(number)
                    new.write(Carried(recording).mark(trip))
            for server in self._servers.values():
                new.tool_server(server)
            for name, again in self._sessions.items():
                for make, size in again():
                    new.line(make, size)
                self.current.line(lambda _, name=name: continues_line(name), 0)
            self.on_switch(new.path)
            old, self.current, self._held = self.current, new, None
            self._recorded += old.own
            self.number += 1
        return old, numbers

    def never_came(self, count: int) -> None:
        """So many round trips were not handed in, because the process that had them was killed."""
        with self._lock:
            self._lost += count

    def closed(self, old: Recorder) -> None:
        """Note what is missing from a file that is closed now."""
        with self._lock:
            self._lost += old.lost if old is not self.current else 0
        self.problems += [sentence for sentence in (old.problem, old.loss) if sentence]


def next_path(path: Path, number: int) -> Path:
    """The name of a segment: `a.cassette.jsonl` is followed by `a-2.cassette.jsonl`."""
    stem, dot, suffixes = path.name.partition(".")
    return path.with_name(f"{stem}-{number}{dot}{suffixes}")
