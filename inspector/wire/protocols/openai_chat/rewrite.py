"""Writes a chat completion as a stream: one delta for each text and each call, then the finish word."""

from collections.abc import Iterator

from turntape.cassettes.framing.encode import sse_event

from ...exchange import Exchange
from ...json_value import Object, as_array, as_object
from ..shared.answers import has_done, objects
from ..traits import EditTargets, Rewrite
from .deltas import ChoiceDraft, index_of
from .request import REASONING_FIELDS


def whole(exchange: Exchange) -> Object:
    body: Object = {}
    drafts: dict[int, ChoiceDraft] = {}
    reasoning = REASONING_FIELDS[0]
    for _, chunk in objects(exchange.events, []):
        for key, value in chunk.items():
            if key != "choices" and value is not None:
                body[key] = value
        for choice in map(as_object, as_array(chunk.get("choices"))):
            drafts.setdefault(index_of(choice), ChoiceDraft()).add(choice)
            delta = as_object(choice.get("delta"))
            reasoning = next((name for name in REASONING_FIELDS if delta.get(name)), reasoning)
    body["object"] = "chat.completion"
    body["choices"] = [{"index": index, **draft.whole()} for index, draft in sorted(drafts.items())]
    for choice in map(as_object, as_array(body["choices"])):
        message = as_object(choice["message"])
        if REASONING_FIELDS[0] in message:
            message[reasoning] = message.pop(REASONING_FIELDS[0])
    return body


def frames(body: Object, exchange: Exchange) -> Iterator[bytes]:
    chunks = [chunk for _, chunk in objects(exchange.events, [])]
    kind = next((chunk["object"] for chunk in chunks if chunk.get("object")), "chat.completion.chunk")
    base: Object = {key: value for key, value in body.items() if key not in ("choices", "usage")}
    base["object"] = kind
    choices = [as_object(choice) for choice in as_array(body.get("choices"))]
    usage = body.get("usage")
    apart = any(chunk.get("usage") and not chunk.get("choices") for chunk in chunks)
    for place, choice in enumerate(choices):
        index = choice.get("index", place)
        for delta in _deltas(as_object(choice.get("message"))):
            yield sse_event({**base, "choices": [{"index": index, "delta": delta, "finish_reason": None}]})
        rest = {key: value for key, value in choice.items() if key not in ("index", "message")}
        last: Object = {**base, "choices": [{"index": index, "delta": {}, "finish_reason": None, **rest}]}
        if usage is not None and not apart and place == len(choices) - 1:
            last["usage"] = usage
        yield sse_event(last)
    if usage is not None and (apart or not choices):
        yield sse_event({**base, "choices": [], "usage": usage})
    if has_done(exchange):
        yield sse_event("[DONE]")


def _deltas(message: Object) -> Iterator[Object]:
    content, calls = message.get("content"), as_array(message.get("tool_calls"))
    yield {"role": message.get("role", "assistant"), "content": ""}
    for key, value in message.items():
        if key not in ("role", "content", "tool_calls") and value is not None:
            yield {key: value}
    if content:
        yield {"content": content}
    for index, call in enumerate(calls):
        yield {"tool_calls": [{"index": index, **as_object(call)}]}


REWRITE = Rewrite(("sse",), whole, frames)

_CALL = "/choices/*/message/tool_calls/*/function"

EDIT_TARGETS = EditTargets(
    text="/choices/*/message/content",
    tool=f"{_CALL}/name",
    arguments=f"{_CALL}/arguments",
    finish="/choices/*/finish_reason",
    arguments_as_text=True,
)
