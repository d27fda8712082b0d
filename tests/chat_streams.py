"""Chat completions as streams, for tests of how an answer and its calls arrived."""

from typing import Any

from conversations import HELLO
from judged import trip
from round_trips import CHAT

from turntape.cassettes.tape.model import RoundTrip

BASE = {"id": "c", "object": "chat.completion.chunk", "model": "gpt-5"}


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {**BASE, "choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}], **more}


WORDS = [chunk({"role": "assistant", "content": "It holds"}), chunk({"content": " a recording."})]


END = chunk(finish="stop", usage={"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14})


ASKED = {"model": "gpt-5", "messages": [HELLO], "stream": True, "stream_options": {"include_usage": True}}


def stream(body: bytes, **more: Any) -> RoundTrip:
    return trip(CHAT, ASKED, body, **more)


def call(index: Any, call_id: str | None, name: str | None, arguments: str) -> dict[str, Any]:
    item: dict[str, Any] = {"function": {"arguments": arguments}}
    if name:
        item["function"]["name"] = name
    if index is not None:
        item["index"] = index
    return chunk({"tool_calls": [item | ({"id": call_id, "type": "function"} if call_id else {})]})


CALLED = chunk(finish="tool_calls", usage={"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14})
