"""Cohere v2: contents, the plan and the calls, each begun, told and ended."""

from collections.abc import Iterator

from ...exchange import Exchange
from ...json_value import Object, as_array, as_object
from ...rewrite.shape import Remake, events, has_done, sse
from .v2 import assemble


def whole(exchange: Exchange) -> Object:
    body, _ = assemble(events(exchange))
    message = as_object(body["message"])
    body["message"] = {"role": "assistant", **{key: value for key, value in message.items() if value}}
    return body


def frames(body: Object, exchange: Exchange) -> Iterator[bytes]:
    message = as_object(body.get("message"))
    empty: Object = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
    yield _event("message-start", id=body.get("id"), delta={"message": empty})
    if plan := message.get("tool_plan"):
        yield _event("tool-plan-delta", delta={"message": {"tool_plan": plan}})
    for index, content in enumerate(map(as_object, as_array(message.get("content")))):
        key = "thinking" if content.get("type") == "thinking" else "text"
        yield _event("content-start", index=index, delta={"message": {"content": {**content, key: ""}}})
        yield _event("content-delta", index=index, delta={"message": {"content": {key: content.get(key)}}})
        yield _event("content-end", index=index)
    for index, call in enumerate(map(as_object, as_array(message.get("tool_calls")))):
        function = as_object(call.get("function"))
        begun = {**call, "function": {**function, "arguments": ""}}
        told = {"function": {"arguments": function.get("arguments")}}
        yield _event("tool-call-start", index=index, delta={"message": {"tool_calls": begun}})
        yield _event("tool-call-delta", index=index, delta={"message": {"tool_calls": told}})
        yield _event("tool-call-end", index=index)
    end = {key: value for key, value in body.items() if key not in ("id", "message")}
    yield _event("message-end", delta=end)
    if has_done(exchange):
        yield sse("[DONE]")


def _event(kind: str, **fields: object) -> bytes:
    return sse({"type": kind, **fields}, kind)


COHERE = Remake(("cohere-v2",), ("sse",), whole, frames)
