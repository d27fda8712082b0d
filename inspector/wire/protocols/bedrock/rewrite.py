"""Bedrock Converse: an AWS event stream with new checksums."""

from collections.abc import Iterator

from turntape.cassettes.framing.encode import aws_event

from ...exchange import Exchange
from ...json_value import Object, as_array, as_object, compact, is_json, parse_json
from ..shared.answers import objects
from ..traits import EditTargets, Rewrite
from .converse_blocks import assemble


def whole(exchange: Exchange) -> Object:
    body = assemble(objects(exchange.events, []))
    body.pop("p", None)  # padding
    for block in map(as_object, as_array(_message(body).get("content"))):
        use = as_object(block.get("toolUse"))
        text = use.get("input")
        if isinstance(text, str) and is_json(text):
            use["input"] = parse_json(text)
    return body


def frames(body: Object, exchange: Exchange) -> Iterator[bytes]:
    message = _message(body)
    yield aws_event({"role": message.get("role", "assistant")}, "messageStart")
    for index, block in enumerate(map(as_object, as_array(message.get("content")))):
        at: Object = {"contentBlockIndex": index}
        if use := as_object(block.get("toolUse")):
            start = {"toolUse": {key: value for key, value in use.items() if key != "input"}}
            yield aws_event({**at, "start": start}, "contentBlockStart")
            yield aws_event({**at, "delta": {"toolUse": {"input": compact(use.get("input"))}}}, "contentBlockDelta")
        else:
            for delta in _deltas(block):
                yield aws_event({**at, "delta": delta}, "contentBlockDelta")
        yield aws_event(at, "contentBlockStop")
    end = {key: value for key, value in body.items() if key not in ("output", "usage", "trace", "metrics")}
    yield aws_event(end, "messageStop")
    yield aws_event({key: body[key] for key in ("usage", "metrics", "trace") if key in body}, "metadata")


def _deltas(block: Object) -> Iterator[Object]:
    reasoning = as_object(block.get("reasoningContent"))
    if not reasoning:
        yield block
        return
    for key, value in {**as_object(reasoning.get("reasoningText")), **reasoning}.items():
        if key != "reasoningText":
            yield {"reasoningContent": {key: value}}


def _message(body: Object) -> Object:
    return as_object(as_object(body.get("output")).get("message"))


REWRITE = Rewrite(("aws-event-stream",), whole, frames)

_BLOCK = "/output/message/content/*"

EDIT_TARGETS = EditTargets(
    text=f"{_BLOCK}/text", tool=f"{_BLOCK}/toolUse/name", arguments=f"{_BLOCK}/toolUse/input", finish="/stopReason"
)
