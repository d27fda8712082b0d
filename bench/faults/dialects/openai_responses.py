"""OpenAI Responses: the whole input each time (reasoning encrypted), or only what is new."""

import json
from itertools import count
from typing import Any

from ..identities import digits, lower
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
from .dialect import Dialect
from .openai_chat import CREATED


def output_text(text: str) -> Json:
    return {"type": "output_text", "annotations": [], "logprobs": [], "text": text}


class OpenaiResponses(Dialect):
    name = "openai-responses"
    protocol = "openai-responses"
    upstream = "openai"
    model = "gpt-5.1"
    served = "gpt-5.1-2025-11-13"
    thinks = True
    agent = "OpenAI/Python 3.52.0"
    STATIC = ("tools", "instructions")
    MESSAGES = ("input",)
    FINISH = {"calls": "completed", "stop": "completed", "refusal": "completed",
              "length": "incomplete:max_output_tokens", "content_filter": "incomplete:content_filter",
              "limit": "incomplete:max_messages"}  # fmt: skip
    ERRORS = {400: "invalid_request_error", 401: "invalid_request_error", 404: "invalid_request_error",
              429: "rate_limit_exceeded", 500: "server_error", 503: "server_error"}  # fmt: skip

    def item_id(self, seed: str) -> str:
        return "fc_" + digits(seed + "fc", 48)

    def text_id(self, seed: str) -> str:
        return "msg_" + digits(seed + "msg", 48)

    def thinking_id(self, seed: str) -> str:
        return "rs_" + digits(seed + "rs", 48)

    def answer_id(self, seed: str) -> str:
        return "resp_" + digits(seed + "resp", 48)

    def url(self, ask: Ask) -> str:
        return "https://api.openai.com/v1/responses"

    def body(self, ask: Ask) -> Json:
        body: Json = {"include": ["reasoning.encrypted_content"], "input": []}
        for message in ask.messages[ask.held :]:
            body["input"] += self.items(message)
        if ask.system:
            body["instructions"] = ask.system
        body |= {"model": ask.model, "reasoning": {"effort": "medium", "summary": "auto"}, "store": False}
        if ask.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.schema),
                    "strict": False,
                }
                for tool in ask.tools
            ]
        if ask.tool_choice:
            plain = ask.tool_choice in ("required", "none", "auto")
            body["tool_choice"] = ask.tool_choice if plain else {"type": "function", "name": ask.tool_choice}
        if ask.parallel is not None:
            body["parallel_tool_calls"] = ask.parallel
        if ask.max_output:
            body["max_output_tokens"] = ask.max_output
        if ask.streamed:
            body["stream"] = True
        return body | ask.parameters

    def items(self, message: Message) -> list[Json]:
        return [self.item(block, message.role) for block in message.blocks]

    def item(self, block: Any, role: str) -> Json:
        if isinstance(block, Raw):
            return block.value
        if isinstance(block, Result):
            return {"type": "function_call_output", "call_id": block.call_id, "output": block.text}
        if isinstance(block, Call):
            return self.call(block, "completed")
        if isinstance(block, Thinking):
            return self.reasoning(block)
        if isinstance(block, Refusal):
            content = [{"type": "refusal", "refusal": block.text}]
            return {"type": "message", "role": "assistant", "status": "completed", "content": content}
        if role == "assistant":
            return self.message(block.text, block.id)
        return {"role": "user", "content": block.text}

    def message(self, text: str, identity: str, status: str = "completed") -> Json:
        content = [output_text(text)]
        return {"id": identity, "type": "message", "status": status, "content": content, "role": "assistant"}

    def call(self, call: Call, status: str) -> Json:
        return {
            "id": call.item,
            "type": "function_call",
            "status": status,
            "arguments": call.arguments,
            "call_id": call.id,
            "name": call.name,
        }

    def reasoning(self, thinking: Thinking) -> Json:
        summary = [{"type": "summary_text", "text": thinking.text}] if thinking.text else []
        return {
            "id": thinking.id,
            "type": "reasoning",
            "encrypted_content": thinking.signature,
            "summary": summary,
        }

    def output(self, answer: Answer) -> list[Json]:
        output: list[Json] = []
        last = len(answer.blocks) - 1
        status = "incomplete" if self.word(answer).startswith("incomplete") else "completed"
        for place, block in enumerate(answer.blocks):
            match block:
                case Thinking():
                    output.append(self.reasoning(block))
                case Text():
                    output.append(self.message(block.text, block.id, status))
                case Call():
                    cut = answer.cut_call and place == last
                    output.append(self.call(block, "incomplete" if cut else "completed"))
                case Refusal():
                    content = [{"type": "refusal", "refusal": block.text}]
                    output.append({"id": self.text_id(answer.id), "type": "message", "status": "completed",
                                   "content": content, "role": "assistant"})  # fmt: skip
                case Raw():
                    output.append(block.value)
                case _:
                    raise TypeError(block)
        return output

    def response(self, ask: Ask, answer: Answer, status: str, output: list[Json], *, ended: bool) -> Json:
        reason = self.word(answer).partition(":")[2] if ended else ""
        stored = ask.parameters.get("store", False)
        body: Json = {
            "id": answer.id,
            "object": "response",
            "created_at": CREATED,
            "status": status,
            "background": False,
            "error": None,
            "incomplete_details": {"reason": reason} if reason else None,
            "instructions": ask.system or None,
            "max_output_tokens": ask.max_output,
            "max_tool_calls": None,
            "model": answer.model,
            "output": output,
            "parallel_tool_calls": ask.parallel if ask.parallel is not None else True,
            "previous_response_id": ask.previous,
            "reasoning": {"effort": "medium", "summary": "detailed"},
            "service_tier": "default" if ended else "auto",
            "store": stored,
            "temperature": ask.parameters.get("temperature", 1.0),
            "text": {"format": {"type": "text"}, "verbosity": "medium"},
            "tool_choice": self.body(ask).get("tool_choice", "auto"),
            "tools": self.body(ask).get("tools", []),
            "top_p": ask.parameters.get("top_p", 1.0),
            "truncation": ask.parameters.get("truncation", "disabled"),
            "usage": None,
            "user": None,
            "metadata": {},
        }
        if ended and (t := answer.tokens):
            body["usage"] = {
                "input_tokens": t.input,
                "input_tokens_details": {"cached_tokens": t.cached},
                "output_tokens": t.output,
                "output_tokens_details": {"reasoning_tokens": t.reasoning},
                "total_tokens": t.input + t.output,
            }
        return body | (answer.detail if ended else {})

    def whole(self, ask: Ask, answer: Answer) -> Json:
        return self.response(ask, answer, self.word(answer).partition(":")[0], self.output(answer), ended=True)

    def written(self, body: Json) -> bytes:
        return json.dumps(body, ensure_ascii=False, indent=2).encode()

    def events(self, ask: Ask, answer: Answer) -> list[Event]:
        number = count()
        events: list[Event] = []

        def say(kind: str, **fields: Any) -> None:
            events.append((kind, {"type": kind, "sequence_number": next(number), **fields}))

        begun = self.response(ask, answer, "in_progress", [], ended=False)
        say("response.created", response=begun)
        say("response.in_progress", response=begun)
        output = self.output(answer)
        for place, item in enumerate(output):
            where = {"item_id": item["id"], "output_index": place}
            if item["type"] == "reasoning":
                say("response.output_item.added", output_index=place, item={**item, "summary": []})
                for index, part in enumerate(item["summary"]):
                    at = {**where, "summary_index": index}
                    say("response.reasoning_summary_part.added", **at, part={**part, "text": ""})
                    for word in words(part["text"]):
                        say("response.reasoning_summary_text.delta", **at, delta=word, obfuscation="aX3")
                    say("response.reasoning_summary_text.done", **at, text=part["text"])
                    say("response.reasoning_summary_part.done", **at, part=part)
            elif item["type"] == "message":
                self._message_events(say, where, item)
            elif item["type"] == "function_call":
                opened = {**item, "status": "in_progress", "arguments": ""}
                say("response.output_item.added", output_index=place, item=opened)
                for piece in shreds(item["arguments"]):
                    say("response.function_call_arguments.delta", **where, delta=piece, obfuscation="q")
                say("response.function_call_arguments.done", **where, arguments=item["arguments"], name=item["name"])
            else:
                say("response.output_item.added", output_index=place, item=item)
            say("response.output_item.done", output_index=place, item=item)
        status = self.word(answer).partition(":")[0]
        say(f"response.{status}", response=self.response(ask, answer, status, output, ended=True))
        return events

    def _message_events(self, say: Any, where: Json, item: Json) -> None:
        part = item["content"][0]
        kind = "refusal" if part["type"] == "refusal" else "output_text"
        field = "refusal" if kind == "refusal" else "text"
        at = {**where, "content_index": 0}
        say("response.output_item.added", output_index=where["output_index"],
            item={**item, "status": "in_progress", "content": []})  # fmt: skip
        say("response.content_part.added", **at, part={**part, field: ""})
        for word in words(part[field]):
            say(f"response.{kind}.delta", **at, delta=word)
        say(f"response.{kind}.done", **at, **{field: part[field]})
        say("response.content_part.done", **at, part=part)

    def answer_headers(self, seed: str) -> tuple[tuple[str, str], ...]:
        return (
            ("openai-processing-ms", "1412"),
            ("openai-version", "2020-10-01"),
            ("x-request-id", "req_" + lower(seed, 32)),
        )

    def failed(self, failed: Failed) -> Json:
        kind = self.ERRORS.get(failed.status, "server_error")
        kind = {"rate_limit_exceeded": "requests"}.get(kind, kind)
        kind = "insufficient_quota" if failed.code == "insufficient_quota" else kind
        code = failed.code or {429: "rate_limit_exceeded", 401: "invalid_api_key"}.get(failed.status)
        return {"error": {"message": failed.message, "type": kind, "param": failed.param, "code": code}}

    def error_event(self, failed: Failed) -> Event:
        fields = {"code": failed.code or "server_error", "message": failed.message, "param": failed.param}
        return ("error", {"type": "error", "sequence_number": 7, **fields})


class OpenaiResponsesHeld(OpenaiResponses):
    """`previous_response_id`: the API holds the history, requests bring what is new."""

    name = "openai-responses-held"
    stateful = True

    def body(self, ask: Ask) -> Json:
        body = super().body(ask)
        del body["include"]
        body["store"] = ask.parameters.get("store", True)
        if ask.previous:
            body["previous_response_id"] = ask.previous
        return body

    def reasoning(self, thinking: Thinking) -> Json:
        item = super().reasoning(thinking)
        del item["encrypted_content"]
        return item


RESPONSES = (OpenaiResponses(), OpenaiResponsesHeld())
