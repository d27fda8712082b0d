"""Bedrock Converse: an AWS event stream, its checksums made anew."""

from collections.abc import Iterator

from ...exchange import Exchange
from ...json_value import Object, as_array, as_object, compact, is_json, parse_json
from ...rewrite.shape import Remake, aws_message, events
from .converse_blocks import assemble


def whole(exchange: Exchange) -> Object:
    body = assemble(events(exchange))
    body.pop("p", None)  # padding
    for block in map(as_object, as_array(_message(body).get("content"))):
        use = as_object(block.get("toolUse"))
        text = use.get("input")
        if isinstance(text, str) and is_json(text):
            use["input"] = parse_json(text)
    return body


def frames(body: Object, exchange: Exchange) -> Iterator[bytes]:
    message = _message(body)
    yield aws_message({"role": message.get("role", "assistant")}, "messageStart")
    for index, block in enumerate(map(as_object, as_array(message.get("content")))):
        at: Object = {"contentBlockIndex": index}
        if use := as_object(block.get("toolUse")):
            start = {"toolUse": {key: value for key, value in use.items() if key != "input"}}
            yield aws_message({**at, "start": start}, "contentBlockStart")
            yield aws_message({**at, "delta": {"toolUse": {"input": compact(use.get("input"))}}}, "contentBlockDelta")
        else:
            for delta in _deltas(block):
                yield aws_message({**at, "delta": delta}, "contentBlockDelta")
        yield aws_message(at, "contentBlockStop")
    end = {key: value for key, value in body.items() if key not in ("output", "usage", "trace", "metrics")}
    yield aws_message(end, "messageStop")
    yield aws_message({key: body[key] for key in ("usage", "metrics", "trace") if key in body}, "metadata")


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


CONVERSE = Remake(("bedrock-converse",), ("aws-event-stream",), whole, frames)
