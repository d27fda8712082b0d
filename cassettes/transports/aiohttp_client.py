"""Clients on top of aiohttp: google-genai and litellm with asyncio, and openai and anthropic with their aiohttp client.

A session of aiohttp gets a connection whose transport collects the request and gives the recorded answer, or opens the
real connection late and copies what passes. aiohttp is patched when the user has imported it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import Any

from ..replay.player import Miss, Played
from ..tape.model import Request
from .http1 import AnswerReader, RequestReader, failure_of, wire_answer
from .late_imports import when_imported
from .wires import Target, Wires

type Connect = Callable[[], Awaitable[Any]]
"""Opens the real connection: a `Connection` of aiohttp."""


class _Transport(asyncio.Transport):
    """The transport of one connection of aiohttp, for one request."""

    def __init__(self, wires: Wires, target: Target, protocol: Any, connect: Connect, library: Any) -> None:
        super().__init__()
        self._wires = wires
        self._target = target
        self._protocol = protocol
        self._connect = connect
        self._library = library
        self._reader = RequestReader()
        self._task: asyncio.Task[None] | None = None
        self._flows = asyncio.Event()
        self._flows.set()
        self._closed = False
        self._live: Any = None
        """The real connection while it is used."""

    def write(self, data: Any) -> None:
        self._reader.feed(bytes(data))
        if self._reader.complete and self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._answer())

    def writelines(self, list_of_data: Any) -> None:
        self.write(b"".join(list_of_data))

    def is_closing(self) -> bool:
        return self._closed

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._task is not None:
            self._task.cancel()
        if self._live is not None:
            self._live.close()
        self._protocol._loop.call_soon(self._protocol.connection_lost, None)

    def abort(self) -> None:
        self.close()

    def can_write_eof(self) -> bool:
        return False

    def pause_reading(self) -> None:
        self._flows.clear()
        if self._live is not None:
            self._live.transport.pause_reading()

    def resume_reading(self) -> None:
        self._flows.set()
        if self._live is not None:
            self._live.transport.resume_reading()

    def is_reading(self) -> bool:
        return self._flows.is_set()

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Nothing is buffered."""

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    async def _answer(self) -> None:
        asked = self._reader.request(self._target.url)
        found = self._wires.ask(asked)
        try:
            if found is None:
                await self._from_live(asked, None, self._protocol.data_received)
                return
            if self._wires.compared(found):
                await self._from_live(asked, found, len)
            await self._from_tape(found)
        except OSError as exc:
            self._failed(exc)
        except self._library.ClientError as exc:
            self._protocol.set_exception(exc)

    def _failed(self, error: OSError) -> None:
        """End the connection as an error of the socket does."""
        if isinstance(error, TimeoutError):
            self._protocol.set_exception(self._library.SocketTimeoutError(str(error)))
        self._protocol.connection_lost(error)

    async def _from_tape(self, found: Played | Miss) -> None:
        answer = wire_answer(found, self._reader.method, self._wires.pace)
        if answer.delay:
            await asyncio.sleep(answer.delay)
        for piece in answer.pieces:
            await asyncio.sleep(piece.wait)
            await self._flows.wait()
            if self._closed:
                return
            self._protocol.data_received(piece.data)
        if answer.error is not None:
            await asyncio.sleep(0)
            self._failed(answer.error)

    async def _from_live(self, asked: Request, found: Played | Miss | None, deliver: Callable[[bytes], object]) -> None:
        exchange = self._wires.begin(asked, self._target.host, found)
        try:
            self._live = live = await self._connect()
        except BaseException as exc:
            exchange.failed(failure_of(exc), None)
            raise
        reader = AnswerReader(exchange, asked.method)
        pipe = _Pipe(reader, deliver)
        try:
            live.transport.set_protocol(pipe)
            live.transport.write(b"".join(self._reader.raw))
            await pipe.ended
            if pipe.is_lost and found is None:
                self._protocol.connection_lost(None)
        except asyncio.CancelledError:
            reader.left()
            raise
        finally:
            self._live = None
            live.close()


class _Pipe(asyncio.Protocol):
    """Passes the answer of the live API on, and copies it."""

    def __init__(self, reader: AnswerReader, deliver: Callable[[bytes], object]) -> None:
        self._reader = reader
        self._deliver = deliver
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.is_lost = False
        """True when the server has closed."""

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        self._deliver(data)
        if self._reader.complete:
            self._end(None)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_lost = True
        if exc is None:
            self._reader.feed(b"")
        else:
            self._reader.lost(exc)
        self._end(exc or (None if self._reader.complete else ConnectionResetError("the server closed")))

    def _end(self, error: Exception | None) -> None:
        if not self.ended.done():
            if error is None:
                self.ended.set_result(None)
            else:
                self.ended.set_exception(error)


def _patch(library: Any, wires: Wires, undo: ExitStack) -> None:
    connector: Any = library.connector.BaseConnector
    original: Any = connector.connect

    async def connect(self: Any, req: Any, *args: Any, **kwargs: Any) -> Any:
        url = req.url
        target = Target.of(url.scheme, url.host or "", url.port, url.raw_path_qs)
        way = wires.way(target)
        if way == "network" or "upgrade" in req.headers:
            return await original(self, req, *args, **kwargs)
        if way == "offline":
            error = ConnectionRefusedError(f"{url.host} is blocked in a test that replays")
            raise library.ClientConnectorError(req.connection_key, error)
        protocol = library.client_proto.ResponseHandler(loop=asyncio.get_running_loop())
        transport = _Transport(wires, target, protocol, lambda: original(self, req, *args, **kwargs), library)
        protocol.connection_made(transport)
        protocol.force_close()
        return library.connector.Connection(self, req.connection_key, protocol, asyncio.get_running_loop())

    undo.callback(setattr, connector, "connect", original)
    connector.connect = connect


def patch_aiohttp(wires: Wires, undo: ExitStack) -> None:
    """Answer every session of aiohttp until `undo`."""
    undo.enter_context(when_imported("aiohttp", lambda library: _patch(library, wires, undo)))
