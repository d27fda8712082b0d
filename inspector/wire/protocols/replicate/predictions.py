"""Replicate predictions: a request starts one, and its result is usually fetched later."""

from turntape.cassettes.regex import regex

from ...exchange import Exchange
from ...json_value import as_array, as_object, as_text
from ...values import ApiError, FinishLabel, Kind, Part, RequestReading, ResponseReading, Usage
from ..protocol import Protocol
from ..shared.answers import answer, first_count, prompt_message
from ..shared.counts import Counts
from ..shared.parts import media_part, other_fields, text_part, unread
from .api import API

FINISH: dict[str, FinishLabel] = {
    "succeeded": "complete",
    "failed": "error",
    "canceled": "cancelled",
    "aborted": "cancelled",
    "starting": "unknown",
    "processing": "unknown",
}
"""`starting` and `processing`: the prediction continues, its answer is fetched later."""

_PATH = regex(r"(?:/models/([^/]+/[^/]+)|/deployments/([^/]+/[^/]+))?/predictions(/[^/]+(?:/cancel)?)?$")


def detect(exchange: Exchange) -> Kind | None:
    found = _PATH.search(exchange.path.rstrip("/"))
    if found is None:
        return None
    if found[3] or exchange.method != "POST":
        return "stored"
    return "generation" if "input" in exchange.fields else None


def read_request(exchange: Exchange) -> RequestReading:
    fields = exchange.fields
    given = as_object(fields.get("input"))
    found = _PATH.search(exchange.path.rstrip("/"))
    system = as_text(given.get("system_prompt"))
    return RequestReading(
        model=(found and (found[1] or found[2])) or as_text(fields.get("version")),
        streamed=fields.get("stream") is True,
        system=(text_part(system, "/input/system_prompt", system),) if system else (),
        messages=prompt_message(given.get("prompt"), "/input/prompt"),
        max_output=first_count(given.get("max_tokens"), given.get("max_new_tokens")),
        parameters=other_fields(fields, frozenset({"stream"})),
    )


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    body = exchange.answer_fields
    if not body:
        return unread(exchange, "a prediction")
    output = body.get("output")
    pieces = [output] if isinstance(output, str) else [p for p in as_array(output) if isinstance(p, str)]
    links = bool(pieces) and all(piece.startswith(("http://", "https://", "data:")) for piece in pieces)
    parts: list[Part] = []
    if links:
        parts = [media_part("file", f"/output/{i}", piece) for i, piece in enumerate(pieces)]
    elif pieces:
        parts = [text_part("".join(pieces), "/output", output)]
    raw = as_text(body.get("status"))
    error = body.get("error")
    metrics = as_object(body.get("metrics"))
    counts = Counts(metrics, "metrics")
    tokens = (counts.first("input_token_count"), counts.first("output_token_count"))
    return answer(
        parts,
        finish_raw=raw,
        finish=FINISH.get(raw, "unknown") if raw else None,
        finish_detail="the prediction continues: its answer is fetched later" if raw in _OPEN else None,
        usage=Usage(input=tokens[0], output=tokens[1], problems=counts.problems)
        if counts.problems or tokens != (None, None)
        else None,
        usage_raw=body.get("metrics"),
        model=as_text(body.get("model")),
        id=as_text(body.get("id")),
        error=ApiError(str(error), in_stream=True) if error else None,
    )


_OPEN = frozenset({"starting", "processing"})


REPLICATE = Protocol(
    name="replicate-predictions",
    title="Replicate predictions",
    spec="https://replicate.com/docs/reference/http#predictions.create, read 2026-11-20",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    finish=dict(FINISH),
    api=API,
)
