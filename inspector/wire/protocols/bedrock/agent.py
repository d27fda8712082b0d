"""Amazon Bedrock agents and knowledge bases: only the question and the text of the answer are read."""

import re
from base64 import b64decode
from binascii import Error as Base64Error

from ...exchange import Exchange
from ...json_value import as_object, as_text
from ...values import FinishLabel, Kind, Part, RequestReading, ResponseReading
from ..protocol import Protocol
from ..shared.answers import answer, objects, posts, prompt_message, stream_error
from ..shared.parts import other_fields, text_part, unread

_AGENT = re.compile(r"/agents/([^/]+)/agentAliases/[^/]+/sessions/([^/]+)/text$")


def detect(exchange: Exchange) -> Kind | None:
    if exchange.method == "POST" and _AGENT.search(exchange.path.rstrip("/")):
        return "generation"
    return "generation" if posts(exchange, "/retrieveAndGenerate", "/retrieveAndGenerateStream") else None


def read_request(exchange: Exchange) -> RequestReading:
    fields = exchange.fields
    found = _AGENT.search(exchange.path.rstrip("/"))
    asked = as_text(fields.get("inputText"))
    pointer = "/inputText" if asked is not None else "/input/text"
    config = as_object(fields.get("retrieveAndGenerateConfiguration"))
    named = (as_text(as_object(value).get("modelArn")) for value in config.values())
    return RequestReading(
        model=next((model for model in named if model), f"agent/{found[1]}" if found else None),
        streamed=bool(found) or exchange.path.rstrip("/").endswith("Stream"),
        messages=prompt_message(asked if asked is not None else as_object(fields.get("input")).get("text"), pointer),
        parameters=other_fields(fields, frozenset({"inputText", "input"})),
        previous_id=found[2] if found else as_text(fields.get("sessionId")),
    )


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    problems: list[str] = []
    texts: list[str] = []
    action: object = None
    if exchange.framing is None:
        body = exchange.answer_fields
        if not body:
            return unread(exchange, "an answer of an agent")
        texts.append(as_text(as_object(body.get("output")).get("text")) or "")
        action = body.get("guardrailAction")
    for name, event in objects(exchange.events, problems):
        if name == "chunk":
            texts.append(_decoded(as_text(event.get("bytes")) or "", problems))
        elif name == "output":
            texts.append(as_text(event.get("text")) or "")
        elif name == "guardrail":
            action = event.get("action")
    text = "".join(texts)
    error = stream_error(exchange.events)
    parts: list[Part] = [text_part(text, "/output/text", text)] if text else []
    # There is no finish word and no last event: the text is all the evidence there is.
    label: FinishLabel | None = "content_filter" if action == "INTERVENED" else None
    failed = exchange.round_trip.failure is not None
    return answer(
        parts,
        finish_raw=as_text(action) if label else None,
        finish=label,
        ended=bool(text) and not failed,
        error=error,
        problems=problems,
    )


def _decoded(encoded: str, problems: list[str]) -> str:
    try:
        return b64decode(encoded, validate=True).decode("utf-8", "replace")
    except (Base64Error, ValueError):
        problems.append(f"A chunk is not base64: it begins {encoded[:20]!r}.")
        return ""


BEDROCK_AGENT = Protocol(
    name="bedrock-agent",
    title="Amazon Bedrock agents",
    spec="https://docs.aws.amazon.com/bedrock/latest/APIReference/API_agent-runtime_InvokeAgent.html, read 2026-11-20",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    finish={"INTERVENED": "content_filter"},
    streams=("aws-event-stream",),
)
