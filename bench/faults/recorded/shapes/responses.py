"""OpenAI Responses: a list of items. https://platform.openai.com/docs/api-reference/responses"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from ..bodies import Body, Json
from .shape import Call, Place, Result, Said, Shape, Tool, Value, at, rows, texts


class Responses(Shape):
    protocol = "openai-responses"
    text_arguments = True
    GOOD = frozenset({"completed"})
    FINISH = {}

    def history(self, body: Json) -> list[Any]:
        return body["input"] if isinstance(body.get("input"), list) else []

    def _items(self, body: Json, kind: str) -> list[Json]:
        return [item for item in rows(self.history(body)) if item.get("type") == kind]

    def calls(self, body: Json) -> list[Call]:
        return [
            Call(Value(at(i, "call_id")), Value(at(i, "name")), Value(at(i, "arguments")), True, self.history(body), i)
            for i in self._items(body, "function_call")
        ]

    def results(self, body: Json) -> list[Result]:
        return [
            Result(Place(i, "call_id"), None, Place(i, "output"), self.history(body), i)
            for i in self._items(body, "function_call_output")
        ]

    def said(self, body: Json) -> list[Said]:
        found: list[Said] = []
        for item in rows(self.history(body)):
            role, content = item.get("role"), item.get("content")
            if role not in ("user", "assistant"):
                continue
            if isinstance(content, str) and content:
                found.append(Said(role, Place(item, "content"), self.history(body), item))
            found.extend(texts(content, ("input_text", "output_text", "text"), role))
        return found

    def system(self, body: Json) -> Place | None:
        if isinstance(body.get("instructions"), str):
            return Place(body, "instructions")
        for item in rows(self.history(body)):
            if item.get("role") in ("system", "developer"):
                if isinstance(item.get("content"), str):
                    return Place(item, "content")
                return next((one.text for one in texts(item.get("content"), ("input_text",), "system")), None)
        return None

    def tools(self, body: Json) -> list[Tool]:
        tools = body.get("tools")
        return [
            Tool(Place(t, "name"), next(iter(at(t, "description")), None), t.get("parameters") or {}, tools, t)
            for t in rows(tools) if t.get("type") == "function" and tools is not None
        ]  # fmt: skip

    def user(self, text: str) -> Json:
        return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}

    def assistant(self, text: str) -> Json:
        return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}

    def called(self, identity: str, name: str, arguments: Json, result: str) -> list[Json]:
        from ...dialects.dialect import compact

        return [
            {"type": "function_call", "call_id": identity, "name": name, "arguments": compact(arguments)},
            {"type": "function_call_output", "call_id": identity, "output": result},
        ]

    def holds_all(self, body: Json) -> bool:
        return not body.get("previous_response_id") and not body.get("conversation")

    def reasoning(self, body: Json) -> list[tuple[list[Any], Any, Place | None]]:
        return [
            (self.history(body), i, place)
            for i in self._items(body, "reasoning")
            for place in at(i, "encrypted_content")
        ]

    def tool_choice(self, body: Json) -> bool:
        body["tool_choice"] = "required"
        return True

    def one_call_only(self, body: Json) -> bool:
        body["parallel_tool_calls"] = False
        return True

    # Answers

    def _wholes(self, body: Body) -> list[Json]:
        """Whole answers: the body, or those inside `response.*` events."""
        if body.events is None:
            return [body.value]
        return [r for v in body.values if isinstance(r := v.get("response"), dict)]

    def _outputs(self, body: Body) -> Iterator[Json]:
        """Whole items: those of whole answers, and those of `output_item` events."""
        for whole in self._wholes(body):
            yield from rows(whole.get("output"))
        for value in body.values if body.events is not None else ():
            if isinstance(item := value.get("item"), dict):
                yield item

    def answered(self, body: Body) -> list[Call]:
        found: dict[str, Call] = {}
        for item in self._outputs(body):
            if item.get("type") != "function_call":
                continue
            call = found.setdefault(str(item.get("call_id")), Call(Value(), Value(), Value(), True, node=item))
            call.id.copies += at(item, "call_id")
            call.name.copies += at(item, "name")
            if item.get("arguments") or item.get("status") == "completed":
                call.arguments.copies += at(item, "arguments")
        for call in found.values():
            own = call.node.get("id")
            for value in body.values if body.events is not None else ():
                if value.get("item_id") == own and "function_call_arguments" in str(value.get("type")):
                    call.arguments.fragments += at(value, "delta")
                    call.arguments.copies += at(value, "arguments")
        return list(found.values())

    def text(self, body: Body) -> Value:
        value = Value()
        for item in self._outputs(body):
            value.copies += [p for part in rows(item.get("content")) if part.get("type") == "output_text"
                             for p in at(part, "text") if p.value]  # fmt: skip
        for event in body.values if body.events is not None else ():
            if event.get("type") == "response.output_text.delta":
                value.fragments += at(event, "delta")
            value.copies += at(event, "text") if event.get("type") == "response.output_text.done" else []
            if event.get("type") == "response.content_part.done":
                value.copies += at(event.get("part"), "text")
        return value

    def finish(self, body: Body) -> Value:
        wholes = self._wholes(body)
        if body.events is not None:
            wholes = [v["response"] for v in body.values
                      if v.get("type") in ("response.completed", "response.incomplete", "response.failed")]  # fmt: skip
        return Value(copies=[p for whole in wholes for p in at(whole, "status")])

    def usage(self, body: Body) -> list[Place]:
        return [p for whole in self._wholes(body) for p in at(whole, "usage")]

    def served(self, body: Body) -> Value:
        return Value(copies=[p for whole in self._wholes(body) for p in at(whole, "model")])

    def refuse(self, body: Body) -> bool:
        if body.events is not None:
            return False
        parts = [part for item in self._outputs(body) for part in rows(item.get("content"))]
        for part in parts:
            part.clear()
            part.update({"type": "refusal", "refusal": "I'm sorry, but I can't help with that."})
        return bool(parts)

    def twice(self, body: Body, call: Call, identity: str) -> bool:
        if body.events is not None:
            return False
        body.value["output"].append({**deepcopy(call.node), "call_id": identity, "id": f"fc_{identity}"})
        return True

    def error(self, status: int, message: str) -> Json:
        kind = {401: "invalid_request_error", 429: "rate_limit_exceeded"}.get(status, "server_error")
        return {"error": {"message": message, "type": kind, "param": None, "code": None}}

    def error_event(self, body: Body, message: str) -> bytes:
        from ...dialects.dialect import sse

        value = {"type": "error", "code": "server_error", "message": message, "param": None, "sequence_number": 9}
        return sse(("error", value))


class Interactions(Shape):
    """Gemini's Interactions: steps. https://ai.google.dev/gemini-api/docs/interactions"""

    protocol = "gemini-interactions"
    GOOD = frozenset({"completed", "requires_action"})

    def history(self, body: Json) -> list[Any]:
        return body["input"] if isinstance(body.get("input"), list) else []

    def _parts(self, body: Json, kind: str) -> Iterator[tuple[list[Any], Json]]:
        for step in rows(self.history(body)):
            if step.get("type") == kind:
                yield self.history(body), step
            for part in rows(step.get("content")):
                if part.get("type") == kind:
                    yield step["content"], part

    def calls(self, body: Json) -> list[Call]:
        return [
            Call(Value(at(p, "id")), Value(at(p, "name")), Value(at(p, "arguments")), False, owner, p)
            for owner, p in self._parts(body, "function_call")
        ]

    def results(self, body: Json) -> list[Result]:
        return [
            Result(Place(p, "call_id"), next(iter(at(p, "name")), None), Place(p, "result"), owner, p)
            for owner, p in self._parts(body, "function_result")
        ]

    def said(self, body: Json) -> list[Said]:
        return [
            Said("user", Place(p, "text"), s["content"], p)
            for s in rows(self.history(body)) if s.get("type") == "user_input"
            for p in rows(s.get("content")) if isinstance(p.get("text"), str)
        ]  # fmt: skip

    def system(self, body: Json) -> Place | None:
        return next(iter(at(body, "system_instruction")), None)

    def tools(self, body: Json) -> list[Tool]:
        tools = body.get("tools")
        return [
            Tool(Place(t, "name"), next(iter(at(t, "description")), None), t.get("parameters") or {}, tools, t)
            for t in rows(tools) if t.get("type") == "function" and tools is not None
        ]  # fmt: skip

    def user(self, text: str) -> Json:
        return {"type": "user_input", "content": [{"type": "text", "text": text}]}

    def assistant(self, text: str) -> Json:
        return {"type": "model_output", "content": [{"type": "text", "text": text}]}

    def called(self, identity: str, name: str, arguments: Json, result: str) -> list[Json]:
        part = {"type": "function_result", "call_id": identity, "name": name, "result": result}
        return [
            {"type": "function_call", "id": identity, "name": name, "arguments": arguments},
            {"type": "user_input", "content": [part]},
        ]

    def holds_all(self, body: Json) -> bool:
        return not body.get("previous_interaction_id")

    def answered(self, body: Body) -> list[Call]:
        steps = body.value.get("steps") or body.value.get("outputs") if body.events is None else None
        return [
            Call(Value(at(s, "id")), Value(at(s, "name")), Value(at(s, "arguments")), False, node=s)
            for s in rows(steps) if s.get("type") == "function_call"
        ]  # fmt: skip

    def text(self, body: Body) -> Value:
        steps = body.value.get("steps") if body.events is None else None
        return Value([p for s in rows(steps) for part in rows(s.get("content")) for p in at(part, "text")])

    def finish(self, body: Body) -> Value:
        return Value(copies=at(body.value, "status") if body.events is None else [])

    def usage(self, body: Body) -> list[Place]:
        return at(body.value, "usage") if body.events is None else []

    def error(self, status: int, message: str) -> Json:
        return {"error": {"code": status, "message": message, "status": "INTERNAL"}}
