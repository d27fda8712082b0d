"""Aleph Alpha completions."""

from ..exchange import Exchange
from ..json_value import as_array, as_count, as_object, as_text
from ..values import Kind, Message, Part, RequestReading, ResponseReading
from .protocol import Protocol
from .shared.answers import posts, prompt_message
from .shared.parts import media_part, other_fields, text_part, texts
from .shared.text_pieces import FINISH, read_text_answer

_KNOWN = frozenset({"prompt", "model", "maximum_tokens", "stop_sequences"})


def detect(exchange: Exchange) -> Kind | None:
    is_ours = "maximum_tokens" in exchange.fields or "completions" in exchange.answer_fields
    return "generation" if posts(exchange, "/complete") and is_ours else None


def read_request(exchange: Exchange) -> RequestReading:
    fields = exchange.fields
    prompt = fields.get("prompt")
    items = [as_object(item) for item in as_array(prompt)]
    parts = tuple(_part(item, f"/prompt/{i}") for i, item in enumerate(items))
    return RequestReading(
        model=as_text(fields.get("model")),
        streamed=fields.get("stream") is True,
        messages=prompt_message(prompt, "/prompt") or ((Message("user", parts, "/prompt", prompt),) if parts else ()),
        max_output=as_count(fields.get("maximum_tokens")),
        stop=texts(fields.get("stop_sequences")),
        parameters=other_fields(fields, _KNOWN),
    )


def _part(item: dict[str, object], pointer: str) -> Part:
    data = item.get("data")
    if item.get("type") == "text" and isinstance(data, str):
        return text_part(data, pointer, item)
    return media_part(as_text(item.get("type")) or "part", pointer, item)


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    return read_text_answer(exchange, "a completion")


ALEPHALPHA_COMPLETE = Protocol(
    name="alephalpha-complete",
    title="Aleph Alpha completions",
    spec="https://docs.aleph-alpha.com/api/complete, read 2026-11-20",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    finish=dict(FINISH),
    operation="text_completion",
)
