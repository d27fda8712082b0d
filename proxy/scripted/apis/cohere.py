"""Cohere v2 chat (cohere 7.3 types, read 2026-11-21)."""

from collections.abc import Mapping
from typing import cast

from turntape.cassettes.framing.encode import sse_event

from ..answer import Answer, Ask, Json, Shape, by_role, fields_of, pieces, words

FINISH = {"calls": "TOOL_CALL", "stop": "COMPLETE", "length": "MAX_TOKENS"}


def ask(path: str, headers: Mapping[str, str], body: bytes) -> Ask:
    fields = fields_of(body)
    model, streamed = str(fields.get("model", "command-a-03-2025")), fields.get("stream") is True
    return Ask(path, headers, fields, model, streamed, by_role(fields.get("messages")), len(body))


def _usage(answer: Answer) -> Json:
    sent, cached, said = answer.tokens
    return {
        "billed_units": {"input_tokens": max(1, sent - 40), "output_tokens": said},
        "tokens": {"input_tokens": sent, "output_tokens": said},
        "cached_tokens": cached,
    }


def _calls(answer: Answer) -> list[Json]:
    return [
        {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}
        for identity, name, arguments in answer.calls
    ]


def whole(answer: Answer) -> object:
    message: Json = {"role": "assistant"}
    if answer.calls:
        message |= {"tool_plan": answer.text or "I will call the tools.", "tool_calls": _calls(answer)}
    else:
        message["content"] = [{"type": "text", "text": answer.text}]
    return {"id": answer.identity, "message": message, "finish_reason": FINISH[answer.finish], "usage": _usage(answer)}


def stream(answer: Answer) -> list[bytes]:
    start: Json = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
    events: list[Json] = [{"type": "message-start", "id": answer.identity, "delta": {"message": start}}]
    if answer.calls:
        for word in words(answer.text or "I will call the tools."):
            events.append({"type": "tool-plan-delta", "delta": {"message": {"tool_plan": word}}})
        for place, call in enumerate(_calls(answer)):
            function = cast(Json, call["function"])
            begun: Json = {**call, "function": {**function, "arguments": ""}}
            events.append({"type": "tool-call-start", "index": place, "delta": {"message": {"tool_calls": begun}}})
            for piece in pieces(str(function["arguments"])):
                delta = {"message": {"tool_calls": {"function": {"arguments": piece}}}}
                events.append({"type": "tool-call-delta", "index": place, "delta": delta})
            events.append({"type": "tool-call-end", "index": place})
    else:
        content = {"type": "text", "text": ""}
        events.append({"type": "content-start", "index": 0, "delta": {"message": {"content": content}}})
        for word in words(answer.text):
            events.append({"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": word}}}})
        events.append({"type": "content-end", "index": 0})
    end = {"finish_reason": FINISH[answer.finish], "usage": _usage(answer)}
    events.append({"type": "message-end", "delta": end})
    return [sse_event(event, str(event["type"])) for event in events] + [sse_event("[DONE]")]


def error(status: int, message: str) -> object:
    return {"id": "scripted", "message": message}


COHERE_V2 = Shape(
    name="cohere-v2",
    matches=lambda path: path.endswith("/v2/chat"),
    ask=ask,
    whole=whole,
    stream=stream,
    content_type="text/event-stream",
    error=error,
    error_event=sse_event(
        {"type": "message-end", "delta": {"finish_reason": "ERROR", "error": "internal error"}}, "message-end"
    ),
)
