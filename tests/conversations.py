"""Chat completions as round trips, for tests of threads, labels and views: a conversation reads as one."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import orjson

from turntape.cassettes.tape.model import Chunk, Failure, Request, Response, RoundTrip

START = 1_780_000_000.0
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "look_up",
            "description": "Look a word up.",
            "parameters": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
        },
    }
]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(text: str | None = None, *calls: tuple[str, str, str]) -> dict[str, Any]:
    """An assistant message; calls are `(id, name, arguments)`."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls
        ]
    return message


def result(call_id: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def chat(
    messages: Sequence[dict[str, Any]],
    answer: dict[str, Any] | None = None,
    *,
    index: int = 0,
    at: float | None = None,
    finish: str | None = None,
    tools: list[Any] | None = TOOLS,
    usage: tuple[int, int] | None = (100, 10),
    model: str = "gpt-5",
    run: str | None = None,
    status: int = 200,
    failure: Failure | None = None,
    error: dict[str, Any] | None = None,
    **fields: Any,
) -> RoundTrip:
    """One turn: what was sent, and what came back."""
    asked = {"model": model, "messages": list(messages), **({"tools": tools} if tools else {}), **fields}
    response = None
    if answer is not None or error is not None:
        body: dict[str, Any] = error or {
            "id": f"chatcmpl-{index}",
            "object": "chat.completion",
            "created": 1,
            "model": f"{model}-2025-08-07",
            "choices": [
                {
                    "index": 0,
                    "message": answer,
                    "finish_reason": finish or ("tool_calls" if answer and "tool_calls" in answer else "stop"),
                }
            ],
        }
        if usage and error is None:
            body["usage"] = {
                "prompt_tokens": usage[0],
                "completion_tokens": usage[1],
                "total_tokens": sum(usage),
                "prompt_tokens_details": {"cached_tokens": 0},
            }
        data = orjson.dumps(body)
        headers = (("content-type", "application/json"),)
        response = Response(status, "OK", headers, data, (Chunk(len(data), 250_000),))
    return RoundTrip(
        request=Request("POST", "https://api.openai.com/v1/chat/completions", (), orjson.dumps(asked)),
        response=response,
        started_at=START + (index if at is None else at),
        index=index,
        run=run,
        request_at=1_000,
        first_byte_at=200_000,
        ended_at=250_000,
        failure=failure,
        route="base_url",
        upstream="openai",
    )


def sent(trip: RoundTrip, **headers: str) -> RoundTrip:
    """A round trip with these request headers too; an underscore in a name is a hyphen."""
    pairs = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return replace(trip, request=replace(trip.request, headers=(*trip.request.headers, *pairs)))


CALL = ("call_1", "look_up", '{"word":"tape"}')
HELLO = user("what is a tape?")


def loop() -> list[RoundTrip]:
    """A healthy run: a call, its result, an answer."""
    first = said(None, CALL)
    second = [HELLO, first, result("call_1", "a strip that holds a recording")]
    return [
        chat([HELLO], first, index=0),
        chat(second, said("It holds a recording."), index=1, usage=(150, 20)),
    ]


def titled() -> list[RoundTrip]:
    """A title call about the task of an agent, then two turns of the agent."""
    named = {"role": "system", "content": "Name this conversation."}
    title = chat([named, user("Fix the date parser.")], said("Date parser"), tools=None, model="small")
    asked = [user("Fix the date parser.")]
    answered = [*asked, said(None, CALL), result("call_1", "ok")]
    return [title, chat(asked, said(None, CALL), index=1), chat(answered, said("done"), index=2)]
