"""Gemini generateContent with thought signatures; streamed as SSE, calls without ids as this API sends them."""

import json
from typing import Any

from ..identities import letters
from ..pieces import Answer, Ask, Call, Event, Failed, Json, Message, Raw, Result, Text, Thinking, words
from .dialect import Dialect, parsed, sse


class GeminiGenerate(Dialect):
    name = "gemini-generate"
    protocol = "gemini-generate"
    upstream = "gemini"
    model = "gemini-3-pro-preview"
    served = "gemini-3-pro-preview"
    thinks = True
    flags_errors = True
    parallel_switch = False
    agent = "google-genai-sdk/3.4.0 gl-python/3.13.1"
    STATIC = ("tools", "systemInstruction")
    MESSAGES = ("contents",)
    FINISH = {"calls": "STOP", "stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY",
              "malformed": "MALFORMED_FUNCTION_CALL", "limit": "TOO_MANY_TOOL_CALLS"}  # fmt: skip
    ERRORS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
              429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"}  # fmt: skip

    def call_id(self, seed: str, name: str) -> str:
        return letters(seed, 8)  # never on the wire

    def answer_id(self, seed: str) -> str:
        return letters(seed, 22)

    def url(self, ask: Ask) -> str:
        method = "streamGenerateContent?alt=sse" if ask.streamed else "generateContent"
        return f"https://generativelanguage.googleapis.com/v1beta/models/{ask.model}:{method}"

    def body(self, ask: Ask) -> Json:
        body: Json = {"contents": [self.content(message) for message in ask.messages]}
        if ask.system:
            body["systemInstruction"] = {"parts": [{"text": ask.system}], "role": "user"}
        if ask.tools:
            body["tools"] = [
                {
                    "functionDeclarations": [
                        {"name": t.name, "description": t.description, "parametersJsonSchema": dict(t.schema)}
                        for t in ask.tools
                    ]
                }
            ]
        if ask.tool_choice:
            modes = {"required": "ANY", "none": "NONE"}
            config: Json = {"mode": modes.get(ask.tool_choice, "ANY")}
            if ask.tool_choice not in modes:
                config["allowedFunctionNames"] = [ask.tool_choice]
            body["toolConfig"] = {"functionCallingConfig": config}
        body["generationConfig"] = {"maxOutputTokens": ask.max_output or 8192} | ask.parameters.get(
            "generationConfig", {}
        )
        return body | {k: v for k, v in ask.parameters.items() if k != "generationConfig"}

    def content(self, message: Message) -> Json:
        parts = self.parts(message.blocks)
        return {"parts": parts, "role": "model" if message.role == "assistant" else "user"}

    def parts(self, blocks: tuple[Any, ...]) -> list[Json]:
        """Reasoning has no separate part: its signature is on the first call, or on the text."""
        signature = next((b.signature for b in blocks if isinstance(b, Thinking)), None)
        calls = any(isinstance(block, Call) for block in blocks)
        parts: list[Json] = []
        for block in blocks:
            part: Json
            match block:
                case Text():
                    part = {"text": block.text}
                    if signature and not calls:
                        part["thoughtSignature"], signature = signature, None
                case Call():
                    part = {"functionCall": {"name": block.name, "args": parsed(block.arguments)}}
                    if signature or block.signature:
                        part["thoughtSignature"], signature = block.signature or signature, None
                case Result():
                    response = {"error": block.text} if block.error else {"output": block.text}
                    part = {"functionResponse": {"name": block.name, "response": response}}
                case Raw():
                    part = block.value
                case _:
                    continue
            parts.append(part)
        return parts

    def usage(self, answer: Answer) -> Json:
        t = answer.tokens
        assert t is not None
        usage: Json = {
            "promptTokenCount": t.input,
            "candidatesTokenCount": t.output - t.reasoning,
            "totalTokenCount": t.input + t.output,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": t.input}],
        }
        if t.cached:
            usage["cachedContentTokenCount"] = t.cached
        return usage | ({"thoughtsTokenCount": t.reasoning} if t.reasoning else {})

    def chunk(self, answer: Answer, parts: list[Json], finish: str | None) -> Json:
        candidate: Json = {"content": {"parts": parts, "role": "model"}}
        if finish:
            candidate["finishReason"] = finish
            candidate |= answer.detail
        candidate["index"] = 0
        chunk: Json = {"candidates": [candidate]}
        if answer.tokens:
            chunk["usageMetadata"] = self.usage(answer)
        return chunk | {"modelVersion": answer.model, "responseId": answer.id}

    def whole(self, ask: Ask, answer: Answer) -> Json:
        return self.chunk(answer, self.parts(answer.blocks), self.word(answer))

    def written(self, body: Json) -> bytes:
        return json.dumps(body, ensure_ascii=False, indent=2).encode()

    def events(self, ask: Ask, answer: Answer) -> list[Event]:
        chunks: list[Json] = []
        for part in self.parts(answer.blocks):
            if "text" in part:
                pieces = words(part["text"])
                made: list[Json] = [{"text": word} for word in pieces]
                if "thoughtSignature" in part:
                    made.append({"text": "", "thoughtSignature": part["thoughtSignature"]})
                chunks += [self.chunk(answer, [piece], None) for piece in made]
            else:
                chunks.append(self.chunk(answer, [part], None))
        chunks.append(self.chunk(answer, [{"text": ""}], self.word(answer)))
        return [("", chunk) for chunk in chunks]

    def framed(self, event: Event, place: int = 0, last: bool = False) -> bytes:
        return sse(event, "\r\n")

    def answer_headers(self, seed: str) -> tuple[tuple[str, str], ...]:
        return (("server-timing", "gfet4t7; dur=812"),)

    def failed(self, failed: Failed) -> Json:
        error: Json = {"code": failed.status, "message": failed.message, "status": self.kind(failed)}
        if failed.status == 429 and failed.headers:
            wait = dict(failed.headers).get("retry-after", "30")
            error["details"] = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{wait}s"}]
        return {"error": error}


GEMINI = (GeminiGenerate(),)
