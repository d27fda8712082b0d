"""The messages of a JSON-RPC batch: a JSON array, which MCP allows in its version 2025-03-26
(https://modelcontextprotocol.io/specification/2025-03-26/basic#batching, read 2026-11-22)."""

from typing import cast

import orjson

from ..regex import regex
from .decoding import decode

_ARRAY = regex(rb"\s*\[")


def batch(raw: bytes) -> list[bytes] | None:
    """The bytes of each message; None for what is not an array with at least one value."""
    if _ARRAY.match(raw) is None:
        return None
    try:
        value: object = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    values = cast(list[object], value)
    if not values:
        return None
    parts = [event.data for event in decode("json-array", [(raw, 0)])]
    return parts if len(parts) == len(values) else [orjson.dumps(one) for one in values]


def messages(raw: bytes) -> list[bytes]:
    """The messages of a batch, or the only message."""
    found = batch(raw)
    return [raw] if found is None else found
