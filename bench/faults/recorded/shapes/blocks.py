"""APIs whose messages are lists of blocks: Anthropic Messages, Bedrock Converse, and both behind Bedrock InvokeModel.

https://docs.anthropic.com/en/api/messages, https://docs.aws.amazon.com/bedrock/latest/APIReference/
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from ..bodies import Body, Json
from .shape import Call, Place, Result, Said, Shape, Tool, Value, at, rows, texts


class Anthropic(Shape):
    protocol = "anthropic-messages"
    GOOD = frozenset({"end_turn", "tool_use", "stop_sequence"})
    FINISH = {"stop": "end_turn", "calls": "tool_use", "length": "max_tokens", "refusal": "refusal"}

    def history(self, body: Json) -> list[Any]:
        return body["messages"]

    def _blocks(self, body: Json, kind: str) -> Iterator[tuple[Json, list[Any], Json]]:
        for message in rows(self.history(body)):
            content = message.get("content")
            for block in rows(content):
                if block.get("type") == kind and isinstance(content, list):
                    yield message, content, block

    def calls(self, body: Json) -> list[Call]:
        return [
            Call(Value(at(b, "id")), Value(at(b, "name")), Value(at(b, "input")), False, owner, b)
            for _, owner, b in self._blocks(body, "tool_use")
        ]

    def results(self, body: Json) -> list[Result]:
        return [
            Result(Place(b, "tool_use_id"), None, Place(b, "content"), owner, b)
            for _, owner, b in self._blocks(body, "tool_result")
        ]

    def said(self, body: Json) -> list[Said]:
        found: list[Said] = []
        for message in rows(self.history(body)):
            role, content = message.get("role", ""), message.get("content")
            if isinstance(content, str):
                found.append(Said(role, Place(message, "content"), self.history(body), message))
            found.extend(texts(content, ("text",), role))
        return found

    def system(self, body: Json) -> Place | None:
        system = body.get("system")
        if isinstance(system, str):
            return Place(body, "system")
        return next((one.text for one in texts(system, ("text",), "system")), None)

    def tools(self, body: Json) -> list[Tool]:
        tools = body.get("tools")
        return [
            Tool(Place(t, "name"), next(iter(at(t, "description")), None), t["input_schema"], tools, t)
            for t in rows(tools) if isinstance(t.get("input_schema"), dict) and tools is not None
        ]  # fmt: skip

    def user(self, text: str) -> Json:
        return {"role": "user", "content": [{"type": "text", "text": text}]}

    def assistant(self, text: str) -> Json:
        return {"role": "assistant", "content": [{"type": "text", "text": text}]}

    def called(self, identity: str, name: str, arguments: Json, result: str) -> list[Json]:
        call = {"type": "tool_use", "id": identity, "name": name, "input": arguments}
        answer = {"type": "tool_result", "tool_use_id": identity, "content": result}
        return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [answer]}]

    def reasoning(self, body: Json) -> list[tuple[list[Any], Any, Place | None]]:
        return [(owner, b, next(iter(at(b, "signature")), None)) for _, owner, b in self._blocks(body, "thinking")]

    def tool_choice(self, body: Json) -> bool:
        body["tool_choice"] = {"type": "any"}
        return "thinking" not in body

    def one_call_only(self, body: Json) -> bool:
        body["tool_choice"] = {"type": "auto", "disable_parallel_tool_use": True}
        return True

    # Answers

    def answered(self, body: Body) -> list[Call]:
        if body.events is None:
            return [
                Call(Value(at(b, "id")), Value(at(b, "name")), Value(at(b, "input")), False, node=b)
                for b in rows(body.value.get("content")) if b.get("type") == "tool_use"
            ]  # fmt: skip
        found: dict[Any, Call] = {}
        for value in body.values:
            block = value.get("content_block") or {}
            if value.get("type") == "content_block_start" and block.get("type") == "tool_use":
                found[value["index"]] = Call(Value(at(block, "id")), Value(at(block, "name")), Value(), True)
            delta = value.get("delta") or {}
            if delta.get("type") == "input_json_delta" and value["index"] in found:
                found[value["index"]].arguments.fragments += at(delta, "partial_json")
        return list(found.values())

    def text(self, body: Body) -> Value:
        if body.events is None:
            return Value([p for b in rows(body.value.get("content")) if b.get("type") == "text" for p in at(b, "text")])
        deltas = [v["delta"] for v in body.values if v.get("type") == "content_block_delta"]
        return Value([p for d in deltas if d.get("type") == "text_delta" for p in at(d, "text")])

    def finish(self, body: Body) -> Value:
        if body.events is None:
            return Value(copies=at(body.value, "stop_reason"))
        return Value(copies=[p for v in body.values if v.get("type") == "message_delta"
                             for p in at(v["delta"], "stop_reason")])  # fmt: skip

    def usage(self, body: Body) -> list[Place]:
        holders = list(body.values) + [m for v in body.values if isinstance(m := v.get("message"), dict)]
        return [p for holder in holders for p in at(holder, "usage")]

    def served(self, body: Body) -> Value:
        holders = [v.get("message") or v for v in body.values]
        return Value(copies=[p for holder in holders for p in at(holder, "model")])

    def refuse(self, body: Body) -> bool:
        self.text(body).set("")
        self.finish(body).set("refusal")
        if body.events is None:
            body.value["content"] = []
        return bool(self.finish(body))

    def twice(self, body: Body, call: Call, identity: str) -> bool:
        if body.events is not None:
            return False
        body.value["content"].append({**deepcopy(call.node), "id": identity})
        return True

    def error(self, status: int, message: str) -> Json:
        kind = {401: "authentication_error", 429: "rate_limit_error", 400: "invalid_request_error",
                529: "overloaded_error"}.get(status, "api_error")  # fmt: skip
        return {"type": "error", "error": {"type": kind, "message": message}}

    def error_event(self, body: Body, message: str) -> bytes:
        from ...dialects.dialect import sse

        return sse(("error", self.error(529, "Overloaded")))


class Converse(Shape):
    protocol = "bedrock-converse"
    GOOD = frozenset({"end_turn", "tool_use", "stop_sequence"})
    FINISH = {"stop": "end_turn", "calls": "tool_use", "length": "max_tokens", "filter": "guardrail_intervened"}

    def history(self, body: Json) -> list[Any]:
        return body["messages"]

    def _blocks(self, body: Json, kind: str) -> Iterator[tuple[list[Any], Json]]:
        for message in rows(self.history(body)):
            content = message.get("content")
            for block in rows(content):
                if isinstance(block.get(kind), dict) and isinstance(content, list):
                    yield content, block

    def calls(self, body: Json) -> list[Call]:
        return [_tool_use(b["toolUse"], owner, b) for owner, b in self._blocks(body, "toolUse")]

    def results(self, body: Json) -> list[Result]:
        return [
            Result(Place(b["toolResult"], "toolUseId"), None, Place(b["toolResult"], "content"), owner, b)
            for owner, b in self._blocks(body, "toolResult")
        ]

    def said(self, body: Json) -> list[Said]:
        return [
            Said(m.get("role", ""), Place(b, "text"), m["content"], b)
            for m in rows(self.history(body)) for b in rows(m.get("content")) if isinstance(b.get("text"), str)
        ]  # fmt: skip

    def system(self, body: Json) -> Place | None:
        return next((Place(b, "text") for b in rows(body.get("system")) if isinstance(b.get("text"), str)), None)

    def tools(self, body: Json) -> list[Tool]:
        tools = (body.get("toolConfig") or {}).get("tools")
        return [
            Tool(Place(s, "name"), next(iter(at(s, "description")), None), s["inputSchema"].get("json") or {}, tools, t)
            for t in rows(tools) if isinstance(s := t.get("toolSpec"), dict) and tools is not None
        ]  # fmt: skip

    def user(self, text: str) -> Json:
        return {"role": "user", "content": [{"text": text}]}

    def assistant(self, text: str) -> Json:
        return {"role": "assistant", "content": [{"text": text}]}

    def called(self, identity: str, name: str, arguments: Json, result: str) -> list[Json]:
        call = {"toolUse": {"toolUseId": identity, "name": name, "input": arguments}}
        answer = {"toolResult": {"toolUseId": identity, "content": [{"text": result}], "status": "success"}}
        return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [answer]}]

    def reasoning(self, body: Json) -> list[tuple[list[Any], Any, Place | None]]:
        found = [(owner, b, b["reasoningContent"].get("reasoningText"))
                 for owner, b in self._blocks(body, "reasoningContent")]  # fmt: skip
        return [(owner, b, next(iter(at(text, "signature")), None)) for owner, b, text in found]

    def tool_choice(self, body: Json) -> bool:
        body["toolConfig"]["toolChoice"] = {"any": {}}
        return True

    def model(self, body: Json) -> Place | None:
        return None

    def answered(self, body: Body) -> list[Call]:
        if body.events is None:
            content = body.value["output"]["message"].get("content")
            return [_tool_use(b["toolUse"], content, b) for b in rows(content) if isinstance(b.get("toolUse"), dict)]
        found: dict[Any, Call] = {}
        for value in (_plain(v) for v in body.values):
            start = (value.get("start") or {}).get("toolUse")
            if start:
                found[value["contentBlockIndex"]] = Call(Value(at(start, "toolUseId")), Value(at(start, "name")),
                                                         Value(), True)  # fmt: skip
            delta = (value.get("delta") or {}).get("toolUse")
            if delta and value["contentBlockIndex"] in found:
                found[value["contentBlockIndex"]].arguments.fragments += at(delta, "input")
        return list(found.values())

    def text(self, body: Body) -> Value:
        if body.events is None:
            return Value([p for b in rows(body.value["output"]["message"].get("content")) for p in at(b, "text")])
        return Value([p for v in body.values for p in at(_plain(v).get("delta") or {}, "text")])

    def finish(self, body: Body) -> Value:
        return Value(copies=[p for v in body.values for p in at(_plain(v), "stopReason")])

    def usage(self, body: Body) -> list[Place]:
        return [p for v in body.values for p in at(_plain(v), "usage")]

    def served(self, body: Body) -> Value:
        return Value()

    def twice(self, body: Body, call: Call, identity: str) -> bool:
        if body.events is not None:
            return False
        again = deepcopy(call.node)
        again["toolUse"]["toolUseId"] = identity
        call.owner.append(again)
        return True

    def error(self, status: int, message: str) -> Json:
        return {"message": message}

    def error_event(self, body: Body, message: str) -> bytes:
        from ...dialects.bedrock_converse import frame

        return frame({"message": message}, "internalServerException", "exception")


def _plain(value: Json) -> Json:
    """An event of Nova behind InvokeModel has its name inside; elsewhere the name is a header."""
    return next((v for k, v in value.items() if k in _NOVA and isinstance(v, dict)), value)


_NOVA = frozenset({"messageStart", "contentBlockStart", "contentBlockDelta", "messageStop", "metadata"})


def _tool_use(use: Json, owner: list[Any], node: Any) -> Call:
    return Call(Value(at(use, "toolUseId")), Value(at(use, "name")), Value(at(use, "input")), False, owner, node)


class _Invoke(Shape):
    """A body that Bedrock's InvokeModel passes on; the model is in the path."""

    protocol = "bedrock-invoke"

    def model(self, body: Json) -> Place | None:
        return None

    def error(self, status: int, message: str) -> Json:
        return {"message": message}

    def error_event(self, body: Body, message: str) -> bytes:
        from ...dialects.bedrock_converse import frame

        return frame({"message": message}, "internalServerException", "exception")


class InvokeAnthropic(_Invoke, Anthropic):
    protocol = "bedrock-invoke"

    def served(self, body: Body) -> Value:
        return Value()


class InvokeNova(_Invoke, Converse):
    protocol = "bedrock-invoke"
