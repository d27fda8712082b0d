"""The recorder's end of the link in the process of a run: takes connections of wrappers and records what they send."""

import asyncio
import contextlib
import logging
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from turntape.cassettes.recording.tool_session import Sink

from .address import HAS_UNIX_SOCKETS, Address
from .link_session import LinkSession

log = logging.getLogger(__name__)

PATIENCE = 5.0
"""Seconds at the end of a run in which wrappers may send the rest. A client ends before its servers do, and a server
that has to be ended takes four seconds."""
QUIET = 1.0
"""Seconds after which the wait is announced."""
_PIECE = 1 << 18
_ROUNDS = 8
"""Rounds of the loop at the end, more than it takes to accept a wrapper that has already connected."""
_LONGEST_PATH = 100
"""Bytes of a unix socket's path that every system takes."""


class LinkServer:
    """`address = await server.start()`, later `await server.close()`. `problems` has one sentence for each loss."""

    def __init__(self, recorder: Sink, *, run: str | None = None) -> None:
        self.problems: list[str] = []
        self.address: Address | None = None
        self._recorder = recorder
        self._run = run
        self._folder: Path | None = None
        self._server: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], LinkSession] = {}
        self._calls = 0
        self._hurry = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def calls(self) -> int:
        """Tool calls that were recorded so far."""
        return self._calls + sum(session.calls for session in self._connections.values())

    async def start(self) -> Address:
        """Listen. Raises OSError when that is not possible."""
        self._loop = asyncio.get_running_loop()
        token = ""
        if HAS_UNIX_SOCKETS:
            self._folder = _folder()
            path = str(self._folder / "link")
            self._server = await asyncio.start_unix_server(self._connected, path)
            self.address = Address(path=path)
        else:
            token = secrets.token_hex(16)
            self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
            self.address = Address(port=self._server.sockets[0].getsockname()[1], token=token)
        return self.address

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task and self.address
        session = LinkSession(self._recorder, self._report, token=self.address.token, run=self._run)
        self._connections[task] = session
        try:
            while data := await reader.read(_PIECE):
                session.feed(data)
        except (OSError, asyncio.CancelledError):
            pass  # the wrapper was killed, or the run is over
        finally:
            session.close()
            self._calls += session.calls
            del self._connections[task]
            writer.close()

    def _report(self, sentence: str) -> None:
        if sentence not in self.problems:
            self.problems.append(sentence)
            log.error("%s", sentence)

    def hurry(self) -> None:
        """Do not wait for wrappers in `close`. Any thread may call this."""
        if self._loop:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._hurry.set)

    async def close(
        self, patience: float = PATIENCE, waiting: Callable[[list[str]], object] = lambda names: None
    ) -> None:
        """Take no new connections, wait for those that are open, and cut the rest.

        `waiting` gets the names of the servers that are still open after a second.
        """
        if self._server is None:
            return
        for _ in range(_ROUNDS):
            await asyncio.sleep(0)
        self._server.close()
        if self._connections:
            over = asyncio.ensure_future(self._hurry.wait())
            either = {over, asyncio.gather(*self._connections, return_exceptions=True)}
            first = min(patience, QUIET)
            ended, _ = await asyncio.wait(either, timeout=first, return_when=asyncio.FIRST_COMPLETED)
            if not ended and patience > first:
                waiting(sorted({session.name for session in self._connections.values()}))
                await asyncio.wait(either, timeout=patience - first, return_when=asyncio.FIRST_COMPLETED)
            over.cancel()
        left = list(self._connections)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)


def _folder() -> Path:
    """A new folder that only we can open, with room for the name of a socket."""
    made = tempfile.mkdtemp(prefix="turntape-")
    if len(os.fsencode(made)) > _LONGEST_PATH:
        Path(made).rmdir()
        made = tempfile.mkdtemp(prefix="turntape-", dir="/tmp")
    return Path(made)
