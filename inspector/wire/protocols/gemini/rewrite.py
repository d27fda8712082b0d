"""Writes an answer of Gemini as a stream. An unstreamed answer has the shape of one chunk."""

from collections.abc import Iterator

import orjson

from turntape.cassettes.framing.encode import sse_event

from ...exchange import Exchange
from ...json_value import Object, as_object
from ..shared.answers import objects
from ..traits import EditTargets, Rewrite
from .answer import merge_chunk


def whole(exchange: Exchange) -> Object:
    body: Object = {}
    for _, chunk in objects(exchange.events, []):
        # Code Assist wraps the chunks.
        merge_chunk(body, as_object(chunk.get("response")) or chunk)
    return body


def frames(body: Object, exchange: Exchange) -> Iterator[bytes]:
    wrapped = any("response" in chunk for _, chunk in objects(exchange.events, []))
    chunk: Object = {"response": body} if wrapped else body
    yield {
        "json-array": lambda: b"[" + orjson.dumps(chunk) + b"]",
        "ndjson": lambda: orjson.dumps(chunk) + b"\n",
    }.get(exchange.framing or "", lambda: sse_event(chunk, end=b"\r\n"))()


REWRITE = Rewrite(("sse", "json-array", "ndjson"), whole, frames)

_PART = "/candidates/*/content/parts/*"

EDIT_TARGETS = EditTargets(
    text=f"{_PART}/text",
    tool=f"{_PART}/functionCall/name",
    arguments=f"{_PART}/functionCall/args",
    finish="/candidates/*/finishReason",
    not_text="thought",
)
