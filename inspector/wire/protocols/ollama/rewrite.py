"""Writes an answer of Ollama as a stream: one line with everything that was said, and one that ends it."""

from collections.abc import Iterator

import orjson

from ...exchange import Exchange
from ...json_value import Object, as_array, as_object
from ..shared.answers import objects
from ..traits import EditTargets, Rewrite

_TEXTS = ("content", "thinking")


def whole(exchange: Exchange) -> Object:
    body: Object = {}
    message: Object = {"role": "assistant", "content": ""}
    for _, line in objects(exchange.events, []):
        said = as_object(line.get("message"))
        for key in _TEXTS:
            if said.get(key):
                message[key] = f"{message.get(key, '')}{said[key]}"
        if calls := as_array(said.get("tool_calls")):
            message["tool_calls"] = [*as_array(message.get("tool_calls")), *calls]
        body |= line
    return {**body, "message": message}


def frames(body: Object, exchange: Exchange) -> Iterator[bytes]:
    head = {key: body[key] for key in ("model", "created_at") if key in body}
    yield orjson.dumps({**head, "message": body.get("message"), "done": False}) + b"\n"
    yield orjson.dumps({**body, "message": {"role": "assistant", "content": ""}}) + b"\n"


REWRITE = Rewrite(("ndjson",), whole, frames)

EDIT_TARGETS = EditTargets(
    text="/message/content",
    tool="/message/tool_calls/*/function/name",
    arguments="/message/tool_calls/*/function/arguments",
    finish="/done_reason",
)
