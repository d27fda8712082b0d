"""Answers of APIs that continue a text: one table of where each puts its text, its finish word and its counts.

The shapes are those of Amazon Titan, Meta Llama, Mistral, AI21, Cohere and Claude on Bedrock, of Hugging Face
text generation, watsonx, Aleph Alpha and Anthropic's text completions, as recorded from 2023 to 2026.
"""

from turntape.cassettes.frozen import frozen

from ...exchange import Exchange
from ...json_value import Object, as_array, as_object, as_text
from ...values import ApiError, FinishLabel, Part, ResponseReading, Usage
from .answers import answer, objects, stream_error, word
from .counts import Counts
from .parts import text_of, text_part, unread

FINISH: dict[str, FinishLabel] = {
    "stop": "complete",
    "stop_sequence": "stop_sequence",
    "length": "length",
    "max_tokens": "length",
    "maximum_tokens": "length",
    "finish": "complete",
    "finished": "complete",
    "complete": "complete",
    "end_turn": "complete",
    "end_of_text": "complete",
    "endoftext": "complete",
    "end_of_sequence": "complete",
    "eos": "complete",
    "eos_token": "complete",
    "stop_criteria_met": "stop_sequence",
    "content_filtered": "content_filter",
    "content_filter": "content_filter",
    "error": "error",
    "error_toxic": "content_filter",
    "error_limit": "context_full",
    "time_limit": "limit",
    "token_limit": "length",
    "cancelled": "cancelled",
    "user_cancel": "cancelled",
}
"""Finish words in lower case."""

_LISTS = ("results", "outputs", "completions", "generations", "choices")
_TEXTS = ("outputText", "generated_text", "generation", "completion", "response", "text", "data")
_WORDS = ("completionReason", "stop_reason", "finish_reason", "finishReason", "stopReason")
_INPUTS = ("inputTextTokenCount", "input_token_count", "prompt_token_count", "num_tokens_prompt_total")
_OUTPUTS = (
    "totalOutputTextTokenCount",
    "tokenCount",
    "generated_token_count",
    "generation_token_count",
    "generated_tokens",
    "num_tokens_generated",
)
_RUNNING = frozenset({"not_finished", ""})


@frozen
class Piece:
    """What one body, or one chunk of a stream, says."""

    text: str
    word: str | None
    pointer: str
    raw: object


def pieces(body: Object) -> list[Piece]:
    """The texts of a body with their finish words, one for each alternative."""
    for key in _LISTS:
        if entries := as_array(body.get(key)):
            return [_piece(as_object(entry), f"/{key}/{i}") for i, entry in enumerate(entries)]
    return [_piece(body, "")]


def _piece(entry: Object, pointer: str) -> Piece:
    key = next((key for key in _TEXTS if entry.get(key) is not None), None)
    value = entry.get(key) if key else None
    text = text_of(value) if isinstance(value, str) else as_text(as_object(value).get("text")) or ""
    if not key and (token := as_object(entry.get("token"))):
        text = "" if token.get("special") is True else as_text(token.get("text")) or ""
    if key == "generated_text" and (token := as_object(entry.get("token"))):
        text = as_text(token.get("text")) if token.get("special") is not True else ""
    reasons = (entry, as_object(entry.get("details")))
    found = (word(fields.get(name)) for fields in reasons for name in _WORDS)
    return Piece(text or "", next((w for w in found if w and w not in _RUNNING), None), f"{pointer}/{key or ''}", entry)


def read_text_answer(exchange: Exchange, what: str) -> ResponseReading:
    """An exchange's answer: an SSE stream, one JSON object, or the first of an array. `what` names it in problems."""
    if exchange.framing == "sse":
        problems: list[str] = []
        events = objects(exchange.events, problems)
        bodies = [body for name, body in events if name != "ping" and not as_object(body.get("error"))]
        return read_text(bodies, streamed=True, error=stream_error(exchange.events), problems=problems)
    body = exchange.answer_fields or as_object(next(iter(as_array(exchange.answer)), None))
    return read_text([body], streamed=False) if body else unread(exchange, what)


def read_text(
    bodies: list[Object], *, streamed: bool, error: ApiError | None = None, problems: list[str] | None = None
) -> ResponseReading:
    """An answer out of its body, or out of the chunks of its stream; it has ended at a finish word."""
    found = [pieces(body) for body in bodies]
    first = [each[0] for each in found if each]
    raw = next((piece.word for piece in reversed(first) if piece.word), None)
    text = "".join(piece.text for piece in first)
    parts: list[Part] = []
    if text:
        parts.append(text_part(text, first[0].pointer if first else "", first[0].raw if first else None))
    said: Object = {}
    for body in bodies:
        said.update({key: value for key, value in body.items() if value is not None})
    return answer(
        parts,
        finish_raw=raw,
        finish=FINISH.get(raw.lower(), "unknown") if raw else None,
        finish_detail=as_text(said.get("stop")),
        ended=not streamed or raw is not None or error is not None,
        usage=_usage(bodies),
        usage_raw=said.get("amazon-bedrock-invocationMetrics") or said.get("usage") or said.get("meta"),
        model=as_text(said.get("model")) or as_text(said.get("model_id")) or as_text(said.get("model_version")),
        id=as_text(said.get("id")) or as_text(said.get("generation_id")),
        error=error,
        problems=problems or (),
    )


def _usage(bodies: list[Object]) -> Usage | None:
    spots: list[Object] = []
    for body in bodies:
        lists = [as_object(entry) for key in _LISTS for entry in as_array(body.get(key))]
        spots += [body, *lists, *(as_object(entry.get("details")) for entry in (body, *lists))]
    read = [(counts := Counts(spot, ""), counts.first(*_INPUTS), counts.first(*_OUTPUTS)) for spot in spots]
    for body in bodies:
        meta = as_object(body.get("meta"))
        counts = Counts(
            as_object(body.get("usage"))
            or as_object(meta.get("tokens"))
            or as_object(meta.get("billed_units"))
            or as_object(body.get("amazon-bedrock-invocationMetrics"))
        )
        given = counts.first("prompt_tokens", "input_tokens", "inputTokenCount")
        read.append((counts, given, counts.first("completion_tokens", "output_tokens", "outputTokenCount")))
    inputs = [count for _, count, _ in read if count is not None]
    outputs = [count for _, _, count in read if count is not None]
    problems = tuple(dict.fromkeys(problem for counts, _, _ in read for problem in counts.problems))
    if not inputs and not outputs and not problems:
        return None
    return Usage(input=max(inputs, default=None), output=max(outputs, default=None), problems=problems)
