"""What goes between a client of the MCP SDK and its server, copied as it passes: streams of messages, and dispatchers.

The SDK's objects are not imported here; they are known by their public methods, which versions 1 and 2 share. A fault
of ours is logged once and never reaches the client.
"""

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from time import time
from typing import Any, cast

import orjson

from ..framing.json_text import parse_json
from ..recording.tool_session import Sink, ToolSession, new_session
from ..tape.model import Side, ToolServer

log = logging.getLogger(__name__)

_LOCAL = frozenset({-32000, -32001})
"""Codes of errors that the SDK raises itself: connection closed, request timed out. No server has sent them."""
_INFO = "io.modelcontextprotocol/serverInfo"
_HANDSHAKE = frozenset({"initialize", "server/discover", "notifications/initialized"})

type Message = dict[str, Any]


class Wire:
    """The messages of one client session. They are written when the server's name is known, or not needed any more.

    `run` names the run. `dropped` is set for a session that is recorded elsewhere.
    """

    def __init__(self, sink: Sink, run: str | None) -> None:
        self._sink = sink
        self._run = run
        self._waiting: list[tuple[Side, bytes, float]] | None = []
        """Messages from before the name of the server was known; None since then."""
        self._session: ToolSession | None = None
        self._closed = False
        self._dropped = False
        self._server_left = False
        self._name: str | None = None

    def said(self, sender: Side, data: bytes | Message) -> None:
        """A message of one side has passed."""
        if self._closed:
            return
        try:
            self._say(sender, data if isinstance(data, bytes) else encoded(data))
        except Exception:  # the traffic must go on
            log.exception("fault while recording a tool server")
            self._closed = True

    def _say(self, sender: Side, data: bytes) -> None:
        now = time()
        if self._session is not None:
            self._session.message(sender, data, now)
            return
        assert self._waiting is not None
        self._waiting.append((sender, data, now))
        message = _object(parse_json(data))
        name = _name(message) if sender == "server" else None
        if name or (sender == "client" and message.get("method") not in (None, *_HANDSHAKE)):
            self._begin(name)

    def _begin(self, name: str | None) -> None:
        """Write what has waited."""
        waiting, self._waiting = self._waiting or [], None
        self._name = name or self._name
        server = ToolServer(new_session(), self._name or "server", "process", run=self._run, started_at=waiting[0][2])
        self._session = ToolSession(self._sink, server)
        for sender, data, at in waiting:
            self._session.message(sender, data, at)

    @property
    def is_open(self) -> bool:
        """True while the messages wait."""
        return bool(self._waiting) and not self._closed

    def is_beginning(self, message: Message) -> bool:
        """True when this message of the client is one that waits to be written."""
        return any(sender == "client" and parse_json(data) == message for sender, data, _ in self._waiting or ())

    def drop(self) -> None:
        """Record nothing of this session: its messages are recorded as they go over HTTP."""
        self._closed = self._dropped = True

    def go_on(self, sink: Sink, run: str | None) -> None:
        """Write what comes from now on to this sink, as another session of the same server."""
        self.end()
        if not self._dropped:
            self._sink, self._run = sink, run
            self._waiting, self._session, self._closed = [], None, False

    def server_left(self) -> None:
        """The server has closed its side."""
        self._server_left = True

    def end(self) -> None:
        """The client has left. May be called twice."""
        if self._closed:
            return
        try:
            if self._waiting:
                self._begin(None)
            if self._session is not None:
                self._session.end(closed_first="server" if self._server_left else "client")
        except Exception:  # as above
            log.exception("fault while recording the end of a tool server")
        self._closed = True


def encoded(message: Message) -> bytes:
    """A message as JSON."""
    try:
        return orjson.dumps(message)
    except TypeError:
        return json.dumps(message, ensure_ascii=False, separators=(",", ":"), default=str).encode("utf-8", "replace")


def _object(value: object) -> Message:
    return cast(Message, value) if isinstance(value, dict) else {}


def _name(message: Message) -> str | None:
    """The name that a server gives itself in an answer."""
    result = _object(message.get("result"))
    for info in (result.get("serverInfo"), _object(result.get("_meta")).get(_INFO)):
        if isinstance(name := _object(info).get("name"), str) and name:
            return name
    return None


def wire_bytes(item: Any) -> bytes | None:
    """The JSON of an item of a stream; None for an exception, which is not on the wire."""
    message = getattr(item, "message", None)
    dump = getattr(message, "model_dump_json", None)
    if dump is None:
        return None
    # As the SDK itself writes it: version 1 wraps each message in a model.
    unset = "exclude_none" if hasattr(message, "root") else "exclude_unset"
    return dump(by_alias=True, **{unset: True}).encode()


class _Stream:
    """A stream of the SDK with everything that it has, whose items are copied."""

    def __init__(self, stream: Any, wire: Wire) -> None:
        self._stream = stream
        self._wire = wire

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> Any:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *problem: Any) -> Any:
        return await self._stream.__aexit__(*problem)

    def _copy(self, sender: Side, item: Any) -> None:
        try:
            data = wire_bytes(item)
        except Exception:  # the traffic must go on
            log.exception("fault while recording a message of a tool server")
            return
        if data is not None:
            self._wire.said(sender, data)


class Reading(_Stream):
    """What the client receives."""

    def __aiter__(self) -> Any:
        return self

    async def __anext__(self) -> Any:
        try:
            item = await self._stream.__anext__()
        except StopAsyncIteration:
            self._wire.server_left()
            raise
        self._copy("server", item)
        return item

    async def receive(self) -> Any:
        item = await self._stream.receive()
        self._copy("server", item)
        return item


class Writing(_Stream):
    """What the client sends."""

    async def send(self, item: Any) -> None:
        self._copy("client", item)
        await self._stream.send(item)


class Dispatching:
    """A dispatcher without streams, as the SDK connects a client to a server in the same process.

    There are no ids on such a connection: the requests of each side are counted.
    """

    def __init__(self, dispatcher: Any, wire: Wire) -> None:
        self._dispatcher = dispatcher
        self._wire = wire
        self._asked = 0
        self._was_asked = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dispatcher, name)

    async def send_raw_request(self, method: str, params: Mapping[str, Any] | None, opts: Any = None) -> Any:
        self._asked += 1
        options: dict[str, Any] = dict(opts or {})
        number = options.get("request_id", self._asked)
        sent = dict(params) if params is not None else None
        if (seen := options.get("on_progress")) is not None:
            options["on_progress"] = self._progress(number, seen)
            sent = {**(sent or {}), "_meta": {**_object((sent or {}).get("_meta")), "progressToken": number}}
        self._wire.said("client", _request(number, method, sent))
        try:
            result = await self._dispatcher.send_raw_request(method, params, options if opts is not None else None)
        except Exception as exc:
            if (error := _error(exc)) is not None:
                self._wire.said("server", {"jsonrpc": "2.0", "id": number, "error": error})
            raise
        self._wire.said("server", {"jsonrpc": "2.0", "id": number, "result": result})
        return result

    def _progress(self, token: Any, seen: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
        async def progress(progress: float, total: float | None = None, message: str | None = None) -> None:
            said = {"progressToken": token, "progress": progress, "total": total, "message": message}
            params = {key: value for key, value in said.items() if value is not None}
            self._wire.said("server", _request(None, "notifications/progress", params))
            await seen(progress, total, message)

        return progress

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: Any = None) -> None:
        self._wire.said("client", _request(None, method, params))
        await self._dispatcher.notify(method, params, opts)

    async def run(self, on_request: Any, on_notify: Any, on_notify_intercept: Any = None, **options: Any) -> None:
        async def asked(context: Any, method: str, params: Mapping[str, Any] | None) -> Any:
            self._was_asked += 1
            number = self._was_asked
            self._wire.said("server", _request(number, method, params))
            try:
                result = await on_request(context, method, params)
            except Exception as exc:
                if (error := _error(exc)) is not None:
                    self._wire.said("client", {"jsonrpc": "2.0", "id": number, "error": error})
                raise
            self._wire.said("client", {"jsonrpc": "2.0", "id": number, "result": result})
            return result

        def heard(method: str, params: Mapping[str, Any] | None) -> bool:
            self._wire.said("server", _request(None, method, params))
            return on_notify_intercept is not None and on_notify_intercept(method, params)

        await self._dispatcher.run(asked, on_notify, heard, **options)


def _request(number: Any, method: str, params: Mapping[str, Any] | None) -> Message:
    given = {"id": number, "method": method, "params": None if params is None else dict(params)}
    return {"jsonrpc": "2.0", **{key: value for key, value in given.items() if value is not None}}


def _error(exc: Exception) -> Message | None:
    """The JSON-RPC error that an exception of the SDK carries; None when no peer has sent it."""
    error = getattr(exc, "error", None)
    code, text = getattr(error, "code", None), getattr(error, "message", None)
    if not isinstance(code, int) or code in _LOCAL:
        return None
    data = getattr(error, "data", None)
    return {"code": code, "message": text, **({"data": data} if data is not None else {})}
