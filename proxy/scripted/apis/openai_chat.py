"""OpenAI Chat Completions, and Mistral's dialect of it (openai 3.52, mistralai 3.7 types, read 2026-11-21)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from turntape.cassettes.framing.encode import sse_event

from ..answer import Answer, Ask, Json, Shape, by_role, fields_of, pieces, words

FINISH = {"calls": "tool_calls", "stop": "stop", "length": "length"}
CREATED = 1_780_000_000


def ask(path: str, headers: Mapping[str, str], body: bytes) -> Ask:
    fields = fields_of(body)
    model, streamed = str(fields.get("model", "gpt-5")), fields.get("stream") is True
    return Ask(path, headers, fields, model, streamed, by_role(fields.get("messages")), len(body))


def _model(answer: Answer) -> str:
    return answer.ask.model


def _usage(answer: Answer) -> Json:
    sent, cached, said = answer.tokens
    return {
        "prompt_tokens": sent,
        "completion_tokens": said,
        "total_tokens": sent + said,
        "prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }


def _calls(answer: Answer) -> list[Json]:
    return [
        {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}
        for identity, name, arguments in answer.calls
    ]


def whole(answer: Answer) -> object:
    message: Json = {"role": "assistant", "content": answer.text or None, "refusal": None, "annotations": []}
    if answer.calls:
        message["tool_calls"] = _calls(answer)
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": FINISH[answer.finish]}
    return {
        "id": f"chatcmpl-{answer.identity}",
        "object": "chat.completion",
        "created": CREATED,
        "model": _model(answer),
        "choices": [choice],
        "usage": _usage(answer),
        "service_tier": "default",
        "system_fingerprint": "fp_scripted",
    }


def stream(answer: Answer) -> list[bytes]:
    base: Json = {
        "id": f"chatcmpl-{answer.identity}",
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": _model(answer),
        "system_fingerprint": "fp_scripted",
    }

    def chunk(delta: Json, finish: str | None = None, **more: object) -> bytes:
        choices = [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]
        return sse_event({**base, "choices": choices, **more})

    events = [chunk({"role": "assistant", "content": "", "refusal": None})]
    events += [chunk({"content": word}) for word in words(answer.text)]
    for place, (identity, name, arguments) in enumerate(answer.calls):
        head = {"index": place, "id": identity, "type": "function", "function": {"name": name, "arguments": ""}}
        events.append(chunk({"tool_calls": [head]}))
        events += [
            chunk({"tool_calls": [{"index": place, "function": {"arguments": piece}}]}) for piece in pieces(arguments)
        ]
    events.append(chunk({}, FINISH[answer.finish]))
    options = answer.ask.fields.get("stream_options")
    if isinstance(options, dict) and cast(Json, options).get("include_usage"):
        events.append(sse_event({**base, "choices": [], "usage": _usage(answer)}))
    return [*events, sse_event("[DONE]")]


def error(status: int, message: str) -> object:
    kinds = {401: "invalid_request_error", 429: "rate_limit_error", 400: "invalid_request_error"}
    return {"error": {"message": message, "type": kinds.get(status, "server_error"), "param": None, "code": None}}


OPENAI_CHAT = Shape(
    name="openai-chat",
    matches=lambda path: path.endswith("/chat/completions"),
    ask=ask,
    whole=whole,
    stream=stream,
    content_type="text/event-stream; charset=utf-8",
    error=error,
    error_event=sse_event(
        {"error": {"message": "The server had an error", "type": "server_error", "param": None, "code": None}}
    ),
)


def _mistral_whole(answer: Answer) -> object:
    body = cast(dict[str, Any], whole(answer))
    body["id"] = answer.identity
    for name in ("system_fingerprint", "service_tier"):
        del body[name]
    message = body["choices"][0]["message"]
    for name in ("refusal", "annotations"):
        del message[name]
    message["content"] = answer.text
    sent, _, said = answer.tokens
    body["usage"] = {"prompt_tokens": sent, "completion_tokens": said, "total_tokens": sent + said}
    return body


def _mistral_stream(answer: Answer) -> list[bytes]:
    base: Json = {
        "id": answer.identity,
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": answer.ask.model,
    }
    sent, _, said = answer.tokens
    events = [
        sse_event(
            {**base, "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]}
        )
    ]
    events += [
        sse_event({**base, "choices": [{"index": 0, "delta": {"content": word}, "finish_reason": None}]})
        for word in words(answer.text)
    ]
    delta: Json = {"content": ""}
    if answer.calls:
        delta["tool_calls"] = [{**call, "index": place} for place, call in enumerate(_calls(answer))]
    usage = {"prompt_tokens": sent, "completion_tokens": said, "total_tokens": sent + said}
    last = {"index": 0, "delta": delta, "finish_reason": FINISH[answer.finish]}
    return [*events, sse_event({**base, "choices": [last], "usage": usage}), sse_event("[DONE]")]


MISTRAL_CHAT = replace(OPENAI_CHAT, name="mistral-chat", whole=_mistral_whole, stream=_mistral_stream, prefix="c")
"""Taken when the Host or the model's name is Mistral's: path and shape are the same."""
