"""Sessions of OpenAI Realtime, frame by frame, for tests."""

import json
from dataclasses import replace
from typing import Any

from turntape.cassettes.tape.model import Frame, Request, Response, RoundTrip

TOOL = {"type": "function", "name": "add", "parameters": {"type": "object"}}
SESSION = {"type": "realtime", "id": "sess_1", "model": "gpt-realtime", "instructions": "Be brief.", "tools": [TOOL]}
USAGE = {
    "input_tokens": 20,
    "output_tokens": 6,
    "total_tokens": 26,
    "input_token_details": {"cached_tokens": 8, "text_tokens": 12, "audio_tokens": 8},
    "output_token_details": {"text_tokens": 2, "audio_tokens": 4},
}


def client(kind: str, **fields: object) -> tuple[str, dict[str, Any]]:
    return "client", {"type": kind, **fields}


def server(kind: str, **fields: object) -> tuple[str, dict[str, Any]]:
    return "server", {"type": kind, "event_id": "e", **fields}


def session(*frames: tuple[str, dict[str, Any]]) -> RoundTrip:
    """A session whose frames come 10 microseconds apart, the first at 10."""
    sent = tuple(
        Frame("client" if who == "client" else "server", 10 * n, json.dumps(message).encode(), True)
        for n, (who, message) in enumerate(frames, 1)
    )
    request = Request("GET", "wss://api.openai.com/v1/realtime?model=gpt-realtime-2")
    return RoundTrip(request, Response(101), 100.0, frames=sent, closed_first="client")


CREATED = server("session.created", session=SESSION)


def item(name: str, **fields: object) -> tuple[str, dict[str, Any]]:
    return server("conversation.item.added", item={"id": name, **fields})


def user(name: str, text: str) -> tuple[str, dict[str, Any]]:
    return item(name, type="message", role="user", content=[{"type": "input_text", "text": text}])


def said(name: str, text: str) -> dict[str, Any]:
    content = [{"type": "output_audio", "transcript": text}]
    return {"id": name, "type": "message", "role": "assistant", "status": "completed", "content": content}


def answer(
    name: str, *output: dict[str, Any], status: str = "completed", **more: Any
) -> list[tuple[str, dict[str, Any]]]:
    response = {"id": name, "object": "realtime.response", "status": status, "output": output, "usage": USAGE, **more}
    frames = [server("response.created", response={"id": name, "status": "in_progress", "output": []})]
    for i, one in enumerate(output):
        frames.append(server("response.output_item.added", response_id=name, output_index=i, item=one))
        frames.append(server("conversation.item.added", item=one))
    return [*frames, server("response.done", response=response)]


CALL = {"id": "i_call", "type": "function_call", "call_id": "call_1", "name": "add", "arguments": '{"a":1}'}


def tool_session(
    *after: tuple[str, dict[str, Any]], called: list[dict[str, Any]] | None = None, lasts: float = 60
) -> RoundTrip:
    """A session whose model answers the user with calls; after these frames the client waits, and closes it."""
    frames = [CREATED, user("i1", "hi"), client("response.create"), *answer("r1", *(called or [CALL])), *after]
    return replace(session(*frames), ended_at=int(lasts * 1e6))


def gave(call_id: str = "call_1", name: str = "i3") -> tuple[str, dict[str, Any]]:
    """The conversation has got a result."""
    return item(name, type="function_call_output", call_id=call_id, output="3")
