"""Round trips for tests of the inspector: a request and an answer, as a cassette holds them."""

import json
from typing import Literal

from turntape.cassettes.tape.model import Failure, Request, Response, RoundTrip

CHAT = "https://api.openai.com/v1/chat/completions"
MESSAGES = "https://api.anthropic.com/v1/messages"
GEMINI = "https://generativelanguage.googleapis.com/v1beta/models/gemini-3:generateContent"
GEMINI_STREAM = "https://generativelanguage.googleapis.com/v1beta/models/gemini-3:streamGenerateContent?alt=sse"


def encoded(body: object) -> bytes:
    """`body` as it goes over the wire: bytes and text as they are, the rest as JSON."""
    if isinstance(body, bytes):
        return body
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()


def sse(*events: object, names: bool = False, done: bool = False) -> bytes:
    """An SSE body of these JSON events; `names` adds `event:` from their type."""
    lines: list[str] = []
    for event in events:
        name = event.get("type") if names and isinstance(event, dict) else None
        data = event if isinstance(event, str) else json.dumps(event)
        lines.append(f"event: {name}\ndata: {data}\n\n" if name else f"data: {data}\n\n")
    return ("".join(lines) + ("data: [DONE]\n\n" if done else "")).encode()


def exchanged(
    url: str,
    request: object,
    answer: object,
    *,
    status: int = 200,
    content_type: str | None = None,
    headers: tuple[tuple[str, str], ...] = (),
    request_headers: tuple[tuple[str, str], ...] = (),
    method: str = "POST",
    upstream: str | None = None,
    failure: Failure | None = None,
) -> RoundTrip:
    """A round trip with a whole answer; the content type is guessed from the bytes."""
    body = encoded(answer)
    kind = content_type or ("application/json" if body[:1] in b"{[" else "text/event-stream")
    return RoundTrip(
        request=Request(method, url, (("content-type", "application/json"), *request_headers), encoded(request)),
        response=Response(status, headers=(("content-type", kind), *headers), content=body),
        started_at=0.0,
        upstream=upstream,
        failure=failure,
    )


def unanswered(url: str, request: object, kind: Literal["refused", "client_gone", "timeout"]) -> RoundTrip:
    """A round trip to which nothing came back."""
    return RoundTrip(Request("POST", url, (), encoded(request)), None, 0.0, failure=Failure(kind, f"{kind}!"))
