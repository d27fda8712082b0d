"""Anthropic Messages (anthropic 2.11 types, read 2026-11-21)."""

from collections.abc import Mapping
from typing import cast

import orjson

from turntape.cassettes.framing.encode import sse_event

from ..answer import Answer, Ask, Json, Shape, by_role, fields_of, pieces, words

FINISH = {"calls": "tool_use", "stop": "end_turn", "length": "max_tokens"}


def ask(path: str, headers: Mapping[str, str], body: bytes) -> Ask:
    fields = fields_of(body)
    model, streamed = str(fields.get("model", "claude-sonnet-4-5")), fields.get("stream") is True
    answers = by_role(fields.get("messages"))
    thread = fields.get("thread")
    # A thread that the API holds: the request brings only what is new.
    previous = str(cast(Json, thread).get("previous_message_id")) if isinstance(thread, dict) else ""
    if previous.startswith("msg_") and previous[4:8].isdigit():
        answers += int(previous[4:8])
    return Ask(path, headers, fields, model, streamed, answers, len(body))


def _usage(answer: Answer) -> Json:
    sent, cached, said = answer.tokens
    return {
        "input_tokens": sent - cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": cached,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
        "output_tokens": said,
        "service_tier": "standard",
    }


def _message(answer: Answer, content: list[Json], finish: str | None) -> Json:
    return {
        "id": f"msg_{answer.identity}",
        "type": "message",
        "role": "assistant",
        "model": answer.ask.model,
        "content": content,
        "stop_reason": finish,
        "stop_sequence": None,
        "usage": _usage(answer),
    }


def whole(answer: Answer) -> object:
    content: list[Json] = [{"type": "text", "text": answer.text}] if answer.text else []
    for identity, name, arguments in answer.calls:
        try:
            value = orjson.loads(arguments)
        except orjson.JSONDecodeError:
            value = arguments
        content.append({"type": "tool_use", "id": identity, "name": name, "input": value})
    return _message(answer, content, FINISH[answer.finish])


def stream(answer: Answer) -> list[bytes]:
    begun = _message(answer, [], None)
    begun["usage"] = {**_usage(answer), "output_tokens": 1}
    events = [sse_event({"type": "message_start", "message": begun}, "message_start")]
    place = 0

    def block(start: Json, deltas: list[Json]) -> None:
        nonlocal place
        events.append(
            sse_event({"type": "content_block_start", "index": place, "content_block": start}, "content_block_start")
        )
        if place == 0:
            events.append(sse_event({"type": "ping"}, "ping"))
        for delta in deltas:
            events.append(
                sse_event({"type": "content_block_delta", "index": place, "delta": delta}, "content_block_delta")
            )
        events.append(sse_event({"type": "content_block_stop", "index": place}, "content_block_stop"))
        place += 1

    if answer.text:
        block({"type": "text", "text": ""}, [{"type": "text_delta", "text": word} for word in words(answer.text)])
    for identity, name, arguments in answer.calls:
        deltas: list[Json] = [{"type": "input_json_delta", "partial_json": piece} for piece in ["", *pieces(arguments)]]
        block({"type": "tool_use", "id": identity, "name": name, "input": {}}, deltas)
    delta = {"stop_reason": FINISH[answer.finish], "stop_sequence": None}
    events.append(
        sse_event(
            {"type": "message_delta", "delta": delta, "usage": {"output_tokens": answer.tokens[2]}}, "message_delta"
        )
    )
    return [*events, sse_event({"type": "message_stop"}, "message_stop")]


_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def error(status: int, message: str) -> object:
    kind = _KINDS.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_scripted"}


ANTHROPIC_MESSAGES = Shape(
    name="anthropic-messages",
    matches=lambda path: path.endswith("/messages"),
    ask=ask,
    whole=whole,
    stream=stream,
    content_type="text/event-stream; charset=utf-8",
    error=error,
    error_event=sse_event(error(529, "Overloaded"), "error"),
    prefix="toolu_",
)
