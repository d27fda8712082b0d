"""Mistral's chat completions."""

from typing import Any

from ..identities import letters, lower
from ..pieces import (
    Answer,
    Ask,
    Event,
    Failed,
    Json,
    Message,
    Result,
    words,
)
from .dialect import compact
from .openai_chat import OpenaiChat, chat_calls


class MistralChat(OpenaiChat):
    name = "mistral-chat"
    protocol = "mistral-chat"
    upstream = "mistral"
    model = "mistral-large-2512"
    served = "mistral-large-2512"
    agent = "mistral-client-python/3.7.0"
    caches = False
    call_prefix = ""
    call_length = 9
    TAIL: Json = {}
    FINISH = {"calls": "tool_calls", "stop": "stop", "length": "length", "context_full": "model_length",
              "error": "error"}  # fmt: skip

    def url(self, ask: Ask) -> str:
        return "https://api.mistral.ai/v1/chat/completions"

    def answer_id(self, seed: str) -> str:
        return letters(seed, 32, "0123456789abcdef")

    def body(self, ask: Ask) -> Json:
        body = super().body(ask)
        body.pop("stream_options", None)
        if ask.max_output:
            body["max_tokens"] = body.pop("max_completion_tokens")
        if ask.tool_choice == "required":
            body["tool_choice"] = "any"
        return body

    def said(self, message: Message) -> Json:
        said = super().said(message)
        said["content"] = said["content"] or ""
        return said

    def given(self, block: Any) -> Json:
        given = super().given(block)
        if isinstance(block, Result):
            return {"role": "tool", "name": block.name, "content": block.text, "tool_call_id": block.call_id}
        return given

    def emitted(self, answer: Answer) -> Json:
        message: Json = {"role": "assistant", "tool_calls": None, "content": answer.text}
        if answer.calls:
            message["tool_calls"] = [{**call, "index": i} for i, call in enumerate(chat_calls(answer.calls))]
        return message

    def usage(self, answer: Answer) -> Json:
        t = answer.tokens
        assert t is not None
        return {"prompt_tokens": t.input, "completion_tokens": t.output, "total_tokens": t.input + t.output}

    def whole(self, ask: Ask, answer: Answer) -> Json:
        body = super().whole(ask, answer)
        del body["choices"][0]["logprobs"]
        return body

    def written(self, body: Json) -> bytes:
        return compact(body).encode()

    def events(self, ask: Ask, answer: Answer) -> list[Event]:
        base = self.head(answer, "chat.completion.chunk")
        deltas: list[Json] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": word} for word in words(answer.text)]
        last: Json = {"content": ""}
        if answer.calls:
            last["tool_calls"] = [{**call, "index": i} for i, call in enumerate(chat_calls(answer.calls))]
        chunks = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
        chunks.append({"index": 0, "delta": last, "finish_reason": self.word(answer)})
        events: list[Event] = [("", base | {"choices": [chunk]}) for chunk in chunks]
        if answer.tokens:
            events[-1][1]["usage"] = self.usage(answer)
        return [*events, ("", "[DONE]")]

    def answer_headers(self, seed: str) -> tuple[tuple[str, str], ...]:
        return (("mistral-correlation-id", lower(seed, 32)),)

    def failed(self, failed: Failed) -> Json:
        kinds = {400: "invalid_request_error", 401: "unauthorized", 429: "rate_limited", 500: "internal_server_error",
                 503: "service_unavailable"}  # fmt: skip
        kind = kinds.get(failed.status, "invalid_request_error")
        code = failed.code or {429: "1300", 500: "3000", 503: "3505", 401: "1001"}.get(failed.status, "3051")
        kind = "invalid_request_message_order" if code == "3230" else kind
        return {"object": "error", "message": failed.message, "type": kind, "param": failed.param, "code": code}
