"""The recorder's end of one connection: from frames to the messages of a tool session."""

import json
from collections.abc import Callable
from typing import cast

from turntape.cassettes.recording.tool_session import Sink, ToolSession, new_session
from turntape.cassettes.tape.model import Side, ToolServer

from .frames import CLIENT, END, LOST, SERVER, START, STDERR, Decoder, Frame
from .identity import VERSION, EndFields, StartFields

LINE_BYTES = 256 << 20
"""A longer line is recorded in pieces of about this size."""
_SENDERS: dict[int, Side] = {CLIENT: "client", SERVER: "server"}


class Lines:
    """Cuts one stream into lines. `feed` gives the complete ones without their newline, `rest` what is left."""

    def __init__(self, most: int = LINE_BYTES) -> None:
        self._most = most
        self._parts: list[bytes] = []
        self._size = 0
        self._skipping = False

    def feed(self, data: bytes) -> list[bytes]:
        *complete, rest = data.split(b"\n")
        lines: list[bytes] = []
        for piece in complete:
            if not self._skipping:
                lines.append(self._take(piece))
            self._skipping = False
        if rest and not self._skipping:
            self._parts.append(rest)
            self._size += len(rest)
            if self._size >= self._most:
                lines.append(self._take(b""))
        return lines

    def skip(self) -> None:
        """Bytes are missing here: the line that they were in cannot be known, nor where the next one begins."""
        self._parts.clear()
        self._size = 0
        self._skipping = True

    def rest(self) -> bytes:
        """The last line, when it has no newline."""
        return self._take(b"")

    def _take(self, last: bytes) -> bytes:
        line = b"".join((*self._parts, last)) if self._parts else last
        self._parts.clear()
        self._size = 0
        return line


class LinkSession:
    """`feed` takes what came over a connection, `close` its end. Every fault is reported once and ends the session.

    `report` gets one sentence for each kind of loss.
    """

    def __init__(self, recorder: Sink, report: Callable[[str], object], *, token: str = "", run: str | None = None):
        self.ended = False
        """True after an `END` frame, `close` or a fault."""
        self._recorder = recorder
        self._report = report
        self._token = token
        self._run = run
        self._decoder = Decoder()
        self._lines = {CLIENT: Lines(), SERVER: Lines()}
        self._session: ToolSession | None = None
        self._lost = 0
        self._seen = {CLIENT: 0.0, SERVER: 0.0}
        """The time of the last frame of each stream."""
        self._last = 0.0
        """The time of the last frame."""

    @property
    def calls(self) -> int:
        """Tool calls so far."""
        return self._session.calls if self._session else 0

    @property
    def name(self) -> str:
        """The server's name on the tape; empty before the `START` frame."""
        return self._session.server.server if self._session else ""

    def feed(self, data: bytes) -> None:
        """Take bytes of the connection; without effect after the end."""
        if self.ended:
            return
        try:
            for frame in self._decoder.feed(data):
                if not self.ended:
                    self._take(frame)
        except Exception as exc:  # noqa: BLE001 - a fault of ours must not stop the recording of the rest
            self.ended = True
            self._report(f"the tool calls of {self.name or 'a server'} are not recorded any more: {exc}")

    def close(self) -> None:
        """The connection has ended. Without an `END` frame the wrapper was killed, and the server with it."""
        if not self.ended:
            self._end(EndFields(exit=None, signal=None, closed_first=None), self._last or None)

    def _take(self, frame: Frame) -> None:
        kind, self._last, data = frame
        if self._session is None:
            self._start(frame)
        elif sender := _SENDERS.get(kind):
            self._seen[kind] = frame.at
            for line in self._lines[kind].feed(data):
                self._session.message(sender, line, frame.at)
        elif kind == STDERR:
            self._session.stderr(data, frame.at)
        elif kind == LOST:
            self._lose(json.loads(data))
        elif kind == END:
            self._end(cast(EndFields, json.loads(data)), frame.at)

    def _start(self, frame: Frame) -> None:
        if frame.kind != START:
            raise ValueError("the connection does not begin as that of a wrapper")
        fields = cast(StartFields, json.loads(frame.data))
        if fields["version"] != VERSION:
            raise ValueError(f"the wrapper is of another version of turntape ({fields['version']}, not {VERSION})")
        if fields["token"] != self._token:
            self.ended = True  # any local user can connect to a port
            return
        server = ToolServer(
            new_session(),
            fields["name"],
            command=tuple(fields["command"]),
            cwd=fields["cwd"],
            pid=fields["pid"],
            started_at=frame.at,
            run=fields["run"] or self._run,
        )
        self._session = ToolSession(self._recorder, server)

    def _lose(self, lost: dict[str, int]) -> None:
        if lost["of"] in self._lines:
            self._lines[lost["of"]].skip()
        self._lost += lost["bytes"]

    def _end(self, fields: EndFields, at: float | None) -> None:
        self.ended = True
        if self._session is None:
            return
        for kind, sender in _SENDERS.items():
            if rest := self._lines[kind].rest():
                self._session.message(sender, rest, self._seen[kind])
        self._session.end(fields["exit"], fields["signal"], cast(Side | None, fields["closed_first"]), at)
        if self._lost:
            self._report(f"{self._lost:,} bytes of the tool server {self.name} were not recorded: they came too fast")
