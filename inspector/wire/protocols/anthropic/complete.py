"""Anthropic text completions, the predecessor of Messages."""

from ...exchange import Exchange
from ...json_value import as_count, as_text
from ...values import Kind, RequestReading, ResponseReading
from ..protocol import Protocol
from ..shared.answers import posts, prompt_message
from ..shared.parts import other_fields, texts
from ..shared.text_pieces import read_text_answer
from ..traits import AnswerRules

_KNOWN = frozenset({"prompt", "model", "stream", "max_tokens_to_sample", "stop_sequences"})


def detect(exchange: Exchange) -> Kind | None:
    is_ours = "max_tokens_to_sample" in exchange.fields or exchange.answer_fields.get("type") == "completion"
    return "generation" if posts(exchange, "/complete") and is_ours else None


def read_request(exchange: Exchange) -> RequestReading:
    return read_complete_request(exchange.fields)


def read_complete_request(fields: dict[str, object]) -> RequestReading:
    """A request body; Claude on Bedrock takes the same."""
    return RequestReading(
        model=as_text(fields.get("model")),
        streamed=fields.get("stream") is True,
        messages=prompt_message(fields.get("prompt"), "/prompt"),
        max_output=as_count(fields.get("max_tokens_to_sample")),
        stop=texts(fields.get("stop_sequences")),
        parameters=other_fields(fields, _KNOWN),
    )


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    return read_text_answer(exchange, "a completion")


ANTHROPIC_COMPLETE = Protocol(
    name="anthropic-complete",
    title="Anthropic text completions",
    spec="https://docs.claude.com/en/api/complete, read 2026-11-20",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    finish={"stop_sequence": "stop_sequence", "max_tokens": "length"},
    streams=("sse",),
    answers=AnswerRules(own_stops=True),
    operation="text_completion",
)
