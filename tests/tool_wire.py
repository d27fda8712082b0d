"""Round trips of the tool wire for tests: MCP over HTTP, stdio and in process."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from turntape.cassettes.tape.model import Chunk, Headers, Request, Response, RoundTrip, Side, ToolWire

URL = "http://127.0.0.1:9000/mcp"
STREAM = "text/event-stream"
SESSION: Headers = (("Mcp-Session-Id", "s-1"), ("MCP-Protocol-Version", "2025-11-25"))


def asks(name: object, method: str, /, **params: Any) -> dict[str, Any]:
    """A request with the id `name`."""
    return {"jsonrpc": "2.0", "id": name, "method": method, "params": params}


def notifies(method: str, /, **params: Any) -> dict[str, Any]:
    """A notification."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def answers(name: object, /, **result: Any) -> dict[str, Any]:
    """A result for the request `name`."""
    return {"jsonrpc": "2.0", "id": name, "result": result}


def fails(name: object, message: str = "no", code: int = -32603) -> dict[str, Any]:
    """An error for the request `name`."""
    return {"jsonrpc": "2.0", "id": name, "error": {"code": code, "message": message}}


def initialize(name: object = 0, version: str = "2025-11-25", **capabilities: Any) -> dict[str, Any]:
    info = {"name": "a client", "version": "1"}
    return asks(name, "initialize", protocolVersion=version, capabilities=capabilities, clientInfo=info)


def initialized(name: object = 0, server: str = "files") -> dict[str, Any]:
    info = {"name": server, "version": "1"}
    offers: dict[str, Any] = {
        "tools": {"listChanged": True},
        "logging": {},
        "tasks": {"requests": {"tools": {"call": {}}}},
    }
    return answers(name, protocolVersion="2025-11-25", capabilities=offers, serverInfo=info)


def encoded(message: object) -> bytes:
    """A message as it goes over the wire; bytes as they are, None as nothing."""
    if message is None:
        return b""
    return message if isinstance(message, bytes) else json.dumps(message).encode()


def events(*messages: object, name: str = "message") -> bytes:
    """An event stream of these messages."""
    return b"".join(b"event: %s\r\ndata: %s\r\n\r\n" % (name.encode(), encoded(one)) for one in messages)


def http(
    sent: object,
    got: object = None,
    *,
    url: str = URL,
    method: str = "POST",
    status: int = 200,
    kind: str = "application/json",
    headers: Headers = SESSION,
    answer_headers: Headers = (),
    at: float = 0.0,
    index: int = -1,
    chunks: tuple[Chunk, ...] = (),
    ended_at: int | None = 20,
) -> RoundTrip:
    """An exchange over HTTP; `at` is when it began, the request took 10 microseconds and the answer 20."""
    return RoundTrip(
        Request(method, url, (("Accept", f"application/json, {STREAM}"), *headers), encoded(sent)),
        Response(status, headers=(("Content-Type", kind), *answer_headers), content=encoded(got), chunks=chunks),
        at,
        index,
        request_at=10,
        first_byte_at=15,
        ended_at=ended_at,
        route="base_url",
    )


def stdio(
    sent: object,
    got: object = None,
    *,
    sender: Side = "client",
    session: str = "a",
    server: str = "files",
    sequence: int = 0,
    answered: int | None = None,
    at: float = 0.0,
    ended_at: int | None = 20,
    index: int = -1,
) -> RoundTrip:
    """An exchange over stdio; without `got`, a message that needs no answer."""
    return RoundTrip(
        Request("STDIO", f"stdio://{server}", (), encoded(sent)),
        None if got is None else Response(0, content=encoded(got)),
        at,
        index,
        request_at=0,
        first_byte_at=ended_at if got is not None else None,
        ended_at=ended_at,
        route="stdio",
        tool_wire=ToolWire(session, server, sender, sequence, answered),
    )


def in_run(trip: RoundTrip, run: str) -> RoundTrip:
    """The same in a named run."""
    return replace(trip, run=run)


def confirmed(trips: Sequence[RoundTrip]) -> list[RoundTrip]:
    """The round trips, with the notification behind them that ends each handshake, where no session has one.

    So a test of something else need not say it.
    """
    made = list(trips)
    if any(b"notifications/initialized" in trip.request.body for trip in trips):
        return made
    end = max((trip.started_at + (trip.ended_at or 0) / 1e6 for trip in trips), default=0.0) + 0.001
    done: set[object] = set()
    for trip in trips:
        wire, body, notice = trip.tool_wire, trip.request.body, notifies("notifications/initialized")
        given = trip.response.headers if trip.response is not None else ()
        named = tuple((key, value) for key, value in (*given, *trip.request.headers) if key.lower() == "mcp-session-id")
        session = wire.session if wire is not None else named[:1] or trip.request.url
        if b'"initialize"' not in body or session in done:
            continue
        done.add(session)
        if wire is None:
            one = http(notice, url=trip.request.url, status=202, headers=named[:1])
        else:
            one = stdio(notice, session=wire.session, server=wire.server, sequence=9_000)
        made.append(replace(one, run=trip.run, started_at=end, index=max(trip.index for trip in made) + 1))
    return made
