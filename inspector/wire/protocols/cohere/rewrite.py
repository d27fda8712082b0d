"""Writes an answer of Cohere v2 as a stream: contents, plan and calls, each with start, delta and end."""

from collections.abc import Iterator

from turntape.cassettes.framing.encode import sse_event

from ...exchange import Exchange
from ...json_value import Object, as_array, as_object
from ..shared.answers import has_done, objects
from ..traits import EditTargets, Rewrite
from .stream import assemble


def whole(exchange: Exchange) -> Object:
    body, _ = assemble(objects(exchange.events, []))
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
        piece = {"function": {"arguments": function.get("arguments")}}
        yield _event("tool-call-start", index=index, delta={"message": {"tool_calls": begun}})
        yield _event("tool-call-delta", index=index, delta={"message": {"tool_calls": piece}})
        yield _event("tool-call-end", index=index)
    end = {key: value for key, value in body.items() if key not in ("id", "message")}
    yield _event("message-end", delta=end)
    if has_done(exchange):
        yield sse_event("[DONE]")


def _event(kind: str, **fields: object) -> bytes:
    return sse_event({"type": kind, **fields}, kind)


REWRITE = Rewrite(("sse",), whole, frames)

EDIT_TARGETS = EditTargets(
    text="/message/content/*/text",
    tool="/message/tool_calls/*/function/name",
    arguments="/message/tool_calls/*/function/arguments",
    finish="/finish_reason",
    arguments_as_text=True,
)
