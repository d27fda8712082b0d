"""Writes a message as a stream: each block starts empty, gets one delta of each kind, and stops."""

from collections.abc import Iterator

from turntape.cassettes.framing.encode import sse_event

from ...exchange import Exchange
from ...json_value import Object, as_array, as_object, compact, parse_json
from ..shared.answers import objects
from ..traits import EditTargets, Rewrite
from .answer import MessageDraft

_GROWN = {"text": "text_delta", "thinking": "thinking_delta", "signature": "signature_delta"}
"""Fields of a block that come in deltas, and the deltas' types."""
_OF_THE_END = ("stop_reason", "stop_sequence", "stop_details")


def whole(exchange: Exchange) -> Object:
    draft = MessageDraft()
    for name, event in objects(exchange.events, []):
        draft.add(event, name)
    content: list[Object] = []
    for index in sorted(draft.blocks):
        block = draft.blocks[index]
        text = "".join(draft.fragments.get(index, ()))
        content.append({**block, "input": parse_json(text)} if text else block)
    return {**draft.message, "content": content}


def frames(body: Object, exchange: Exchange) -> Iterator[bytes]:
    end = next(
        (event for _, event in objects(exchange.events, []) if event.get("type") == "message_delta"), as_object(None)
    )
    of_the_end = {*_OF_THE_END, *as_object(end.get("delta"))}
    usage = as_object(body.get("usage"))
    begun: Object = {**body, "content": [], "stop_reason": None, "stop_sequence": None}
    for key in of_the_end - {"stop_reason", "stop_sequence"} | {"context_management"}:
        begun.pop(key, None)
    yield _event("message_start", message=begun)
    for index, block in enumerate(map(as_object, as_array(body.get("content")))):
        yield from _block(index, block)
    delta = {key: body.get(key) for key in sorted(of_the_end) if key in body or key in _OF_THE_END[:2]}
    context = {"context_management": body["context_management"]} if "context_management" in body else {}
    yield _event("message_delta", delta=delta, usage=usage, **context)
    yield _event("message_stop")


def _block(index: int, block: Object) -> Iterator[bytes]:
    start = {key: "" if key in _GROWN else value for key, value in block.items() if key != "citations"}
    has_input = "input" in block and as_object(block["input"]) == block["input"]
    if has_input:
        start["input"] = {}
    yield _event("content_block_start", index=index, content_block=start)
    if has_input:
        delta: Object = {"type": "input_json_delta", "partial_json": compact(block["input"])}
        yield _event("content_block_delta", index=index, delta=delta)
    for key, kind in _GROWN.items():
        if block.get(key):
            yield _event("content_block_delta", index=index, delta={"type": kind, key: block[key]})
    for citation in as_array(block.get("citations")):
        yield _event("content_block_delta", index=index, delta={"type": "citations_delta", "citation": citation})
    yield _event("content_block_stop", index=index)


def _event(kind: str, **fields: object) -> bytes:
    return sse_event({"type": kind, **fields}, kind)


REWRITE = Rewrite(("sse",), whole, frames)

EDIT_TARGETS = EditTargets(
    text="/content/*/text", tool="/content/*/name", arguments="/content/*/input", finish="/stop_reason"
)
