"""IBM watsonx text generation, streamed or not."""

from ..exchange import Exchange
from ..json_value import as_count, as_object, as_text
from ..values import Kind, RequestReading, ResponseReading
from .protocol import Protocol
from .shared.answers import posts, prompt_message
from .shared.parts import other_fields, texts
from .shared.text_pieces import FINISH, read_text_answer

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
    return read_text_answer(exchange, "a watsonx generation")


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
