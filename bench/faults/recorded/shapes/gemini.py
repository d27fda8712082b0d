"""Gemini's generateContent: contents of parts. https://ai.google.dev/api/generate-content"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from ..bodies import Body, Json
from .shape import Call, Place, Result, Said, Shape, Tool, Value, at, rows


class Gemini(Shape):
    protocol = "gemini-generate"
    with_ids = False
    GOOD = frozenset({"STOP"})
    FINISH = {"stop": "STOP", "length": "MAX_TOKENS", "filter": "SAFETY"}

    def history(self, body: Json) -> list[Any]:
        return body["contents"] if isinstance(body.get("contents"), list) else []

    def _parts(self, body: Json, *names: str) -> Iterator[tuple[Json, list[Any], Json, Json]]:
        for content in rows(self.history(body)):
            for part in rows(content.get("parts")):
                for name in names:
                    if isinstance(part.get(name), dict):
                        yield content, content["parts"], part, part[name]

    def calls(self, body: Json) -> list[Call]:
        return [_call(call, owner, part) for _, owner, part, call in self._parts(body, *CALL)]

    def results(self, body: Json) -> list[Result]:
        return [
            Result(next(iter(at(r, "id")), None), Place(r, "name"), Place(r, "response"), owner, part)
            for _, owner, part, r in self._parts(body, "functionResponse", "function_response")
        ]

    def said(self, body: Json) -> list[Said]:
        return [
            Said("assistant" if c.get("role") == "model" else "user", Place(p, "text"), c["parts"], p)
            for c in rows(self.history(body)) for p in rows(c.get("parts"))
            if isinstance(p.get("text"), str) and p["text"] and not p.get("thought")
        ]  # fmt: skip

    def system(self, body: Json) -> Place | None:
        system = body.get("systemInstruction") or body.get("system_instruction") or {}
        return next((Place(p, "text") for p in rows(system.get("parts")) if isinstance(p.get("text"), str)), None)

    def tools(self, body: Json) -> list[Tool]:
        found: list[Tool] = []
        for tool in rows(body.get("tools")):
            declared = tool.get("functionDeclarations") or tool.get("function_declarations") or []
            for f in rows(declared):
                schema = next((f[k] for k in ("parametersJsonSchema", "parameters_json_schema", "parameters")
                               if isinstance(f.get(k), dict)), {})  # fmt: skip
                found.append(Tool(Place(f, "name"), next(iter(at(f, "description")), None), schema, declared, f))
        return found

    def user(self, text: str) -> Json:
        return {"role": "user", "parts": [{"text": text}]}

    def assistant(self, text: str) -> Json:
        return {"role": "model", "parts": [{"text": text}]}

    def called(self, identity: str, name: str, arguments: Json, result: str) -> list[Json]:
        return [
            {"role": "model", "parts": [{"functionCall": {"name": name, "args": arguments}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": name, "response": {"result": result}}}]},
        ]

    def reasoning(self, body: Json) -> list[tuple[list[Any], Any, Place | None]]:
        return [
            (c["parts"], p, place)
            for c in rows(self.history(body)) if c.get("role") == "model"
            for p in rows(c.get("parts")) for place in at(p, "thoughtSignature", "thought_signature")
        ]  # fmt: skip

    def tool_choice(self, body: Json) -> bool:
        body["toolConfig"] = {"functionCallingConfig": {"mode": "ANY"}}
        return True

    def model(self, body: Json) -> Place | None:
        return None

    # Answers

    def _candidates(self, body: Body) -> list[Json]:
        return [c for v in body.values for c in list(rows(v.get("candidates")))[:1]]

    def _answer_parts(self, body: Body) -> list[tuple[list[Any], Json]]:
        contents = [c["content"] for c in self._candidates(body) if isinstance(c.get("content"), dict)]
        return [(content["parts"], part) for content in contents for part in rows(content.get("parts"))]

    def answered(self, body: Body) -> list[Call]:
        return [_call(p[k], owner, p) for owner, p in self._answer_parts(body) for k in CALL if k in p]

    def text(self, body: Body) -> Value:
        return Value([q for _, p in self._answer_parts(body) if not p.get("thought") for q in at(p, "text")])

    def finish(self, body: Body) -> Value:
        return Value(copies=[p for c in self._candidates(body) for p in at(c, "finishReason")])

    def usage(self, body: Body) -> list[Place]:
        return [p for v in body.values for p in at(v, "usageMetadata")]

    def served(self, body: Body) -> Value:
        return Value(copies=[p for v in body.values for p in at(v, "modelVersion")])

    def none(self, body: Body) -> bool:
        if body.events is not None:
            return False
        body.value["candidates"] = []
        return True

    def twice(self, body: Body, call: Call, identity: str) -> bool:
        if body.events is not None:
            return False
        again = deepcopy(call.node)
        if call.identity:
            next(again[k] for k in CALL if k in again)["id"] = identity
        call.owner.append(again)
        return True

    def error(self, status: int, message: str) -> Json:
        word = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 429: "RESOURCE_EXHAUSTED",
                503: "UNAVAILABLE"}.get(status, "INTERNAL")  # fmt: skip
        return {"error": {"code": status, "message": message, "status": word}}

    def error_event(self, body: Body, message: str) -> bytes:
        from ...dialects.dialect import sse

        return sse(("", self.error(503, message)), body.newline)


CALL = ("functionCall", "function_call")


def _call(call: Json, owner: list[Any], part: Json) -> Call:
    return Call(Value(at(call, "id")), Value(at(call, "name")), Value(at(call, "args")), False, owner, part)
