"""Recorded tool servers for the clients of the MCP SDK in this process: no server runs, and no program starts.

Every `ClientSession` gets streams that a `ToolPlayer` answers, in place of those of its transport. A server over stdio
is replaced by an idle process, because the SDK starts one before it makes the session.
"""

import sys
from collections import deque
from collections.abc import Generator, Iterable
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from time import monotonic
from types import ModuleType
from typing import Any

from ..replay.tool_player import ToolConnection, ToolPlayer
from ..tape.model import RoundTrip
from .mcp import when_imported
from .mcp_wire import wire_bytes

_SESSION, _STDIO = "mcp.client.session", "mcp.client.stdio"
_IDLE = [sys.executable, "-c", "import sys; sys.stdin.read()"]


@contextmanager
def played_tools(round_trips: Iterable[RoundTrip]) -> Generator[ToolPlayer]:
    """Within this context, the tool servers of a cassette answer all sessions of the MCP SDK.

    `with played_tools(Cassette.load("a.cassette.jsonl")) as player:`. The n-th session plays the n-th recorded one, and
    the last one again when there are more. Answers come after the recorded time. A call that was not recorded gets an
    error result and is in `player.misses`. A client over the HTTP transport of 2024-11-05 still needs its server.
    """
    player = ToolPlayer([trip for trip in round_trips if trip.tool_wire is not None])
    servers = _Servers(player)
    with ExitStack() as undo:
        for name, patch in ((_SESSION, servers.patch_sessions), (_STDIO, _patch_stdio)):
            if (module := sys.modules.get(name)) is not None:
                patch(undo, module)
            else:
                undo.enter_context(when_imported(name, partial(patch, undo)))
        yield player


class _Servers:
    """Which recorded server is next."""

    def __init__(self, player: ToolPlayer) -> None:
        self._player = player
        found = [(session.started_at, name) for name, several in player.sessions.items() for session in several]
        self._names = deque(name for _, name in sorted(found))
        self._last = self._names[-1] if self._names else ""

    def patch_sessions(self, undo: ExitStack, module: ModuleType) -> None:
        session: Any = module.ClientSession
        begin = session.__init__

        def __init__(this: Any, read_stream: Any = None, write_stream: Any = None, *rest: Any, **named: Any) -> None:
            name = self._names.popleft() if self._names else self._last
            played = _Played(self._player.connect(name))
            named.pop("dispatcher", None)
            begin(this, _Reading(played), _Writing(played), *rest, **named)

        undo.callback(setattr, session, "__init__", begin)
        session.__init__ = __init__


def _patch_stdio(undo: ExitStack, module: Any) -> None:
    start = module._create_platform_compatible_process

    async def idle(command: str, args: list[str], *rest: Any, **named: Any) -> Any:
        return await start(_IDLE[0], _IDLE[1:], *rest, **{**named, "cwd": None})

    undo.callback(setattr, module, "_create_platform_compatible_process", start)
    module._create_platform_compatible_process = idle


class _Played:
    """One played server: what it has to say, and an event for what the client says."""

    def __init__(self, connection: ToolConnection) -> None:
        self.connection = connection
        self.lines: deque[bytes] = deque()
        self.left = False
        self.news = import_module("anyio").Event()

    def wake(self) -> None:
        self.news.set()
        self.news = import_module("anyio").Event()

    async def next_line(self) -> bytes | None:
        """The next line of the server, when it is due; None at its end, and when the client has left."""
        anyio: Any = import_module("anyio")
        while True:
            now = monotonic()
            self.lines.extend(self.connection.due(now))
            if self.lines:
                return self.lines.popleft()
            if self.left or self.connection.closed:
                return None
            with anyio.move_on_after(self.connection.wait(now)):
                await self.news.wait()


class _Stream:
    def __init__(self, played: _Played) -> None:
        self._played = played

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(self, *problem: object) -> None:
        self.close()

    async def aclose(self) -> None:
        self.close()

    def close(self) -> None:
        self._played.left = True
        self._played.wake()


class _Reading(_Stream):
    def __aiter__(self) -> Any:
        return self

    async def __anext__(self) -> Any:
        line = await self._played.next_line()
        if line is None:
            raise StopAsyncIteration
        return _item(line)

    async def receive(self) -> Any:
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise import_module("anyio").EndOfStream from None


class _Writing(_Stream):
    async def send(self, item: Any) -> None:
        data = wire_bytes(item)
        if data is not None:
            self._played.connection.receive(data, monotonic())
            self._played.wake()
        await import_module("anyio").lowlevel.checkpoint()


def _item(line: bytes) -> Any:
    """A line as the SDK's streams have it; an exception when it is not a message."""
    try:
        read: Any = import_module("mcp_types").jsonrpc_message_adapter.validate_json
    except ImportError:  # version 1 of the SDK
        read = import_module("mcp.types").JSONRPCMessage.model_validate_json
    try:
        return import_module("mcp.shared.message").SessionMessage(read(line))
    except ValueError as exc:
        return exc
