"""Anthropic Messages, with and without thinking; the client moves its cache marker along."""

from typing import Any

from ..identities import letters
from ..pieces import Answer, Ask, Call, Event, Failed, Json, Message, Raw, Result, Text, Thinking, shreds, words
from .dialect import Dialect, compact, parsed

EPHEMERAL: Json = {"type": "ephemeral"}


class AnthropicMessages(Dialect):
    name = "anthropic-messages"
    protocol = "anthropic-messages"
    upstream = "anthropic"
    model = "claude-sonnet-4-5"
    served = "claude-sonnet-4-5-20250929"
    flags_errors = True
    call_prefix = "toolu_01"
    call_length = 22
    agent = "Anthropic/Python 2.11.0"
    FINISH = {"calls": "tool_use", "stop": "end_turn", "length": "max_tokens", "refusal": "refusal",
              "pause": "pause_turn", "context_full": "model_context_window_exceeded",
              "stop_sequence": "stop_sequence"}  # fmt: skip
    ERRORS = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error",
              404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 500: "api_error",
              503: "api_error", 529: "overloaded_error"}  # fmt: skip

    def answer_id(self, seed: str) -> str:
        return "msg_01" + letters(seed, 22)

    def url(self, ask: Ask) -> str:
        return "https://api.anthropic.com/v1/messages"

    def request_headers(self, ask: Ask) -> tuple[tuple[str, str], ...]:
        return (("anthropic-version", "2023-06-01"),)

    def body(self, ask: Ask) -> Json:
        messages = [self.message(message) for message in ask.messages]
        body: Json = {"max_tokens": ask.max_output or 8192, "messages": messages, "model": ask.model}
        if ask.system:
            marker = {"cache_control": EPHEMERAL} if ask.parameters.get("cache", True) else {}
            body["system"] = [{"type": "text", "text": ask.system, **marker}]
        if ask.tools:
            body["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": dict(tool.schema)}
                for tool in ask.tools
            ]
        if ask.tool_choice or ask.parallel is False:
            kinds = {"required": "any", "none": "none", None: "auto"}
            plain = ask.tool_choice in kinds
            choice = {"type": kinds[ask.tool_choice]} if plain else {"type": "tool", "name": ask.tool_choice}
            body["tool_choice"] = choice | ({"disable_parallel_tool_use": True} if ask.parallel is False else {})
        if ask.streamed:
            body["stream"] = True
        # The marker is on the last block of the last message and moves on with each request.
        last = messages[-1]["content"]
        if isinstance(last, list) and last and ask.parameters.get("cache", True):
            last[-1] = {**last[-1], "cache_control": EPHEMERAL}
        return body | {k: v for k, v in ask.parameters.items() if k != "cache"}

    def prompt(self, ask: Ask, body: Json) -> list[str]:
        static, messages = super().prompt(ask, body)
        marker = ',"cache_control":{"type":"ephemeral"}'
        return [static.replace(marker, ""), messages.replace(marker, "")]

    def message(self, message: Message) -> Json:
        role = "assistant" if message.role == "assistant" else "user"
        return {"role": role, "content": [self.block(block) for block in message.blocks]}

    def block(self, block: Any) -> Json:
        match block:
            case Text():
                return {"type": "text", "text": block.text}
            case Thinking():
                return {"type": "thinking", "thinking": block.text, "signature": block.signature}
            case Call():
                return {"type": "tool_use", "id": block.id, "name": block.name, "input": parsed(block.arguments)}
            case Result():
                given: Json = {"type": "tool_result", "tool_use_id": block.call_id, "content": block.text}
                return given | ({"is_error": True} if block.error else {})
            case Raw():
                return block.value
            case _:
                raise TypeError(block)

    def usage(self, answer: Answer) -> Json:
        t = answer.tokens
        assert t is not None
        usage: Json = {
            "input_tokens": t.input - t.cached - t.written,
            "cache_creation_input_tokens": t.written,
            "cache_read_input_tokens": t.cached,
            "cache_creation": {"ephemeral_5m_input_tokens": t.written, "ephemeral_1h_input_tokens": 0},
            "output_tokens": t.output,
            "service_tier": "standard",
        }
        return usage | ({"output_tokens_details": {"thinking_tokens": t.reasoning}} if t.reasoning else {})

    def shell(self, answer: Answer, content: list[Json], finish: str | None) -> Json:
        shell: Json = {
            "model": answer.model,
            "id": answer.id,
            "type": "message",
            "role": "assistant",
            "content": content,
            "stop_reason": finish,
            "stop_sequence": None,
        }
        return shell | ({"usage": self.usage(answer)} if answer.tokens else {})

    def whole(self, ask: Ask, answer: Answer) -> Json:
        content = [self.block(block) for block in answer.blocks]
        return self.shell(answer, content, self.word(answer)) | answer.detail

    def events(self, ask: Ask, answer: Answer) -> list[Event]:
        begun = self.shell(answer, [], None)
        if answer.tokens:
            begun["usage"] |= {"output_tokens": 1}
            begun["usage"].pop("output_tokens_details", None)
        events: list[Json] = [{"type": "message_start", "message": begun}]
        for place, block in enumerate(answer.blocks):
            start, deltas = self._streamed(block)
            events.append({"type": "content_block_start", "index": place, "content_block": start})
            if place == 0:
                events.append({"type": "ping"})
            events += [{"type": "content_block_delta", "index": place, "delta": delta} for delta in deltas]
            events.append({"type": "content_block_stop", "index": place})
        end: Json = {"type": "message_delta", "delta": {"stop_reason": self.word(answer), "stop_sequence": None}}
        end["delta"] |= {k: v for k, v in answer.detail.items() if k != "input_transformations"}
        end |= {k: v for k, v in answer.detail.items() if k == "input_transformations"}
        if answer.tokens:
            end["usage"] = {k: v for k, v in self.usage(answer).items() if k not in ("cache_creation", "service_tier")}
        return [(event["type"], event) for event in [*events, end, {"type": "message_stop"}]]

    def _streamed(self, block: Any) -> tuple[Json, list[Json]]:
        match block:
            case Text():
                return {"type": "text", "text": ""}, [{"type": "text_delta", "text": w} for w in words(block.text)]
            case Thinking():
                deltas: list[Json] = [{"type": "thinking_delta", "thinking": w} for w in words(block.text)]
                deltas.append({"type": "signature_delta", "signature": block.signature})
                return {"type": "thinking", "thinking": "", "signature": ""}, deltas
            case Call():
                start = {"type": "tool_use", "id": block.id, "name": block.name, "input": {}}
                return start, [{"type": "input_json_delta", "partial_json": p} for p in ["", *shreds(block.arguments)]]
            case Raw(value) if "input" in value:
                pieces = ["", *shreds(compact(value["input"]))]
                return {**value, "input": {}}, [{"type": "input_json_delta", "partial_json": p} for p in pieces]
            case Raw():
                return block.value, []
            case _:
                raise TypeError(block)

    def keepalive(self) -> bytes:
        return b'event: ping\ndata: {"type": "ping"}\n\n'

    def answer_headers(self, seed: str) -> tuple[tuple[str, str], ...]:
        return (("request-id", "req_01" + letters(seed, 22)),)

    def failed(self, failed: Failed) -> Json:
        error = {"type": self.kind(failed), "message": failed.message}
        return {"type": "error", "error": error, "request_id": "req_01" + letters(failed.message, 22)}

    def error_event(self, failed: Failed) -> Event:
        return ("error", self.failed(failed))


class AnthropicThinking(AnthropicMessages):
    name = "anthropic-thinking"
    thinks = True

    def body(self, ask: Ask) -> Json:
        budget: Json = {"thinking": {"type": "enabled", "budget_tokens": 2048}}
        return super().body(ask) | budget


ANTHROPIC = (AnthropicMessages(), AnthropicThinking())
