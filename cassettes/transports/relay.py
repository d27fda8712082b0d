"""A session as a server: an ASGI app that answers other processes as the in-process transports do.

The session decides what is replayed, recorded and compared, so an agent that runs as a command is recorded and
replayed by the same rules as code in the test's process.
"""

from collections.abc import Mapping
from typing import Any

import httpx

from ..routes.upstreams import locate
from ..server.asgi import App, Cut, Message, Receive, Send
from .cassette import AsyncCassetteTransport

_NOWHERE = "http://no-such-upstream.invalid"
_OF_THE_CONNECTION = frozenset(
    {"host", "connection", "keep-alive", "transfer-encoding", "content-length", "expect", "upgrade", "te"}
)


def relay(transport: AsyncCassetteTransport, upstreams: Mapping[str, str]) -> App:
    """An ASGI app over `transport`. `upstreams` gives the URL of each API, by name, for live requests."""

    async def answer(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        body = bytearray()
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        request = _request(scope, bytes(body), upstreams)
        try:
            response = await transport.handle_async_request(request)
        except httpx.TransportError as exc:
            raise Cut(str(exc)) from exc
        await _send(send, response)

    return answer


def _request(scope: Message, body: bytes, upstreams: Mapping[str, str]) -> httpx.Request:
    query: str = scope["query_string"].decode()
    target: str = (scope.get("raw_path") or scope["path"].encode()).decode() + (f"?{query}" if query else "")
    found = locate(target, upstreams)
    headers = [(name, value) for name, value in scope["headers"] if name.decode("latin-1") not in _OF_THE_CONNECTION]
    url = found.url + found.path if found else _NOWHERE + target
    return httpx.Request(scope["method"], url, headers=headers, content=body)


async def _send(send: Send, response: Any) -> None:
    headers = [
        (name.lower(), value)
        for name, value in response.headers.raw
        if name.lower() not in (b"connection", b"keep-alive", b"transfer-encoding", b"content-length")
    ]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    try:
        async for piece in response.stream:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    except httpx.TransportError as exc:
        raise Cut(str(exc)) from exc
    finally:
        await response.aclose()
    await send({"type": "http.response.body", "body": b""})
