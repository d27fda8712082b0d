"""How Anthropic Messages fails."""

from types import MappingProxyType

import orjson

from turntape.cassettes.apis.interface import Documents, Edited, FaultAnswers

from ...json_value import Object, as_object, objects_in
from ..shared.shorten import shortened, without_last

_ERRORS = MappingProxyType(
    {
        429: ("rate_limit_error", "This request would exceed the rate limit for your organization."),
        500: ("api_error", "Internal server error"),
        503: ("api_error", "Service unavailable"),
        529: ("overloaded_error", "Overloaded"),
    }
)


def error(status: int, _: float | None) -> Object:
    kind, message = _ERRORS[status]
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_turntape_fault"}


def event(_: int) -> bytes:
    kind, message = _ERRORS[529]
    data = orjson.dumps({"type": "error", "error": {"type": kind, "message": message}})
    return b"event: error\ndata: " + data + b"\n\n"


def truncate(documents: Documents) -> Edited:
    block: object = None
    for place, document in enumerate(documents):
        if document is None:
            continue
        calls = [b for b in objects_in(document.get("content")) if b.get("type") == "tool_use"]
        if calls:
            calls[-1]["input"] = without_last(as_object(calls[-1].get("input")))
            return {place}, set()
        if as_object(document.get("content_block")).get("type") == "tool_use":
            block = document.get("index")
    parts = [
        (place, as_object(document["delta"]), "partial_json")
        for place, document in enumerate(documents)
        if document is not None
        and document.get("type") == "content_block_delta"
        and document.get("index") == block is not None
        and "partial_json" in as_object(document.get("delta"))
    ]
    return shortened(parts)


def relabel(documents: Documents, finish: str) -> Edited:
    changed: set[int] = set()
    for place, document in enumerate(documents):
        if document is None:
            continue
        holder = as_object(document.get("delta")) if document.get("type") == "message_delta" else document
        if holder.get("stop_reason") is not None:
            holder["stop_reason"] = finish
            changed.add(place)
    return changed, set()


def empty(documents: Documents) -> Edited:
    dropped: set[int] = set()
    changed: set[int] = set()
    for place, document in enumerate(documents):
        if document is None:
            continue
        if str(document.get("type")).startswith("content_block_"):
            dropped.add(place)
        elif document.get("type") == "message":
            document["content"] = []
            changed.add(place)
    return changed | relabel(documents, "end_turn")[0], dropped


FAULTS = FaultAnswers(error, event, truncate, relabel, empty)
