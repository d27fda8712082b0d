"""Gemini: a whole answer is a chunk by itself."""

from collections.abc import Iterator

import orjson

from ...exchange import Exchange
from ...json_value import Object, as_object
from ...rewrite.shape import Remake, events, sse
from .answer import merge_chunk


def whole(exchange: Exchange) -> Object:
    body: Object = {}
    for _, chunk in events(exchange):
        # Code Assist wraps the chunks.
        merge_chunk(body, as_object(chunk.get("response")) or chunk)
    return body


def frames(body: Object, exchange: Exchange) -> Iterator[bytes]:
    wrapped = any("response" in chunk for _, chunk in events(exchange))
    chunk: Object = {"response": body} if wrapped else body
    yield {
        "json-array": lambda: b"[" + orjson.dumps(chunk) + b"]",
        "ndjson": lambda: orjson.dumps(chunk) + b"\n",
    }.get(exchange.framing or "", lambda: sse(chunk, end=b"\r\n"))()


GEMINI = Remake(("gemini-generate",), ("sse", "json-array", "ndjson"), whole, frames)
