"""Requests to an ASGI app without a socket, for tests of the replay server."""

import asyncio
from typing import Any

from turntape.cassettes import Request, Response, RoundTrip
from turntape.cassettes.server.asgi import App
from turntape.cassettes.tape.model import Headers

URL = "https://api.openai.com/v1/chat/completions"
JSON = (("content-type", "application/json"),)


def whole(answer: bytes, body: bytes = b"{}", status: int = 200) -> RoundTrip:
    """A recorded request with its answer, which came at once."""
    return RoundTrip(Request("POST", URL, content=body), Response(status, "", JSON, answer), 0.0)


type Sent = list[dict[str, Any]]


def ask(
    serving: App,
    *parts: bytes,
    path: str = "/openai/v1/chat/completions",
    sent: Sent | None = None,
    method: str = "POST",
    headers: Headers = (),
    is_whole: bool = True,
) -> Sent:
    """One request in as many parts; what the app sends."""
    sent = [] if sent is None else sent
    pending: Sent = [{"type": "http.request", "body": part, "more_body": True} for part in parts or (b"{}",)]
    pending[-1]["more_body"] = not is_whole
    pending.append({"type": "http.disconnect"})

    async def receive() -> Any:
        return pending.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    path, _, query = path.partition("?")
    scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in (*JSON, *headers)],
    }  # fmt: skip
    asyncio.run(serving(scope, receive, send))  # type: ignore[arg-type]
    return sent
