"""A local socket where the wrappers of tool servers get the recorded servers in place of the real ones.

The first line of a connection is a JSON object, `{"server": name, "cwd": folder}`; the rest is what the client says,
one message a line. What comes back are frames: a letter, the length in four bytes (the highest first), and the data.
`o` is for stdout, `e` for stderr, `x` for the end: a JSON object with `exit`, the code, or `signal`, its name. The
connection ends when the recorded server had ended.
"""

import asyncio
import contextlib
import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import cast

import orjson

from ..errors import CassetteError
from ..replay.tools.connection import ToolConnection
from ..replay.tools.player import ToolPlayer

_ROUNDS = 8
"""Rounds of the loop at the end, more than a connection needs from its acceptance to its close."""
_LAST = 10.0
"""Seconds for answers to a client that has closed its end."""
LINE_BYTES = 1 << 30
"""The longest line that is read."""


async def talk(player: ToolPlayer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve one connection to its end."""
    clock = asyncio.get_running_loop().time
    line: asyncio.Task[bytes] | None = None
    try:
        hello = cast(dict[str, object], orjson.loads(await reader.readline()))
        folder = hello.get("cwd")
        connection = player.connect(str(hello["server"]), folder if isinstance(folder, str) else None)
        line = asyncio.ensure_future(reader.readline())
        while not connection.closed:
            await _send(connection, writer, clock())
            if connection.closed:
                break
            done, _ = await asyncio.wait({line}, timeout=connection.wait(clock()))
            if not done:
                continue
            data = line.result()
            if not data:
                await _finish(connection, writer, clock() + _LAST)
                break
            connection.receive(data.rstrip(b"\r\n"), clock())
            line = asyncio.ensure_future(reader.readline())
        _end(connection, writer)
    except (OSError, ValueError, KeyError, asyncio.LimitOverrunError):
        pass  # the wrapper has ended, or it is none
    finally:
        if line is not None:
            line.cancel()
        with contextlib.suppress(OSError):
            writer.close()


async def _finish(connection: ToolConnection, writer: asyncio.StreamWriter, until: float) -> None:
    """The client has closed its end: it still gets the answers to what it asked, as from a server."""
    clock = asyncio.get_running_loop().time
    while (pause := connection.wait(clock())) is not None and clock() + pause < until and not connection.closed:
        await asyncio.sleep(pause)
        await _send(connection, writer, clock())


async def _send(connection: ToolConnection, writer: asyncio.StreamWriter, now: float) -> None:
    lines = connection.due(now)
    _write(writer, b"e", connection.errors())
    for data in lines:
        _write(writer, b"o", data + b"\n")
    await writer.drain()


def _end(connection: ToolConnection, writer: asyncio.StreamWriter) -> None:
    _write(writer, b"e", connection.rest_of_errors())
    process = connection.process
    if process is not None and (process.signal or process.exit is not None):
        _write(writer, b"x", orjson.dumps({"exit": process.exit, "signal": process.signal}))


def _write(writer: asyncio.StreamWriter, kind: bytes, data: bytes) -> None:
    if data:
        writer.writelines((kind + len(data).to_bytes(4), data))


@contextmanager
def tool_link(player: ToolPlayer, path: str) -> Generator[None]:
    """Listen on the unix socket `path` in a thread, while this is entered. Raises CassetteError when that fails."""
    loop = asyncio.new_event_loop()
    ready = threading.Event()
    problems: list[OSError] = []
    over = asyncio.Event()

    async def listen() -> None:
        tasks: set[asyncio.Task[None]] = set()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            tasks.add(task)
            await talk(player, reader, writer)
            tasks.discard(task)

        try:
            server = await asyncio.start_unix_server(connected, path, limit=LINE_BYTES)
        except OSError as exc:
            problems.append(exc)
            ready.set()
            return
        ready.set()
        await over.wait()
        server.close()
        for _ in range(_ROUNDS):
            for task in list(tasks):
                task.cancel()
            await asyncio.sleep(0)

    thread = threading.Thread(target=lambda: loop.run_until_complete(listen()), daemon=True)
    thread.start()
    ready.wait()
    try:
        if problems:
            raise CassetteError(f"cannot listen on {path!r}: {problems[0].strerror}")
        yield
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(5.0)
        if not thread.is_alive():
            loop.close()
        with contextlib.suppress(OSError):
            os.unlink(path)  # noqa: PTH108
