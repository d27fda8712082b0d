"""Writes a response as a stream: each item is added empty, gets one delta for each text, and is done."""

from collections.abc import Iterator
from itertools import count

from turntape.cassettes.framing.encode import sse_event

from ...exchange import Exchange
from ...json_value import Object, as_array, as_object, as_text
from ..traits import EditTargets, Rewrite
from .stream import draft

_FIELDS = {
    "function_call": ("arguments", "response.function_call_arguments"),
    "mcp_call": ("arguments", "response.mcp_call_arguments"),
    "custom_tool_call": ("input", "response.custom_tool_call_input"),
    "code_interpreter_call": ("code", "response.code_interpreter_call_code"),
}
"""The field of an item that grows, and the stem of its events."""
_PARTS = {
    "output_text": ("text", "response.output_text", "response.content_part"),
    "refusal": ("refusal", "response.refusal", "response.content_part"),
    "reasoning_text": ("text", "response.reasoning_text", "response.content_part"),
    "summary_text": ("text", "response.reasoning_summary_text", "response.reasoning_summary_part"),
}
"""The field of a part that grows, the stem of its events, and the stem of the part's own."""


def whole(exchange: Exchange) -> Object:
    return draft(exchange.events).whole()


def frames(body: Object, exchange: Exchange) -> Iterator[bytes]:
    number = count()

    def event(kind: str, **fields: object) -> bytes:
        return sse_event({"type": kind, "sequence_number": next(number), **fields}, kind)

    begun: Object = {**body, "status": "in_progress", "output": [], "usage": None}
    yield event("response.created", response=begun)
    yield event("response.in_progress", response=begun)
    for place, item in enumerate(map(as_object, as_array(body.get("output")))):
        yield event("response.output_item.added", output_index=place, item=_empty(item))
        for kind, fields in _inside(item):
            yield event(kind, item_id=item.get("id"), output_index=place, **fields)
        yield event("response.output_item.done", output_index=place, item=item)
    yield event(f"response.{as_text(body.get('status')) or 'completed'}", response=body)


def _empty(item: Object) -> Object:
    empty: Object = {**item, "status": "in_progress"} if "status" in item else {**item}
    for key in ("content", "summary"):
        if as_array(item.get(key)):
            empty[key] = []
    field = _FIELDS.get(as_text(item.get("type")) or "")
    return {**empty, field[0]: ""} if field else empty


def _inside(item: Object) -> Iterator[tuple[str, Object]]:
    if field := _FIELDS.get(as_text(item.get("type")) or ""):
        key, stem = field
        yield f"{stem}.delta", {"delta": item.get(key)}
        more = {"name": item.get("name")} if stem == "response.function_call_arguments" else {}
        yield f"{stem}.done", {key: item.get(key), **more}
    for where, index in (("summary", "summary_index"), ("content", "content_index")):
        for place, part in enumerate(map(as_object, as_array(item.get(where)))):
            if row := _PARTS.get(as_text(part.get("type")) or ""):
                key, stem, of_part = row
                at: Object = {index: place}
                logprobs: Object = {"logprobs": []} if stem == "response.output_text" else {}
                yield f"{of_part}.added", {**at, "part": {**part, key: ""}}
                yield f"{stem}.delta", {**at, "delta": part.get(key), **logprobs}
                yield f"{stem}.done", {**at, key: part.get(key), **logprobs}
                yield f"{of_part}.done", {**at, "part": part}


REWRITE = Rewrite(("sse",), whole, frames)

EDIT_TARGETS = EditTargets(
    text="/output/*/content/*/text",
    tool="/output/*/name",
    arguments="/output/*/arguments",
    finish="/status",
    arguments_as_text=True,
    finish_fields={
        "completed": {"/status": "completed", "/incomplete_details": None},
        "failed": {"/status": "failed", "/incomplete_details": None},
        "max_output_tokens": {
            "/status": "incomplete",
            "/incomplete_details": {"reason": "max_output_tokens"},
        },
        "content_filter": {"/status": "incomplete", "/incomplete_details": {"reason": "content_filter"}},
    },
)
