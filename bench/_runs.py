"""A synthetic coding-agent run: every request resends the history, and moves its cache markers."""

import random
from collections.abc import Iterator
from typing import Any

import orjson

from turntape.cassettes.tape.model import Chunk, Request, Response, RoundTrip

_KEYWORDS = (
    "def return self value list dict for in if else import class None True open read write path line error raise"
)
_NAMES = "except with yield lambda print range index result request response header body chunk frame event stream token"
WORDS = f"{_KEYWORDS} {_NAMES}".split()


def _source(random: random.Random, size: int) -> str:
    """Text that looks like source code, of about `size` bytes."""
    out, length = [], 0
    while length < size:
        line = " " * random.choice((0, 4, 8)) + " ".join(random.choices(WORDS, k=random.randint(3, 9)))
        line += f"_{random.randrange(10_000)}\n"
        out.append(line)
        length += len(line)
    return "".join(out)


def coding_run(
    turns: int = 300,
    result_bytes: int = 1950,
    system_bytes: int = 30_000,
    seed: int = 7,
    *,
    cut: int = 0,
    forks: int = 0,
    clock: bool = False,
) -> Iterator[RoundTrip]:
    """A run on Anthropic's Messages API in which each turn reads a file: by default 118 MB of request bodies.

    Of `cut` answers one is cut; after `forks` turns the last four are taken back and the client continues from there;
    with a `clock` the first message of each request holds the time.
    """
    rng = random.Random(seed)
    system = [{"type": "text", "text": _source(rng, system_bytes // 2), "cache_control": {"type": "ephemeral"}}]
    tools = [
        {
            "name": f"tool_{number}",
            "description": _source(rng, 500),
            "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        }
        for number in range(system_bytes // 1400)
    ]
    messages: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": "Fix the tests."}]}]
    for turn in range(turns):
        if clock:
            messages[0] = {
                "role": "user",
                "content": [{"type": "text", "text": f"It is minute {turn}. Fix the tests."}],
            }
        if forks and turn % forks == forks - 1:
            del messages[-8:]
        last = messages[-1]["content"][-1]
        last["cache_control"] = {"type": "ephemeral"}
        body = orjson.dumps({"model": "claude-opus-4-5", "max_tokens": 8000, "system": system, "messages": messages,
                             "tools": tools, "stream": True})  # fmt: skip
        del last["cache_control"]
        identity, name = f"toolu_{turn:06d}", f"tool_{turn % len(tools)}"
        said, path = _source(rng, 200), f"src/module_{rng.randrange(999)}.py"
        yield RoundTrip(
            Request("POST", "https://api.anthropic.com/v1/messages", (("content-type", "application/json"),), body),
            _answer(
                turn,
                said,
                identity,
                name,
                path,
                len(body) // 4,
                "max_tokens" if cut and turn % cut == 1 else "tool_use",
            ),
            1_780_000_000.0 + turn * 4,
            index=turn,
            request_at=300,
            first_byte_at=800_000,
            ended_at=2_400_000,
            upstream="anthropic",
            route="base_url",
        )
        call = {"type": "tool_use", "id": identity, "name": name, "input": {"path": path}}
        messages.append({"role": "assistant", "content": [{"type": "text", "text": said}, call]})
        result = {"type": "tool_result", "tool_use_id": identity, "content": _source(rng, result_bytes)}
        messages.append({"role": "user", "content": [result]})


def _answer(turn: int, said: str, identity: str, name: str, path: str, tokens: int, stop: str) -> Response:
    usage = {"input_tokens": 40, "cache_read_input_tokens": tokens, "cache_creation_input_tokens": 800}
    message = {"id": f"msg_{turn}", "type": "message", "role": "assistant", "model": "claude-opus-4-5", "content": [],
               "stop_reason": None, "stop_sequence": None, "usage": {**usage, "output_tokens": 1}}  # fmt: skip
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    events.append({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
    for start in range(0, len(said), 12):
        delta = {"type": "text_delta", "text": said[start : start + 12]}
        events.append({"type": "content_block_delta", "index": 0, "delta": delta})
    events.append({"type": "content_block_stop", "index": 0})
    block = {"type": "tool_use", "id": identity, "name": name, "input": {}}
    events.append({"type": "content_block_start", "index": 1, "content_block": block})
    delta = {"type": "input_json_delta", "partial_json": orjson.dumps({"path": path}).decode()}
    events.append({"type": "content_block_delta", "index": 1, "delta": delta})
    events.append({"type": "content_block_stop", "index": 1})
    events.append({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None},
                   "usage": {"output_tokens": 90}})  # fmt: skip
    events.append({"type": "message_stop"})
    pieces = [f"event: {event['type']}\ndata: {orjson.dumps(event).decode()}\n\n".encode() for event in events]
    chunks = tuple(Chunk(len(piece), 800_000 + 20_000 * place) for place, piece in enumerate(pieces))
    return Response(200, "OK", (("content-type", "text/event-stream; charset=utf-8"),), b"".join(pieces), chunks)
