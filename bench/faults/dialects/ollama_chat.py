"""Ollama's own chat endpoint."""

from typing import Any

from ..identities import letters
from ..pieces import (
    Answer,
    Ask,
    Call,
    Event,
    Failed,
    Json,
    Message,
    Result,
    Text,
    words,
)
from .dialect import compact, function, parsed
from .openai_chat import OpenaiChat


class OllamaChat(OpenaiChat):
    name = "ollama-chat"
    protocol = "ollama-chat"
    upstream = "ollama"
    model = "qwen3:32b"
    served = "qwen3:32b"
    agent = "ollama-python/0.6.3"
    caches = False
    parallel_switch = False
    stream_type = "application/x-ndjson"
    FINISH = {"calls": "stop", "stop": "stop", "length": "length"}

    def call_id(self, seed: str, name: str) -> str:
        return letters(seed, 8)  # never on the wire

    def answer_id(self, seed: str) -> str:
        return ""

    def url(self, ask: Ask) -> str:
        return "http://127.0.0.1:11434/api/chat"

    def body(self, ask: Ask) -> Json:
        body: Json = {"model": ask.model, "stream": ask.streamed, "options": {"num_ctx": 32768}}
        if ask.max_output:
            body["options"]["num_predict"] = ask.max_output
        body["messages"] = [self.system(ask.system)] if ask.system else []
        for message in ask.messages:
            body["messages"] += self.message(message)
        body["tools"] = [function(tool) for tool in ask.tools]
        if ask.tool_choice:
            body["tool_choice"] = ask.tool_choice
        return body | ask.parameters

    def called(self, calls: list[Call]) -> list[Json]:
        return [{"function": {"name": c.name, "arguments": parsed(c.arguments)}} for c in calls]

    def said(self, message: Message) -> Json:
        text = "".join(b.text for b in message.blocks if isinstance(b, Text))
        calls = [b for b in message.blocks if isinstance(b, Call)]
        said: Json = {"role": "assistant", "content": text}
        return said | ({"tool_calls": self.called(calls)} if calls else {})

    def given(self, block: Any) -> Json:
        if isinstance(block, Result):
            return {"role": "tool", "content": block.text, "tool_name": block.name}
        return super().given(block)

    def line(self, answer: Answer, message: Json, *, done: bool) -> Json:
        line: Json = {"model": answer.model, "created_at": "2026-06-01T12:00:00.000000Z", "message": message,
                      "done": done}  # fmt: skip
        if done:
            line["done_reason"] = self.word(answer)
            if t := answer.tokens:
                line |= {
                    "total_duration": 5_120_000_000,
                    "load_duration": 21_000_000,
                    "prompt_eval_count": t.input,
                    "prompt_eval_duration": 800_000_000,
                    "eval_count": t.output,
                    "eval_duration": 4_200_000_000,
                }
        return line

    def whole(self, ask: Ask, answer: Answer) -> Json:
        message: Json = {"role": "assistant", "content": answer.text}
        if answer.calls:
            message["tool_calls"] = self.called(answer.calls)
        return self.line(answer, message, done=True)

    def written(self, body: Json) -> bytes:
        return compact(body).encode()

    def events(self, ask: Ask, answer: Answer) -> list[Event]:
        says = [{"role": "assistant", "content": word} for word in words(answer.text)]
        says += [{"role": "assistant", "content": "", "tool_calls": [call]} for call in self.called(answer.calls)]
        lines = [self.line(answer, message, done=False) for message in says]
        lines.append(self.line(answer, {"role": "assistant", "content": ""}, done=True))
        return [("", line) for line in lines]

    def framed(self, event: Event, place: int = 0, last: bool = False) -> bytes:
        return (compact(event[1]) + "\n").encode()

    def keepalive(self) -> bytes:
        return b"\n"

    def answer_headers(self, seed: str) -> tuple[tuple[str, str], ...]:
        return ()

    def failed(self, failed: Failed) -> Json:
        return {"error": failed.message}
