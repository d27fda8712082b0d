"""IBM watsonx text generation, streamed or not."""

from ..exchange import Exchange
from ..json_value import as_count, as_object, as_text
from ..values import Kind, RequestReading, ResponseReading
from .protocol import Protocol
from .shared.answers import objects, posts, prompt_message, stream_error
from .shared.parts import other_fields, texts, unread
from .shared.text_pieces import FINISH, read_text

_KNOWN = frozenset({"input", "model_id"})


def detect(exchange: Exchange) -> Kind | None:
    return "generation" if posts(exchange, "/generation/text", "/generation/text_stream") else None


def read_request(exchange: Exchange) -> RequestReading:
    fields = exchange.fields
    parameters = as_object(fields.get("parameters"))
    return RequestReading(
        model=as_text(fields.get("model_id")),
        streamed=exchange.path.rstrip("/").endswith("_stream"),
        messages=prompt_message(fields.get("input"), "/input"),
        max_output=as_count(parameters.get("max_new_tokens")),
        stop=texts(parameters.get("stop_sequences")),
        parameters=other_fields(fields, _KNOWN),
    )


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    if exchange.framing == "sse":
        problems: list[str] = []
        bodies = [body for _, body in objects(exchange.events, problems)]
        return read_text(bodies, streamed=True, error=stream_error(exchange.events), problems=problems)
    if not exchange.answer_fields:
        return unread(exchange, "a watsonx generation")
    return read_text([exchange.answer_fields], streamed=False)


WATSONX = Protocol(
    name="watsonx-text",
    title="IBM watsonx text generation",
    spec="https://cloud.ibm.com/apidocs/watsonx-ai#text-generation, read 2026-11-20",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    finish=dict(FINISH),
    streams=("sse",),
)
