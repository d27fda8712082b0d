"""OpenAI Chat Completions and the APIs that copy it, Mistral's among them.

https://platform.openai.com/docs/api-reference/chat, https://docs.mistral.ai/api/
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from ..bodies import Body, Json
from .shape import Call, Place, Result, Said, Shape, Tool, Value, at, rows, texts


class Chat(Shape):
    protocol = "openai-chat"
    text_arguments = True
    GOOD = frozenset({"stop", "tool_calls"})
    FINISH = {"stop": "stop", "calls": "tool_calls", "length": "length", "filter": "content_filter"}

    def history(self, body: Json) -> list[Any]:
        return body["messages"]

    def calls(self, body: Json) -> list[Call]:
        return [
            Call(Value(at(call, "id")), Value(at(call["function"], "name")), Value(at(call["function"], "arguments")),
                 isinstance(call["function"].get("arguments"), str), message["tool_calls"], call)
            for message in rows(self.history(body)) if message.get("role") == "assistant"
            for call in rows(message.get("tool_calls")) if isinstance(call.get("function"), dict)
        ]  # fmt: skip

    def results(self, body: Json) -> list[Result]:
        history = self.history(body)
        return [
            Result(next(iter(at(m, "tool_call_id")), None), None, Place(m, "content"), history, m)
            for m in rows(history) if m.get("role") == "tool"
        ]  # fmt: skip

    def said(self, body: Json) -> list[Said]:
        found: list[Said] = []
        history = self.history(body)
        for message in rows(history):
            role, content = message.get("role"), message.get("content")
            if role not in ("user", "assistant"):
                continue
            if isinstance(content, str) and content:
                found.append(Said(role, Place(message, "content"), history, message))
            found.extend(texts(content, ("text",), role))
        return found

    def system(self, body: Json) -> Place | None:
        for message in rows(self.history(body)):
            if message.get("role") in ("system", "developer"):
                if isinstance(message.get("content"), str):
                    return Place(message, "content")
                return next((one.text for one in texts(message.get("content"), ("text",), "system")), None)
        return None

    def tools(self, body: Json) -> list[Tool]:
        tools = body.get("tools")
        return [
            Tool(Place(f, "name"), next(iter(at(f, "description")), None), f.get("parameters") or {}, tools, tool)
            for tool in rows(tools) if isinstance(f := tool.get("function"), dict) and tools is not None
        ]  # fmt: skip

    def user(self, text: str) -> Json:
        return {"role": "user", "content": text}

    def assistant(self, text: str) -> Json:
        return {"role": "assistant", "content": text}

    def called(self, identity: str, name: str, arguments: Json, result: str) -> list[Json]:
        from ...dialects.dialect import compact

        call = {"id": identity, "type": "function", "function": {"name": name, "arguments": compact(arguments)}}
        return [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": identity, "content": result},
        ]

    def drop(self, body: Json, owner: list[Any], node: Any) -> None:
        owner[:] = [one for one in owner if one is not node]
        for message in list(rows(self.history(body))):
            if message.get("tool_calls") == []:
                del message["tool_calls"]
                if not message.get("content"):
                    self.history(body)[:] = [m for m in self.history(body) if m is not message]

    def reasoning(self, body: Json) -> list[tuple[list[Any], Any, Place | None]]:
        return []

    def tool_choice(self, body: Json) -> bool:
        body["tool_choice"] = "required"
        return True

    def one_call_only(self, body: Json) -> bool:
        body["parallel_tool_calls"] = False
        return True

    # Answers

    def _messages(self, body: Body) -> Iterator[Json]:
        """The first choice's message, whole or as deltas."""
        for value in body.values:
            for choice in list(rows(value.get("choices")))[:1]:
                message = choice.get("delta") if body.events is not None else choice.get("message")
                if isinstance(message, dict):
                    yield message

    def answered(self, body: Body) -> list[Call]:
        found: dict[Any, Call] = {}
        last: Any = None
        for message in self._messages(body):
            for place, call in enumerate(rows(message.get("tool_calls"))):
                function = call.get("function") or {}
                key = call.get("index", place if call.get("id") else last) if body.events is not None else place
                last = key
                slot = found.setdefault(key, Call(Value(), Value(), Value(), self.text_arguments))
                slot.id.copies += [p for p in at(call, "id") if p.value]
                slot.name.fragments += at(function, "name")
                slot.arguments.fragments += at(function, "arguments")
                slot.node = call
        return [call for call in found.values() if call.name]

    def text(self, body: Body) -> Value:
        return Value([p for m in self._messages(body) for p in at(m, "content") if isinstance(p.value, str)])

    def finish(self, body: Body) -> Value:
        choices = [c for v in body.values for c in list(rows(v.get("choices")))[:1]]
        return Value(copies=[p for c in choices for p in at(c, "finish_reason") if p.value])

    def usage(self, body: Body) -> list[Place]:
        places = [Place(v, "usage") for v in body.values if isinstance(v.get("usage"), dict)]
        groq = [Place(x, "usage") for v in body.values if isinstance(x := v.get("x_groq"), dict) and x.get("usage")]
        return places + groq

    def refuse(self, body: Body) -> bool:
        if self.protocol != "openai-chat":
            return False
        messages = [m for m in self._messages(body) if isinstance(m.get("content"), str) and m["content"]]
        for number, message in enumerate(messages):
            message["content"] = None
            message["refusal"] = "" if number else "I'm sorry, but I can't help with that."
        return bool(messages)

    def none(self, body: Body) -> bool:
        if body.events is not None:
            return False
        body.value["choices"] = []
        return True

    def twice(self, body: Body, call: Call, identity: str) -> bool:
        if body.events is not None:
            return False
        calls = body.value["choices"][0]["message"]["tool_calls"]
        again = {**deepcopy(call.node), "id": identity}
        if "index" in again:
            again["index"] = len(calls)
        calls.append(again)
        return True

    def indexes(self, body: Body) -> list[Place]:
        if body.events is None:
            return []
        return [p for m in self._messages(body) for call in rows(m.get("tool_calls")) for p in at(call, "index")]

    def error(self, status: int, message: str) -> Json:
        kind = {401: "invalid_request_error", 429: "rate_limit_exceeded"}.get(status, "server_error")
        return {"error": {"message": message, "type": kind, "param": None, "code": None}}


class Mistral(Chat):
    protocol = "mistral-chat"
    FINISH = {"stop": "stop", "calls": "tool_calls", "length": "length"}

    def called(self, identity: str, name: str, arguments: Json, result: str) -> list[Json]:
        call, answer = super().called(identity[-9:], name, arguments, result)
        return [call | {"content": ""}, answer | {"name": name}]

    def error(self, status: int, message: str) -> Json:
        return {"object": "error", "message": message, "type": "service_error", "param": None, "code": str(status)}

    def tool_choice(self, body: Json) -> bool:
        body["tool_choice"] = "any"
        return True


class Cohere(Chat):
    """https://docs.cohere.com/reference/chat: messages as in Chat Completions, another form of answers."""

    protocol = "cohere-v2"
    GOOD = frozenset({"COMPLETE", "TOOL_CALL"})
    FINISH = {"stop": "COMPLETE", "calls": "TOOL_CALL", "length": "MAX_TOKENS"}

    def tool_choice(self, body: Json) -> bool:
        body["tool_choice"] = "REQUIRED"
        return True

    def one_call_only(self, body: Json) -> bool:
        return False

    def results(self, body: Json) -> list[Result]:
        return [r for r in super().results(body) if isinstance(r.node.get("content"), str | list)]

    def answered(self, body: Body) -> list[Call]:
        if body.events is None:
            return [
                Call(Value(at(c, "id")), Value(at(c["function"], "name")), Value(at(c["function"], "arguments")), True,
                     node=c)
                for c in rows(body.value["message"].get("tool_calls"))
            ]  # fmt: skip
        found: dict[Any, Call] = {}
        for value in body.values:
            if value.get("type") in ("tool-call-start", "tool-call-delta"):
                call = value["delta"]["message"]["tool_calls"]
                slot = found.setdefault(value.get("index"), Call(Value(), Value(), Value(), True))
                slot.id.copies += at(call, "id")
                slot.name.fragments += at(call["function"], "name")
                slot.arguments.fragments += at(call["function"], "arguments")
                slot.node = call
        return list(found.values())

    def text(self, body: Body) -> Value:
        if body.events is None:
            return Value([p for part in rows(body.value["message"].get("content")) for p in at(part, "text")])
        parts = [v["delta"]["message"]["content"] for v in body.values if v.get("type") == "content-delta"]
        return Value([p for part in parts for p in at(part, "text")])

    def finish(self, body: Body) -> Value:
        if body.events is None:
            return Value(copies=at(body.value, "finish_reason"))
        return Value(copies=[p for v in body.values if v.get("type") == "message-end"
                             for p in at(v["delta"], "finish_reason")])  # fmt: skip

    def usage(self, body: Body) -> list[Place]:
        if body.events is None:
            return at(body.value, "usage")
        return [p for v in body.values if v.get("type") == "message-end" for p in at(v["delta"], "usage")]

    def none(self, body: Body) -> bool:
        return False

    def twice(self, body: Body, call: Call, identity: str) -> bool:
        if body.events is not None:
            return False
        body.value["message"]["tool_calls"].append({**deepcopy(call.node), "id": identity})
        return True

    def indexes(self, body: Body) -> list[Place]:
        return []

    def error_event(self, body: Body, message: str) -> bytes:
        from ...dialects.dialect import sse

        delta = {"finish_reason": "ERROR", "error": message, "usage": None}
        return sse(("message-end", {"type": "message-end", "delta": delta}))

    def error(self, status: int, message: str) -> Json:
        return {"id": "c6b0e4c4-1a0f-4f3e-9d53-5a4b93b1a2aa", "message": message}


class Ollama(Chat):
    """https://github.com/ollama/ollama/blob/main/docs/api.md: no ids, arguments are objects, results by name."""

    protocol = "ollama-chat"
    with_ids = False
    text_arguments = False
    GOOD = frozenset({"stop"})
    FINISH = {"stop": "stop", "length": "length"}

    def results(self, body: Json) -> list[Result]:
        history = self.history(body)
        return [
            Result(next(iter(at(m, "tool_call_id")), None), next(iter(at(m, "tool_name", "name")), None),
                   Place(m, "content"), history, m)
            for m in rows(history) if m.get("role") == "tool"
        ]  # fmt: skip

    def called(self, identity: str, name: str, arguments: Json, result: str) -> list[Json]:
        return [
            {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": name, "arguments": arguments}}]},
            {"role": "tool", "tool_name": name, "content": result},
        ]

    def tool_choice(self, body: Json) -> bool:
        return False

    def one_call_only(self, body: Json) -> bool:
        return False

    def _messages(self, body: Body) -> Iterator[Json]:
        return (v["message"] for v in body.values if isinstance(v.get("message"), dict))

    def answered(self, body: Body) -> list[Call]:
        return [
            Call(Value(at(c, "id")), Value(at(c["function"], "name")), Value(at(c["function"], "arguments")), False,
                 owner=m["tool_calls"], node=c)
            for m in self._messages(body) for c in rows(m.get("tool_calls"))
        ]  # fmt: skip

    def finish(self, body: Body) -> Value:
        return Value(copies=[p for v in body.values for p in at(v, "done_reason")])

    def usage(self, body: Body) -> list[Place]:
        return [p for v in body.values for p in at(v, "prompt_eval_count", "eval_count")]

    def none(self, body: Body) -> bool:
        return False

    def twice(self, body: Body, call: Call, identity: str) -> bool:
        if body.events is not None:
            return False
        call.owner.append(deepcopy(call.node))
        return True

    def indexes(self, body: Body) -> list[Place]:
        return []

    def error(self, status: int, message: str) -> Json:
        return {"error": message}

    def error_event(self, body: Body, message: str) -> bytes:
        from ...dialects.dialect import compact

        return compact({"error": message}).encode() + b"\n"
