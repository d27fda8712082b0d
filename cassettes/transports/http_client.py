"""Clients on top of the standard library's `http.client`: urllib, urllib3, requests, botocore and boto3.

A connection keeps its class. Its socket is replaced by one that collects the request and gives the recorded answer, or
connects late and copies what passes. Nothing of urllib3 is imported that the user has not imported.
"""

import http.client
import io
import socket
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Any, cast

from ..replay.player import Miss, Played
from ..tape.model import Request
from .http1 import AnswerReader, Piece, RequestReader, WireAnswer, failure_of, wire_answer
from .late_imports import when_imported
from .wires import Target, Wires

_REAL = "_turntape_connects"
"""The attribute of a connection that is allowed to connect."""


class _Wire:
    """Used instead of the socket of one connection."""

    def __init__(self, connection: Any, wires: Wires) -> None:
        self._connection = connection
        self._wires = wires
        self._real: Any = None
        self._target: Target | None = None
        self._reader = RequestReader()
        self._copied: AnswerReader | None = None
        self._timeout: float | None = None
        # A descriptor that never becomes readable: pools ask whether the server has closed.
        self._ends: tuple[socket.socket, socket.socket] | None = None

    def begin(self, target: Target) -> None:
        """A request to `target` follows."""
        self._target = target
        self._reader = RequestReader()

    def keep(self, real: Any) -> None:
        """Use a connection that exists already for live calls."""
        self._real = real

    def connected(self) -> Any:
        """The real socket; connects when there is none."""
        if self._real is None:
            connection = self._connection
            connection.sock = None
            setattr(connection, _REAL, True)
            try:
                connection.connect()
            finally:
                setattr(connection, _REAL, False)
                self._real, connection.sock = connection.sock, self
            if self._timeout is not None and self._real is not None:
                self._real.settimeout(self._timeout)
        return self._real

    def sendall(self, data: Any, *_: object) -> None:
        self._reader.feed(bytes(data))

    def send(self, data: Any, *_: object) -> int:
        self._reader.feed(bytes(data))
        return len(data)

    def makefile(self, *_: object, **__: object) -> io.BufferedReader:
        """The answer to what was sent."""
        assert self._target is not None
        asked = self._reader.request(self._target.url)
        found = self._wires.ask(asked)
        if found is None:
            return self._live(asked, None)
        if self._wires.compared(found):
            with suppress(OSError), self._live(asked, found) as answer:
                while not (self._copied is None or self._copied.complete) and answer.read1(65536):
                    pass
        return self._played(found)

    def _played(self, found: Played | Miss) -> io.BufferedReader:
        answer = wire_answer(found, self._reader.method, self._wires.pace)
        if answer.delay:
            if self._timeout is not None and answer.delay > self._timeout:
                raise TimeoutError("timed out: the first byte is late, a fault was injected")
            time.sleep(answer.delay)
        pieces = answer.pieces
        first = next(pieces, None)
        if first is None and answer.error is not None:
            raise answer.error
        return io.BufferedReader(cast(Any, _Recorded(first, pieces, answer)))

    def _live(self, asked: Request, found: Played | Miss | None) -> io.BufferedReader:
        assert self._target is not None
        exchange = self._wires.begin(asked, self._target.host, found)
        try:
            real = self.connected()
            real.sendall(b"".join(self._reader.raw))
            raw = real.makefile("rb", buffering=0)
        except BaseException as exc:
            exchange.failed(failure_of(exc), None)
            if isinstance(exc, OSError) or not isinstance(exc, Exception):
                raise
            raise ConnectionError(str(exc)) from exc  # libraries wrap an OSError of a socket, not their own errors
        self._copied = AnswerReader(exchange, asked.method)
        return io.BufferedReader(cast(Any, _Copied(raw, self._copied)))

    def settimeout(self, timeout: float | None) -> None:
        self._timeout = timeout
        if self._real is not None:
            self._real.settimeout(timeout)

    def gettimeout(self) -> float | None:
        return self._timeout

    def fileno(self) -> int:
        if self._real is not None:
            return self._real.fileno()
        if self._ends is None:
            self._ends = socket.socketpair()
        return self._ends[0].fileno()

    def close(self) -> None:
        for one in (self._real, *(self._ends or ())):
            if one is not None:
                one.close()
        self._real = self._ends = None

    def shutdown(self, how: int) -> None:
        if self._real is not None:
            self._real.shutdown(how)

    def __getattr__(self, name: str) -> Any:
        # Before a request, someone uses the socket for something else; later, only a live call has a real one.
        if name.startswith("_") or (self._real is None and self._target is not None):
            raise AttributeError(name)
        return getattr(self.connected(), name)


class _Recorded(io.RawIOBase):
    """The bytes of a recorded answer, as a connection gives them."""

    def __init__(self, first: Piece | None, rest: Iterator[Piece], answer: WireAnswer) -> None:
        self._first, self._rest, self._error = first, rest, answer.error
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            piece, self._first = self._first or next(self._rest, None), None
            if piece is None:
                if self._error is not None:
                    raise self._error
                return 0
            if piece.wait:
                time.sleep(piece.wait)
            self._left = memoryview(piece.data)
        size = min(len(buffer), len(self._left))
        buffer[:size], self._left = self._left[:size], self._left[size:]
        return size


class _Copied(io.RawIOBase):
    """The bytes of a live answer, which are copied as they pass."""

    def __init__(self, raw: Any, reader: AnswerReader) -> None:
        self._raw, self._reader = raw, reader

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        try:
            size: int | None = self._raw.readinto(buffer)
        except OSError as exc:
            self._reader.lost(exc)
            raise
        if size is not None:
            self._reader.feed(bytes(buffer[:size]))
        return size

    def close(self) -> None:
        if not self.closed:
            self._reader.left()
            self._raw.close()
        super().close()


class _Patch:
    def __init__(self, wires: Wires, undo: ExitStack) -> None:
        self._wires = wires
        self._undo = undo
        self._used: weakref.WeakSet[Any] = weakref.WeakSet()

    def everything(self) -> None:
        self._undo.callback(self._close)
        self.connects(http.client.HTTPConnection)
        self.connects(http.client.HTTPSConnection)
        original: Any = http.client.HTTPConnection.putrequest

        def putrequest(connection: Any, method: str, url: str, *args: Any, **kwargs: Any) -> Any:
            self._begin(connection, url)
            return original(connection, method, url, *args, **kwargs)

        self._set(http.client.HTTPConnection, "putrequest", putrequest, original)
        self._undo.enter_context(when_imported("urllib3.connection", self._urllib3))

    def _urllib3(self, module: Any) -> None:
        # urllib3-future takes the name of urllib3, and its connections are not those of `http.client`.
        for kind in (module.HTTPConnection, module.HTTPSConnection):
            if issubclass(kind, http.client.HTTPConnection):
                self.connects(kind)

    def _set(self, owner: Any, name: str, value: object, original: object) -> None:
        self._undo.callback(setattr, owner, name, original)
        setattr(owner, name, value)

    def connects(self, kind: Any) -> None:
        """Let connections of this class connect late: a pool connects before it knows the request."""
        if "connect" not in vars(kind):
            return
        connect_now: Callable[[Any], Any] = kind.connect

        def connect(connection: Any) -> Any:
            if getattr(connection, _REAL, False):
                return connect_now(connection)
            self._postponed(connection)
            return None

        self._set(kind, "connect", connect, connect_now)

    def _postponed(self, connection: Any) -> _Wire:
        wire = _Wire(connection, self._wires)
        connection.sock = wire
        for name in ("is_verified", "proxy_is_verified"):
            if hasattr(connection, name):
                setattr(connection, name, True)
        self._used.add(connection)
        return wire

    def _begin(self, connection: Any, url: str) -> None:
        target = _target(connection, url)
        way = self._wires.way(target)
        sock = connection.sock
        if way == "offline":
            raise ConnectionRefusedError(f"{target.host} is blocked in a test that replays")
        if way == "network":
            if isinstance(sock, _Wire):
                connection.sock = sock.connected()
            setattr(connection, _REAL, True)
            self._used.add(connection)
            return
        setattr(connection, _REAL, False)
        if isinstance(sock, _Wire):
            wire = sock
        else:
            wire = self._postponed(connection)
            if sock is not None:
                wire.keep(sock)
        wire.begin(target)

    def _close(self) -> None:
        """Pools outlive the test: a connection that it used connects again."""
        for connection in list(self._used):
            with suppress(Exception):
                if isinstance(connection.sock, _Wire):
                    connection.close()
            setattr(connection, _REAL, False)


def _target(connection: Any, url: str) -> Target:
    tunnel: str | None = getattr(connection, "_tunnel_host", None)
    is_tls = isinstance(connection, http.client.HTTPSConnection) or type(connection).__name__.endswith(
        "HTTPSConnection"
    )
    if tunnel:
        return Target.of("https", tunnel, getattr(connection, "_tunnel_port", None), url)
    return Target.of("https" if is_tls else "http", connection.host, connection.port, url)


def patch_http_client(wires: Wires, undo: ExitStack) -> None:
    """Answer every connection of `http.client`, and of libraries on top of it, until `undo`."""
    _Patch(wires, undo).everything()
