"""Cohere's chat, version 2."""

from ..identities import letters, lower
from ..pieces import (
    Answer,
    Ask,
    Call,
    Event,
    Failed,
    Json,
    Message,
    Text,
    shreds,
    words,
)
from .dialect import compact
from .openai_chat import OpenaiChat, chat_calls


def digits_of(seed: str) -> str:
    return letters(seed, 32, "0123456789abcdef")


class CohereV2(OpenaiChat):
    name = "cohere-v2"
    protocol = "cohere-v2"
    upstream = "cohere"
    model = "command-a-03-2025"
    served = None
    agent = "cohere-python/7.3.1"
    parallel_switch = False
    stream_type = "text/event-stream"
    FINISH = {"calls": "TOOL_CALL", "stop": "COMPLETE", "length": "MAX_TOKENS", "stop_sequence": "STOP_SEQUENCE",
              "error": "ERROR"}  # fmt: skip

    def call_id(self, seed: str, name: str) -> str:
        return f"{name}_{lower(seed, 12)}"

    def answer_id(self, seed: str) -> str:
        d = digits_of(seed)
        return f"{d[:8]}-{d[8:12]}-4{d[13:16]}-a{d[17:20]}-{d[20:]}"

    def url(self, ask: Ask) -> str:
        return "https://api.cohere.com/v2/chat"

    def body(self, ask: Ask) -> Json:
        body = super().body(ask)
        body.pop("stream_options", None)
        body["stream"] = ask.streamed
        if ask.max_output:
            body["max_tokens"] = body.pop("max_completion_tokens")
        if ask.tool_choice:
            body["tool_choice"] = ask.tool_choice.upper()
        return body

    def said(self, message: Message) -> Json:
        text = "".join(b.text for b in message.blocks if isinstance(b, Text))
        calls = [b for b in message.blocks if isinstance(b, Call)]
        if calls:
            plan: Json = {"tool_plan": text} if text else {}
            return {"role": "assistant", "tool_calls": chat_calls(calls), **plan}
        return {"role": "assistant", "content": [{"type": "text", "text": text}]}

    def usage(self, answer: Answer) -> Json:
        t = answer.tokens
        assert t is not None
        return {
            "billed_units": {"input_tokens": max(1, t.input - 480), "output_tokens": t.output},
            "tokens": {"input_tokens": t.input, "output_tokens": t.output},
            "cached_tokens": t.cached,
        }

    def whole(self, ask: Ask, answer: Answer) -> Json:
        message: Json = {"role": "assistant"}
        if answer.calls:
            message |= {"tool_plan": answer.text, "tool_calls": chat_calls(answer.calls)}
        else:
            message["content"] = [{"type": "text", "text": answer.text}] if answer.text else []
        body: Json = {"id": answer.id, "message": message, "finish_reason": self.word(answer)}
        return body | ({"usage": self.usage(answer)} if answer.tokens else {})

    def written(self, body: Json) -> bytes:
        return compact(body).encode()

    def events(self, ask: Ask, answer: Answer) -> list[Event]:
        start: Json = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
        events: list[Json] = [{"id": answer.id, "type": "message-start", "delta": {"message": start}}]
        if answer.calls:
            events += [{"type": "tool-plan-delta", "delta": {"message": {"tool_plan": w}}} for w in words(answer.text)]
            for place, call in enumerate(chat_calls(answer.calls)):
                begun = {**call, "function": {**call["function"], "arguments": ""}}
                events.append({"type": "tool-call-start", "index": place, "delta": {"message": {"tool_calls": begun}}})
                for piece in shreds(call["function"]["arguments"]):
                    delta = {"message": {"tool_calls": {"function": {"arguments": piece}}}}
                    events.append({"type": "tool-call-delta", "index": place, "delta": delta})
                if not (answer.cut_call and place == len(answer.calls) - 1):
                    events.append({"type": "tool-call-end", "index": place})
        elif answer.text:
            block = {"type": "text", "text": ""}
            events.append({"type": "content-start", "index": 0, "delta": {"message": {"content": block}}})
            for word in words(answer.text):
                events.append({"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": word}}}})
            events.append({"type": "content-end", "index": 0})
        end: Json = {"finish_reason": self.word(answer)}
        if answer.tokens:
            end["usage"] = self.usage(answer)
        events.append({"type": "message-end", "delta": end})
        return [(event["type"], event) for event in events]

    def answer_headers(self, seed: str) -> tuple[tuple[str, str], ...]:
        return (("x-api-warning", ""), ("x-debug-trace-id", lower(seed, 32)))

    def failed(self, failed: Failed) -> Json:
        return {"id": digits_of(failed.message), "message": failed.message}

    def error_event(self, failed: Failed) -> Event:
        return ("message-end", {"type": "message-end", "delta": {"finish_reason": "ERROR", "error": failed.message}})
