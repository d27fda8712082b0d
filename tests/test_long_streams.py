"""A stream of many events is labelled with work that grows with its events."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from steps import counting

from turntape.cassettes.tape.model import Chunk, Request, Response, RoundTrip
from turntape.inspector.run.labels import label_all

ANTHROPIC = "https://api.anthropic.com/v1/messages"
CHAT = "https://api.openai.com/v1/chat/completions"
RESPONSES = "https://api.openai.com/v1/responses"


def streamed(url: str, bodies: list[dict[str, Any]]) -> RoundTrip:
    lines = [f"event: {one['type']}\n" if "type" in one else "" for one in bodies]
    pieces = [f"{line}data: {json.dumps(one)}\n\n".encode() for line, one in zip(lines, bodies, strict=True)]
    return RoundTrip(
        Request("POST", url, content=b'{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}'),
        Response(
            200,
            headers=(("content-type", "text/event-stream"),),
            content=b"".join(pieces),
            chunks=tuple(Chunk(len(piece), 1000 + 10 * number) for number, piece in enumerate(pieces)),
        ),
        1.0,
        index=0,
        request_at=1,
        first_byte_at=2,
        ended_at=9_000_000,
    )


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"id": "1", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def words(count: int) -> RoundTrip:
    return streamed(CHAT, [*(chunk({"content": f"w{n} "}) for n in range(count)), chunk({}, "stop")])


def calls(count: int) -> RoundTrip:
    each = [{"index": n, "id": f"c{n}", "function": {"name": "f", "arguments": "{}"}} for n in range(count)]
    return streamed(CHAT, [*(chunk({"tool_calls": [one]}) for one in each), chunk({}, "tool_calls")])


def blocks(count: int) -> RoundTrip:
    bodies: list[dict[str, Any]] = [{"type": "message_start", "message": {"id": "m", "model": "m", "content": []}}]
    for n in range(count):
        bodies.append({"type": "content_block_start", "index": n, "content_block": {"type": "text", "text": ""}})
        bodies.append({"type": "content_block_delta", "index": n, "delta": {"type": "text_delta", "text": f"w{n} "}})
        bodies.append({"type": "content_block_stop", "index": n})
    bodies.append({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}})
    return streamed(ANTHROPIC, [*bodies, {"type": "message_stop"}])


def items(count: int) -> RoundTrip:
    bodies: list[dict[str, Any]] = []
    for n in range(count):
        item = {"id": f"i{n}", "type": "function_call", "call_id": f"c{n}", "name": "f", "arguments": "{}"}
        place = {"item_id": f"i{n}", "output_index": n}
        bodies.append({"type": "response.output_item.added", "output_index": n, "item": {**item, "arguments": ""}})
        bodies.append({"type": "response.function_call_arguments.delta", **place, "delta": "{}"})
        bodies.append({"type": "response.output_item.done", "output_index": n, "item": item})
    return streamed(RESPONSES, bodies)


@pytest.mark.parametrize("stream", [words, calls, blocks, items], ids=lambda one: one.__name__)
def test_twice_the_events_take_twice_the_steps(stream: Callable[[int], RoundTrip]) -> None:
    label_all([stream(10)])  # what is imported and compiled on first use
    few, many = stream(300), stream(600)

    with counting() as counted:
        label_all([few])
        once: Counter[str] = counted.copy()
        label_all([many])

    twice = counted - once
    outgrown = {name: (once[name], steps) for name, steps in twice.items() if steps > 2.2 * once[name] + 500}
    assert once["sse.py SseDecoder._line"] > 300
    assert outgrown == {}
