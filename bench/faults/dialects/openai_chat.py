"""OpenAI Chat Completions, on which the dialects of DeepSeek, Mistral, Cohere and Ollama build."""

import json
from typing import Any

from ..identities import letters, lower
from ..pieces import (
    Answer,
    Ask,
    Call,
    Event,
    Failed,
    Json,
    Message,
    Raw,
    Refusal,
    Text,
    shreds,
    words,
)
from .dialect import Dialect, function

CREATED = 1_780_000_000


def chat_calls(calls: list[Call]) -> list[Json]:
    return [{"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}} for c in calls]


def chat_choice(choice: str) -> Any:
    if choice in ("required", "none", "auto"):
        return choice
    return {"type": "function", "function": {"name": choice}}


class OpenaiChat(Dialect):
    name = "openai-chat"
    protocol = "openai-chat"
    upstream = "openai"
    model = "gpt-4.1"
    served = "gpt-4.1-2025-04-14"
    agent = "OpenAI/Python 3.52.0"
    STATIC = ("tools",)
    FINISH = {"calls": "tool_calls", "stop": "stop", "length": "length", "content_filter": "content_filter",
              "refusal": "stop", "stop_sequence": "stop"}  # fmt: skip
    ERRORS = {400: "invalid_request_error", 401: "invalid_request_error", 404: "invalid_request_error",
              429: "rate_limit_exceeded", 500: "server_error", 503: "server_error"}  # fmt: skip

    def answer_id(self, seed: str) -> str:
        return "chatcmpl-" + letters(seed, 28)

    def url(self, ask: Ask) -> str:
        return "https://api.openai.com/v1/chat/completions"

    def body(self, ask: Ask) -> Json:
        body: Json = {"model": ask.model, "messages": [self.system(ask.system)] if ask.system else []}
        for message in ask.messages:
            body["messages"] += self.message(message)
        if ask.tools:
            body["tools"] = [function(tool) for tool in ask.tools]
        if ask.tool_choice:
            body["tool_choice"] = chat_choice(ask.tool_choice)
        if ask.parallel is not None:
            body["parallel_tool_calls"] = ask.parallel
        if ask.max_output:
            body["max_completion_tokens"] = ask.max_output
        if ask.streamed:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return body | ask.parameters

    def system(self, text: str) -> Json:
        return {"role": "system", "content": text}

    def message(self, message: Message) -> list[Json]:
        if message.role == "results":
            return [self.given(block) for block in message.blocks]
        if message.role == "user":
            return [{"role": "user", "content": self.content(message)}]
        return [self.said(message)]

    def content(self, message: Message) -> Any:
        blocks = [{"type": "text", "text": b.text} if isinstance(b, Text) else b.value for b in message.blocks
                  if isinstance(b, Text | Raw)]  # fmt: skip
        return blocks[0]["text"] if len(blocks) == 1 and blocks[0].get("type") == "text" else blocks

    def said(self, message: Message) -> Json:
        text = "".join(b.text for b in message.blocks if isinstance(b, Text))
        calls = [b for b in message.blocks if isinstance(b, Call)]
        said: Json = {"role": "assistant", "content": text or None}
        if refusal := next((b.text for b in message.blocks if isinstance(b, Refusal)), None):
            said["refusal"] = refusal
        if calls:
            said["tool_calls"] = chat_calls(calls)
        return said

    def given(self, block: Any) -> Json:
        if isinstance(block, Text):  # words of the user among results
            return {"role": "user", "content": block.text}
        if isinstance(block, Raw):
            return block.value
        return {"role": "tool", "tool_call_id": block.call_id, "content": block.text}

    def usage(self, answer: Answer) -> Json:
        t = answer.tokens
        assert t is not None
        return {
            "prompt_tokens": t.input,
            "completion_tokens": t.output,
            "total_tokens": t.input + t.output,
            "prompt_tokens_details": {"cached_tokens": t.cached, "audio_tokens": 0},
            "completion_tokens_details": {
                "reasoning_tokens": t.reasoning,
                "audio_tokens": 0,
                "accepted_prediction_tokens": 0,
                "rejected_prediction_tokens": 0,
            },
        }

    def emitted(self, answer: Answer) -> Json:
        """The message of a whole answer."""
        message: Json = {
            "role": "assistant",
            "content": answer.text or None,
            "refusal": answer.refusal,
            "annotations": [],
        }
        if answer.calls:
            message["tool_calls"] = chat_calls(answer.calls)
        return message

    def head(self, answer: Answer, kind: str) -> Json:
        return {"id": answer.id, "object": kind, "created": CREATED, "model": answer.model}

    TAIL: Json = {"service_tier": "default", "system_fingerprint": "fp_51e1070cf2"}

    def whole(self, ask: Ask, answer: Answer) -> Json:
        choice = {
            "index": 0,
            "message": self.emitted(answer),
            "logprobs": None,
            "finish_reason": self.word(answer),
        }
        body = self.head(answer, "chat.completion") | {"choices": [choice]}
        if answer.tokens:
            body["usage"] = self.usage(answer)
        return body | self.TAIL

    def written(self, body: Json) -> bytes:
        return json.dumps(body, ensure_ascii=False, indent=2).encode()

    def deltas(self, answer: Answer) -> list[Json]:
        deltas: list[Json] = [{"role": "assistant", "content": "", "refusal": None}]
        deltas += [{"content": word} for word in words(answer.text)]
        deltas += [{"refusal": word} for word in words(answer.refusal or "")]
        for place, call in enumerate(answer.calls):
            head = {"index": place, "id": call.id, "type": "function",
                    "function": {"name": call.name, "arguments": ""}}  # fmt: skip
            deltas.append({"tool_calls": [head]})
            deltas += [
                {"tool_calls": [{"index": place, "function": {"arguments": piece}}]} for piece in shreds(call.arguments)
            ]
        return deltas

    def events(self, ask: Ask, answer: Answer) -> list[Event]:
        base = self.head(answer, "chat.completion.chunk") | self.TAIL
        chunks = [{"index": 0, "delta": d, "logprobs": None, "finish_reason": None} for d in self.deltas(answer)]
        chunks.append({"index": 0, "delta": {}, "logprobs": None, "finish_reason": self.word(answer)})
        events: list[Event] = [("", base | {"choices": [chunk], "usage": None}) for chunk in chunks]
        if answer.tokens and (ask.parameters.get("stream_options", {}) is not None):
            events.append(("", base | {"choices": [], "usage": self.usage(answer)}))
        return [*events, ("", "[DONE]")]

    def answer_headers(self, seed: str) -> tuple[tuple[str, str], ...]:
        return (
            ("openai-processing-ms", "812"),
            ("openai-version", "2020-10-01"),
            ("x-ratelimit-remaining-requests", "9999"),
            ("x-request-id", "req_" + lower(seed, 32)),
        )

    def failed(self, failed: Failed) -> Json:
        kind = self.ERRORS.get(failed.status, "server_error")
        kind = {"rate_limit_exceeded": "requests"}.get(kind, kind)
        kind = "insufficient_quota" if failed.code == "insufficient_quota" else kind
        code = failed.code or {429: "rate_limit_exceeded", 401: "invalid_api_key"}.get(failed.status)
        return {"error": {"message": failed.message, "type": kind, "param": failed.param, "code": code}}
