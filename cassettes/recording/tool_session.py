"""Records the messages of one tool server: each request with its answer is one round trip.

A tool server speaks JSON-RPC 2.0, one message a line (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports,
read 2026-11-22). Both sides may ask. What is not a request, nor the answer to one, is a round trip without an answer:
a notification, a batch, text that is not JSON. A batch counts as many messages as it holds.
"""

import secrets
from collections.abc import Callable
from dataclasses import replace
from time import time
from typing import Protocol, cast

import orjson

from ..framing import batch
from ..frozen import frozen
from ..tape.format import tool_server_url
from ..tape.model import Failure, Request, Response, RoundTrip, Side, ToolServer, ToolWire


class Sink(Protocol):
    """What a session writes to: a `Recorder`."""

    def write(self, round_trip: RoundTrip, /) -> int: ...
    def tool_server(self, server: ToolServer, /) -> None: ...
    def tool_server_stderr(self, session: str, at: int, data: bytes, /) -> None: ...
    def tool_server_end(self, server: ToolServer, /) -> None: ...


def new_session() -> str:
    """A name for a session that no other has."""
    return secrets.token_hex(6)


@frozen
class _Asked:
    """A request that has no answer yet."""

    sender: Side
    data: bytes
    at: float
    place: int


class ToolSession:
    """One tool server, from its start to `end`. Messages come in the order in which they were seen.

    Times are seconds since the epoch; `clock` gives the time where none is given. Not thread-safe.
    """

    def __init__(self, sink: Sink, server: ToolServer, clock: Callable[[], float] = time) -> None:
        started_at = clock() if server.started_at is None else server.started_at
        self.server = replace(server, started_at=started_at)
        self.calls = 0
        """Requests `tools/call` of the client."""
        self._sink = sink
        self._clock = clock
        self._started_at = started_at
        self._count = 0
        self._open: dict[tuple[Side, str, object], _Asked] = {}
        """Sender, type of the id and id → the request; 1, 1.0 and "1" are different ids."""
        self._url = tool_server_url(self.server.server, self.server.transport)
        sink.tool_server(self.server)

    def message(self, sender: Side, data: bytes, at: float | None = None) -> None:
        """One line of the client or the server, without its newline, whatever it holds."""
        at = self._clock() if at is None else at
        place = self._count
        asked = _Asked(sender, data, at, place)
        if (parts := batch(data)) is not None:
            self._count += len(parts)
            if sender == "client":
                self.calls += sum(_said(part).get("method") == "tools/call" for part in parts)
            self._write(asked)
            return
        self._count += 1
        said = _said(data)
        number = said.get("id")
        if not isinstance(number, int | float | str):
            self._write(asked)
            return
        kind = type(number).__name__
        if isinstance(said.get("method"), str):
            self.calls += sender == "client" and said["method"] == "tools/call"
            earlier = self._open.pop((sender, kind, number), None)
            if earlier:
                self._write(earlier)
            self._open[sender, kind, number] = asked
            return
        other: Side = "server" if sender == "client" else "client"
        earlier = self._open.pop((other, kind, number), None)
        if earlier:
            self._write(earlier, asked)
        else:
            self._write(asked)

    def stderr(self, data: bytes, at: float | None = None) -> None:
        """What the server wrote to stderr."""
        at = self._clock() if at is None else at
        self._sink.tool_server_stderr(self.server.session, max(round((at - self._started_at) * 1e6), 0), data)

    def end(
        self,
        exit_code: int | None = None,
        signal: str | None = None,
        closed_first: Side | None = None,
        at: float | None = None,
    ) -> None:
        """The server has ended, or the connection to it. Requests that are open get no answer any more.

        `signal` is the name of the signal that ended the process, `closed_first` who closed its side first.
        """
        at = self._clock() if at is None else at
        for asked in self._open.values():
            gone = closed_first == "client"
            failure = (
                Failure("client_gone", "the client closed the connection before the tool server had answered")
                if gone
                else Failure("cut", "the tool server ended before it had answered")
            )
            self._write(asked, ended_at=at, failure=failure, closed_first=closed_first)
        self._open.clear()
        self.server = replace(self.server, ended_at=at, exit=exit_code, signal=signal, closed_first=closed_first)
        self._sink.tool_server_end(self.server)

    def _write(
        self,
        asked: _Asked,
        answer: _Asked | None = None,
        *,
        ended_at: float | None = None,
        failure: Failure | None = None,
        closed_first: Side | None = None,
    ) -> None:
        ended_at = answer.at if answer else ended_at
        ended = None if ended_at is None else max(round((ended_at - asked.at) * 1e6), 0)
        self._sink.write(
            RoundTrip(
                Request(self.server.transport.upper(), self._url, content=asked.data),
                Response(0, content=answer.data) if answer else None,
                asked.at,
                run=self.server.run,
                route=self.server.transport,
                request_at=0,
                first_byte_at=ended,
                ended_at=ended,
                closed_first=closed_first,
                failure=failure,
                tool_wire=ToolWire(
                    self.server.session,
                    self.server.server,
                    asked.sender,
                    asked.place,
                    answer.place if answer else None,
                ),
            )
        )


def _said(data: bytes) -> dict[str, object]:
    """The JSON object of a message; empty when it is none."""
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return {}
    return cast(dict[str, object], value) if isinstance(value, dict) else {}
