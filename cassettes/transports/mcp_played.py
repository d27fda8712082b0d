"""Recorded tool servers for the clients of the MCP SDK in this process: no server runs, and no program starts.

Every `ClientSession` gets streams that a `ToolPlayer` answers, in place of those of its transport. A server over stdio
is replaced by an idle process, because the SDK starts one before it makes the session. A session that is open longer
than its context is answered by the player of the next one, or of the one around it.
"""

import sys
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from time import monotonic
from types import ModuleType
from typing import Any

from ..errors import TurntapeError
from ..replay.tools.connection import ToolConnection
from ..replay.tools.player import ToolPlayer
from ..tape.model import RoundTrip
from .mcp import is_recording, when_imported
from .mcp_wire import wire_bytes

_SESSION, _STDIO = "mcp.client.session", "mcp.client.stdio"
_HTTP = ("mcp.client.streamable_http", "mcp.client.sse")
_IDLE = [sys.executable, "-c", "import sys; sys.stdin.read()"]


@contextmanager
def played_tools(round_trips: Iterable[RoundTrip]) -> Generator[ToolPlayer]:
    """Within this context, the tool servers of a cassette answer all sessions of the MCP SDK.

    `with played_tools(Cassette.load("a.cassette.jsonl")) as player:`. The n-th session plays the n-th recorded one, and
    the last one again when there are more. Answers come after the recorded time. A call that was not recorded gets an
    error result and is in `player.misses`. A client over the HTTP transport of 2024-11-05 still needs its server.
    """
    player = ToolPlayer([trip for trip in round_trips if trip.tool_wire is not None])
    with played_sessions(player):
        yield player


@contextmanager
def played_sessions(
    player: ToolPlayer, *, live: Collection[str] = (), over_http: Callable[[], bool] | None = None
) -> Generator["PlayedSessions"]:
    """Within this context, `player` answers all sessions of the MCP SDK.

    The servers named in `live` run, `*` for all. When `over_http` says no, sessions over HTTP are left to their
    transport.
    """
    servers = PlayedSessions(player, live, over_http)
    patches: list[tuple[str, Callable[[ExitStack, Any], None]]] = [
        (_SESSION, servers.patch_sessions),
        (_STDIO, servers.patch_stdio),
    ]
    if over_http is not None:
        patches += [(name, servers.patch_http) for name in _HTTP]
    with ExitStack() as undo:
        _contexts.append(servers)
        undo.callback(_contexts.remove, servers)
        for name, patch in patches:
            if (module := sys.modules.get(name)) is not None:
                patch(undo, module)
            else:
                undo.enter_context(when_imported(name, partial(patch, undo)))
        yield servers


_contexts: "list[PlayedSessions]" = []
"""The contexts that are entered, the innermost last."""


class PlayedSessions:
    """Which recorded server is next. `opened` is how many sessions were given to a player."""

    def __init__(self, player: ToolPlayer, live: Collection[str], over_http: Callable[[], bool] | None) -> None:
        self.opened = 0
        self._player = player
        found = [(session.started_at, name) for name, several in player.sessions.items() for session in several]
        self._names = deque(name for _, name in sorted(found))
        self._last = self._names[-1] if self._names else ""
        self._live = frozenset(live)
        self._over_http = over_http
        self._programs = 0
        """Programs that were started and have no session so far."""
        self._of_http: list[Any] = []
        """The streams of sessions over HTTP."""

    def connect(self, name: str) -> ToolConnection:
        """A session with a server."""
        self.opened += 1
        return self._player.connect(name)

    def adopt(self, name: str) -> ToolConnection:
        """A session that was opened before this context, or within one in it."""
        if name in self._names:
            self._names.remove(name)
        return self.connect(name)

    def _is_live(self, name: str) -> bool:
        return name in self._live or "*" in self._live

    def patch_sessions(self, undo: ExitStack, module: ModuleType) -> None:
        session: Any = module.ClientSession
        begin = session.__init__

        def __init__(this: Any, read_stream: Any = None, write_stream: Any = None, *rest: Any, **named: Any) -> None:
            given = named.get("dispatcher")
            stream = read_stream if read_stream is not None else getattr(given, "_read_stream", None)
            if self._over_http and any(stream is one for one in self._of_http) and not self._over_http():
                begin(this, read_stream, write_stream, *rest, **named)
                return
            name = self._names.popleft() if self._names else self._last
            self._programs = max(self._programs - 1, 0)
            if self._is_live(name):
                begin(this, read_stream, write_stream, *rest, **named)
                return
            played = _Played(self, name)
            named.pop("dispatcher", None)
            begin(this, _Reading(played), _Writing(played), *rest, **named)

        undo.callback(setattr, session, "__init__", begin)
        session.__init__ = __init__

    def patch_stdio(self, undo: ExitStack, module: Any) -> None:
        start = module._create_platform_compatible_process

        async def idle(command: str, args: list[str], *rest: Any, **named: Any) -> Any:
            # The program is started before its session, and the sessions get the names in order.
            name = self._names[self._programs] if self._programs < len(self._names) else self._last
            self._programs += 1
            if self._is_live(name):
                return await start(command, args, *rest, **named)
            return await start(_IDLE[0], _IDLE[1:], *rest, **{**named, "cwd": None})

        undo.callback(setattr, module, "_create_platform_compatible_process", start)
        module._create_platform_compatible_process = idle

    def patch_http(self, undo: ExitStack, module: Any) -> None:
        """Note the streams that this transport makes."""
        name = "create_context_streams" if hasattr(module, "create_context_streams") else "anyio"
        made = getattr(module, name)
        undo.callback(setattr, module, name, made)
        noting = _Streams(made, self._of_http) if name != "anyio" else _Anyio(made, self._of_http)
        setattr(module, name, noting)


class _Streams:
    """A function that makes a pair of streams, each of which is noted."""

    def __init__(self, make: Any, made: list[Any]) -> None:
        self._make = make
        self._made = made

    def __getitem__(self, kind: Any) -> Any:
        return _Streams(self._make[kind], self._made)

    def __call__(self, *sizes: Any, **named: Any) -> Any:
        pair = self._make(*sizes, **named)
        self._made += pair
        return pair


class _Anyio:
    """The module anyio, whose pairs of streams are noted."""

    def __init__(self, module: Any, made: list[Any]) -> None:
        self._module = module
        self.create_memory_object_stream = _Streams(module.create_memory_object_stream, made)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


class _Played:
    """One played server: what it has to say, and an event for what the client says."""

    def __init__(self, servers: PlayedSessions, name: str) -> None:
        self._servers = servers
        self._name = name
        self.connection = servers.connect(name)
        self.lines: deque[bytes] = deque()
        self.left = False
        self.news = import_module("anyio").Event()

    def receive(self, data: bytes) -> None:
        """Take a line of the client. Raises TurntapeError when it should be recorded, and no server runs."""
        if _contexts and _contexts[-1] is not self._servers:
            self.lines.extend(self.connection.due(monotonic()))
            self._servers = _contexts[-1]
            self.connection = self._servers.adopt(self._name)
        elif not _contexts and is_recording():
            raise TurntapeError(
                f"the session with the tool server {self._name} was opened by a fixture and is played from its "
                "cassette, so calls in it cannot be recorded: record the fixture and its tests together with "
                "--turntape-mode=all (-n 0 with pytest-xdist)"
            )
        self.connection.receive(data, monotonic())

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
            self._played.receive(data)
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
