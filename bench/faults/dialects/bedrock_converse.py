"""Bedrock Converse and ConverseStream, with cache points."""

import struct
import zlib
from typing import Any, cast
from urllib.parse import quote

from ..identities import lower
from ..pieces import Answer, Ask, Call, Event, Failed, Json, Message, Raw, Result, Text, Thinking, shreds, words
from .dialect import Dialect, compact, parsed


def frame(payload: object, name: str, kind: str = "event") -> bytes:
    """One message of an AWS event stream."""
    pairs = ((f":{kind}-type", name), (":content-type", "application/json"), (":message-type", kind))
    headers = b"".join(
        struct.pack("B", len(k)) + k.encode() + b"\x07" + struct.pack(">H", len(v)) + v.encode() for k, v in pairs
    )
    data = compact(payload).encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(data), len(headers))
    content = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + data
    return content + struct.pack(">I", zlib.crc32(content))


class BedrockConverse(Dialect):
    name = "bedrock-converse"
    protocol = "bedrock-converse"
    upstream = "bedrock"
    model = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
    flags_errors = True
    parallel_switch = False
    call_prefix = "tooluse_"
    call_length = 22
    stream_type = "application/vnd.amazon.eventstream"
    agent = "Boto3/1.44.5 md/Botocore#1.44.5 lang/python#3.13.1"
    STATIC = ("toolConfig", "system")
    FINISH = {"calls": "tool_use", "stop": "end_turn", "length": "max_tokens",
              "content_filter": "guardrail_intervened", "malformed": "malformed_tool_use",
              "context_full": "model_context_window_exceeded", "stop_sequence": "stop_sequence"}  # fmt: skip
    ERRORS = {400: "ValidationException", 403: "AccessDeniedException", 404: "ResourceNotFoundException",
              408: "ModelTimeoutException", 424: "ModelErrorException", 429: "ThrottlingException",
              500: "InternalServerException", 503: "ServiceUnavailableException"}  # fmt: skip
    EXCEPTIONS = {400: "validationException", 429: "throttlingException", 500: "internalServerException",
                  424: "modelStreamErrorException", 503: "serviceUnavailableException"}  # fmt: skip

    def answer_id(self, seed: str) -> str:
        return ""

    def url(self, ask: Ask) -> str:
        method = "converse-stream" if ask.streamed else "converse"
        return f"https://bedrock-runtime.us-east-1.amazonaws.com/model/{quote(ask.model, safe='')}/{method}"

    def body(self, ask: Ask) -> Json:
        messages = [self.message(message) for message in ask.messages]
        body: Json = {"messages": messages, "inferenceConfig": {"maxTokens": ask.max_output or 4096}}
        if ask.system:
            marker = [{"cachePoint": {"type": "default"}}] if ask.parameters.get("cache", True) else []
            body["system"] = [{"text": ask.system}, *marker]
        if ask.tools:
            tools: list[Json] = [
                {"toolSpec": {"name": t.name, "description": t.description, "inputSchema": {"json": dict(t.schema)}}}
                for t in ask.tools
            ]
            body["toolConfig"] = {"tools": tools}
        if ask.tool_choice:
            named = ask.tool_choice != "required"
            cast(Json, body["toolConfig"])["toolChoice"] = {"tool": {"name": ask.tool_choice}} if named else {"any": {}}
        if ask.parameters.get("cache", True):
            messages[-1]["content"].append({"cachePoint": {"type": "default"}})
        body["inferenceConfig"] |= ask.parameters.get("inferenceConfig", {})
        return body | {k: v for k, v in ask.parameters.items() if k not in ("inferenceConfig", "cache")}

    def prompt(self, ask: Ask, body: Json) -> list[str]:
        # The tools are part of the prompt; which of them is demanded is not.
        tools = {"tools": body.get("toolConfig", {}).get("tools")}
        static, messages = super().prompt(ask, body | {"toolConfig": tools})
        marker = ',{"cachePoint":{"type":"default"}}'
        return [static.replace(marker, ""), messages.replace(marker, "")]

    def message(self, message: Message) -> Json:
        role = "assistant" if message.role == "assistant" else "user"
        return {"role": role, "content": [self.block(block) for block in message.blocks]}

    def block(self, block: Any) -> Json:
        match block:
            case Text():
                return {"text": block.text}
            case Thinking():
                return {"reasoningContent": {"reasoningText": {"text": block.text, "signature": block.signature}}}
            case Call():
                use = {"toolUseId": block.id, "name": block.name, "input": parsed(block.arguments)}
                return {"toolUse": use}
            case Result():
                status = "error" if block.error else "success"
                return {"toolResult": {"toolUseId": block.call_id, "content": [{"text": block.text}], "status": status}}
            case Raw():
                return block.value
            case _:
                raise TypeError(block)

    def usage(self, answer: Answer) -> Json:
        t = answer.tokens
        assert t is not None
        return {
            "inputTokens": t.input - t.cached - t.written,
            "outputTokens": t.output,
            "totalTokens": t.input + t.output,
            "cacheReadInputTokens": t.cached,
            "cacheWriteInputTokens": t.written,
        }

    def whole(self, ask: Ask, answer: Answer) -> Json:
        body: Json = {
            "metrics": {"latencyMs": 2512},
            "output": {"message": {"content": [self.block(b) for b in answer.blocks], "role": "assistant"}},
            "stopReason": self.word(answer),
        }
        return body | ({"usage": self.usage(answer)} if answer.tokens else {}) | answer.detail

    def events(self, ask: Ask, answer: Answer) -> list[Event]:
        events: list[Event] = [("messageStart", {"p": "abcd", "role": "assistant"})]
        last = len(answer.blocks) - 1
        for place, block in enumerate(answer.blocks):
            at: Json = {"contentBlockIndex": place}
            if isinstance(block, Call):
                start = {"toolUse": {"name": block.name, "toolUseId": block.id}}
                events.append(("contentBlockStart", {**at, "p": "ab", "start": start}))
                deltas: list[Json] = [{"toolUse": {"input": piece}} for piece in shreds(block.arguments)]
            elif isinstance(block, Text):
                deltas = [{"text": word} for word in words(block.text) or [""]]
            else:
                raise TypeError(block)
            events += [("contentBlockDelta", {**at, "delta": delta, "p": "abcdef"}) for delta in deltas]
            if not (answer.cut_call and place == last):
                events.append(("contentBlockStop", {**at, "p": "abc"}))
        events.append(("messageStop", {"p": "abcde", "stopReason": self.word(answer)}))
        metadata: Json = {"metrics": {"latencyMs": 2512}, "p": "abc"}
        events.append(("metadata", metadata | ({"usage": self.usage(answer)} if answer.tokens else {})))
        return events

    def framed(self, event: Event, place: int = 0, last: bool = False) -> bytes:
        return frame(event[1], event[0])

    def keepalive(self) -> bytes:
        return b""

    def answer_headers(self, seed: str) -> tuple[tuple[str, str], ...]:
        d = lower(seed, 32)
        return (("x-amzn-requestid", f"{d[:8]}-{d[8:12]}-{d[12:16]}-{d[16:20]}-{d[20:]}"),)

    def failed(self, failed: Failed) -> Json:
        return {"message": failed.message}

    def error_event(self, failed: Failed) -> bytes:
        return frame({"message": failed.message}, self.EXCEPTIONS[failed.status], "exception")


BEDROCK = (BedrockConverse(),)
