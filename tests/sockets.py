"""WebSocket sessions and handshakes as round trips: what was asked, what was said, and what was refused."""

import json
from typing import Any, Literal

from conversations import START

from turntape.cassettes.tape.model import Frame, Request, Response, RoundTrip

SOCKET = "https://api.openai.com/v1/responses"
REALTIME = "https://api.openai.com/v1/realtime?model=gpt-realtime"
LIVE = (
    "https://generativelanguage.googleapis.com/ws/google.ai.generativelanguage.v1beta.GenerativeService"
    ".BidiGenerateContent"
)
UPGRADE = (("Connection", "Upgrade"), ("Upgrade", "WebSocket"))


def handshake(url: str = SOCKET, status: int | None = 401, index: int = 0, **fields: Any) -> RoundTrip:
    """A request for a WebSocket, and the answer to it."""
    headers, method = fields.pop("headers", UPGRADE), fields.pop("method", "GET")
    error = fields.pop("error", {"message": "no", "type": "x"})
    content = json.dumps({"error": error}).encode()
    kind = (("content-type", "application/json"),)
    response = None if status is None else Response(status, headers=kind, content=content)
    started = fields.pop("at", START + index)
    return RoundTrip(Request(method, url, headers), response, started, index=index, request_at=0, **fields)


def say(sender: Literal["client", "server"], at: int, **body: object) -> Frame:
    return Frame(sender, at, json.dumps(body).encode(), True)


def session(*frames: Frame, url: str = SOCKET, index: int = 0, **fields: Any) -> RoundTrip:
    """A session with these messages."""
    request = Request("GET", url, UPGRADE)
    return RoundTrip(request, Response(101), START + index, index=index, frames=frames, **fields)


def create(at: int, text: str = "hi", **fields: object) -> Frame:
    return say("client", at, type="response.create", model="gpt-5", input=text, **fields)


def completed(at: int, name: str = "r1", text: str = "Hey") -> Frame:
    item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    usage = {"input_tokens": 3, "output_tokens": 1, "total_tokens": 4}
    body = {"id": name, "status": "completed", "output": [item], "model": "gpt-5", "usage": usage}
    return say("server", at, type="response.completed", response=body)
