"""Bedrock InvokeModel on an Anthropic model: its own body, and its events as base64 chunks inside AWS frames.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModelWithResponseStream.html
(read 2026-11-21).
"""

import base64
from collections.abc import Mapping
from urllib.parse import unquote

from turntape.cassettes.framing.encode import aws_event

from ..answer import Answer, Ask, Shape, by_role, fields_of
from . import anthropic
from .bedrock import BEDROCK_CONVERSE


def ask(path: str, headers: Mapping[str, str], body: bytes) -> Ask:
    fields = fields_of(body)
    *_, model, method = path.partition("?")[0].split("/")
    streamed = method == "invoke-with-response-stream"
    return Ask(path, headers, fields, unquote(model), streamed, by_role(fields.get("messages")), len(body))


def stream(answer: Answer) -> list[bytes]:
    events = (event.partition(b"data: ")[2].strip() for event in anthropic.stream(answer))
    return [aws_event({"bytes": base64.b64encode(event).decode(), "p": "abcd"}, "chunk") for event in events]


BEDROCK_INVOKE = Shape(
    name="bedrock-invoke",
    matches=lambda path: path.endswith(("/invoke", "/invoke-with-response-stream")),
    ask=ask,
    whole=anthropic.whole,
    stream=stream,
    content_type=BEDROCK_CONVERSE.content_type,
    error=BEDROCK_CONVERSE.error,
    error_event=BEDROCK_CONVERSE.error_event,
    prefix="toolu_bdrk_",
)
