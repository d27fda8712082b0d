"""OpenAI Chat Completions, and three that speak it with words of their own: DeepSeek, Mistral, Cohere v2."""

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
    Result,
    Text,
    Thinking,
    shreds,
    words,
)
from .dialect import Dialect, compact, function, parsed

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


class DeepseekChat(OpenaiChat):
    """DeepSeek in thinking mode: `reasoning_content` must come back with the calls it led to."""

    name = "deepseek-chat"
    upstream = "deepseek"
    model = "deepseek-reasoner"
    served = "deepseek-reasoner"
    thinks = True
    parallel_switch = False
    call_prefix = "call_00_"
    TAIL = {"system_fingerprint": "fp_eaab8d114b_prod0820_fp8_kvcache"}

    def url(self, ask: Ask) -> str:
        return "https://api.deepseek.com/chat/completions"

    def answer_id(self, seed: str) -> str:
        d = letters(seed, 32, "0123456789abcdef")
        return f"{d[:8]}-{d[8:12]}-{d[12:16]}-{d[16:20]}-{d[20:]}"

    def said(self, message: Message) -> Json:
        said = super().said(message)
        said["content"] = said["content"] or ""
        if thinking := next((b.text for b in message.blocks if isinstance(b, Thinking)), None):
            said["reasoning_content"] = thinking
        return said

    def emitted(self, answer: Answer) -> Json:
        message: Json = {"role": "assistant", "content": answer.text}
        if answer.thinking:
            message["reasoning_content"] = answer.thinking.text
        if answer.calls:
            message["tool_calls"] = [{"index": i, **call} for i, call in enumerate(chat_calls(answer.calls))]
        return message

    def deltas(self, answer: Answer) -> list[Json]:
        thought = answer.thinking.text if answer.thinking else ""
        rest = super().deltas(answer)[1:]
        return [
            {"role": "assistant", "content": None, "reasoning_content": ""},
            *({"content": None, "reasoning_content": word} for word in words(thought)),
            *rest,
        ]

    def usage(self, answer: Answer) -> Json:
        t = answer.tokens
        assert t is not None
        return {
            "prompt_tokens": t.input,
            "completion_tokens": t.output,
            "total_tokens": t.input + t.output,
            "prompt_tokens_details": {"cached_tokens": t.cached},
            "completion_tokens_details": {"reasoning_tokens": t.reasoning},
            "prompt_cache_hit_tokens": t.cached,
            "prompt_cache_miss_tokens": t.input - t.cached,
        }

    def answer_headers(self, seed: str) -> tuple[tuple[str, str], ...]:
        return (("x-ds-trace-id", lower(seed, 32)),)


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


def digits_of(seed: str) -> str:
    return letters(seed, 32, "0123456789abcdef")


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


CHATS = (OpenaiChat(), DeepseekChat(), MistralChat(), CohereV2(), OllamaChat())
